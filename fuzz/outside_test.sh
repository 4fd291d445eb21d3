#!/bin/sh
# Whether a project that has attest inside it can add a fuzz target around its own kernel:
# configures fuzz/outside, compiles its sources, and looks at the flags of what libFuzzer would be
# given. Its rooms are those of this build, which other tests compile.
#
#   fuzz/outside_test.sh CXX WORK
set -eu
cxx=$1 work=$2
CDPATH='' cd "$(dirname "$0")/.."
attest=$PWD

fail() {
  echo "outside_test: $*" >&2
  exit 1
}

# configure NAME FLAG...
configure() {
  name=$1
  shift
  rm -rf "${work:?}/$name"
  cmake -S fuzz/outside -B "$work/$name" -G Ninja --log-level=WARNING -DCMAKE_CXX_COMPILER="$cxx" \
    -DATTEST_SOURCE="$attest" "$@"
}

# own_commands NAME: how the sources of its target are compiled, and it is linked.
own_commands() {
  ninja -C "$work/$1" -t commands fuzz_mine | grep -E 'fuzz_mine\.dir/.* -c |-o fuzz_mine'
}

# every_has NAME COUNT FLAG: that many of the commands have it.
every_has() {
  found=$(own_commands "$1" | grep -cFe "$3" || true)
  [ "$found" -eq "$2" ] || fail "$found commands of $1 have $3, not $2"
}

configure plain -DCMAKE_BUILD_TYPE=Debug
# fuzz_merge.cpp, the linked kernel, the kernel, and the main that replays files; then the link.
every_has plain 4 ' -c '
every_has plain 1 '-o fuzz_mine'
every_has plain 1 'replay_main.cpp.o -c '
for source in kernel.cpp fuzz_mine_linked_kernel.cpp fuzz_merge.cpp replay_main.cpp; do
  command=$(own_commands plain | grep -F "/$source.o " | head -n 1)
  [ -n "$command" ] || fail "$source is not compiled"
  # Only looked at: objects would take ten times as long.
  (cd "$work/plain" && sh -c "$command -fsyntax-only") || fail "$source does not compile"
done
# The program with its laws is attest with this kernel in it.
for source in main.cpp laws_attest_linked.cpp kernel.cpp; do
  ninja -C "$work/plain" -t commands laws_attest | grep -qF "/$source.o -c " ||
    fail "$source is not in laws_attest"
done

configure engine -DATTEST_LIBFUZZER=ON -DATTEST_SANITIZE=address,undefined
every_has engine 3 ' -c '
every_has engine 4 '-fsanitize=address,undefined'
every_has engine 3 '-fno-sanitize-recover=all'
every_has engine 3 '-fsanitize=fuzzer-no-link'
every_has engine 1 '-fsanitize=fuzzer '
every_has engine 0 'replay_main.cpp'
