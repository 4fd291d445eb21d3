#!/bin/sh
# What a fuzz target finds is saved as a case, whatever ends the input; ends with 0 if it is.
#
#   fuzz/findings_test.sh TARGETS ATTEST WORK
#
# TARGETS has the programs, built to replay files. A law that breaks now and then, a report of a
# sanitizer, and an input that is shown before it runs, as one that hangs must be.
set -eu
targets=$1 attest=$2 work=$3
rm -rf "$work"
mkdir -p "$work"
export ASAN_OPTIONS=symbolize=0 UBSAN_OPTIONS=symbolize=0

fail() {
  echo "findings_test: $*" >&2
  cat "$work/log" >&2
  exit 1
}

# run_on LINE TARGET: the exit code is in $code, what was printed in $work/log.
run_on() {
  printf '%s' "$1" >"$work/input"
  rm -rf "$work/found"
  code=0
  ATTEST_FUZZ_FOUND=$work/found "$targets/$2" "$work/input" >"$work/log" 2>&1 || code=$?
}

# said TEXT: what was printed has it.
said() {
  grep -qF -e "$1" "$work/log" || fail "nothing says '$1'"
}

saved_one() {
  [ "$(find "$work/found" -name case.json | wc -l)" -eq 1 ] || fail "no case was saved, or several"
}

# replays CODE: what was saved gives this exit code again.
replays() {
  code=0
  "$attest" replay "$work/found" >"$work/log" 2>&1 || code=$?
  [ "$code" -eq "$1" ] || fail "attest replay ended with $code, not $1"
}

export ATTEST_FUZZ_KERNEL=mutant:dq_differs_now_and_then
run_on '1x1:1x2:1 f32 lse=ln law=gradient.dq' fuzz_backward
[ "$code" -ne 0 ] || fail 'a wrong kernel passed'
said 'FOUND gradient.dq: flaky: '
said 'a second run of the same case passed'
saved_one
replays 1

unset ATTEST_FUZZ_KERNEL
# stopped TARGET REPORT: where there are three keys a sanitizer ends the program with this report.
stopped() {
  run_on '1x1:1x2:1 f32 law=bound.out' "$1"
  [ "$code" -eq 0 ] || fail 'a case that is right was found'
  run_on '1x1:1x3:1 f32 law=bound.out' "$1"
  [ "$code" -ne 0 ] || fail "$2 passed"
  said 'FOUND bound.out: crash: a sanitizer stopped it'
  said "$2"
  saved_one
  replays 0 # by the kernel of this name that is right
}
stopped fuzz_planted_undefined 'runtime error: signed integer overflow'
stopped fuzz_planted_overrun 'AddressSanitizer: heap-buffer-overflow'

export ATTEST_FUZZ_SHOW=1
run_on 'builtin:scalar_tree 1x1:1x3:1 f32 law=bound.out' fuzz_merge
[ "$code" -eq 0 ] || fail 'a case that is right was found'
said "attest replay builtin:scalar_tree '1x1:1x3:1 f32 law=bound.out'"
saved_one
replays 0
