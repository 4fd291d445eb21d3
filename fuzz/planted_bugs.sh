#!/bin/sh
# Which of the bugs that are planted in mutants the fuzz targets find, from an empty corpus.
#
#   [NICE=10] fuzz/planted_bugs.sh [BUILD] [SECONDS]      default: build/fuzz 60, after ./run fuzz
#
# Runs a target for every line below with ATTEST_FUZZ_KERNEL=MUTANT, two at a time, until it finds
# something or SECONDS are over, and prints a table in Markdown. A finding counts only if `attest
# replay` of its saved case finds it, too, with build/release/attest or what ATTEST names.
# Exit code 1: some were not found; the last line names them.
set -eu
CDPATH='' cd "$(dirname "$0")/.."
build=${1-build/fuzz}
seconds=${2-60}
attest=${ATTEST-build/release/attest}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ -x "$attest" ] || { echo "planted_bugs: no program $attest (./run build)" >&2; exit 2; }
for target in fuzz_laws fuzz_merge fuzz_backward; do
  [ -x "$build/fuzz/$target" ] || { echo "planted_bugs: no $build/fuzz/$target (./run fuzz)" >&2; exit 2; }
done

bugs='
mutant:causal_one_too_many fuzz_laws mask
mutant:mask_of_first_query_of_tile fuzz_laws mask
mutant:masks_with_minus_1e9 fuzz_laws mask
mutant:excluded_keys_weigh_zero fuzz_laws mask
mutant:window_left_exclusive fuzz_laws mask
mutant:dead_first_tile_stores_zero fuzz_laws tile
mutant:skips_last_partial_tile fuzz_laws tile
mutant:forgets_numerator_rescale fuzz_merge tile
mutant:second_query_tile fuzz_laws shape
mutant:loses_a_column fuzz_laws shape
mutant:forgets_rescale_in_merge fuzz_merge merge
mutant:keeps_the_larger_side fuzz_merge merge
mutant:both_empty_nan fuzz_merge merge
mutant:weighs_finite_emptiness fuzz_merge merge
mutant:drops_light_pairs fuzz_merge merge
mutant:leaves_from_begin_of_split fuzz_merge order
mutant:order_free_in_float fuzz_merge order
mutant:fully_masked_row_gives_nan fuzz_laws empty row
mutant:finite_start_of_row_max fuzz_laws empty row
mutant:empty_slot_not_written fuzz_laws output
mutant:writes_behind_the_row fuzz_laws output
mutant:lse_is_row_max fuzz_merge output
mutant:lse_in_base_two fuzz_merge output
mutant:pages_in_order fuzz_laws storage
mutant:padding_on_the_right fuzz_laws storage
mutant:declares_less_exp_absolute_error fuzz_laws declared
mutant:truncates_weights fuzz_laws declared
mutant:no_delta fuzz_backward gradient
mutant:group_sum_forgets_last_head fuzz_backward gradient
mutant:empty_row_inf_minus_inf fuzz_backward gradient
mutant:dbias_of_the_last_row fuzz_backward gradient
'

# one NUMBER MUTANT TARGET KIND...: leaves a row of the table in $work/NUMBER.row, and the name in
# $work/NUMBER.missed where it was not found.
one() {
  number=$1 mutant=$2 target=$3
  shift 3
  log=$work/$number.log
  begin=$(date +%s.%N)
  # A trace with names takes longer than most of the searches.
  ATTEST_FUZZ_KERNEL=$mutant ATTEST_FUZZ_FOUND=$work/$number.found ASAN_OPTIONS=symbolize=0 \
    nice -n "${NICE-10}" "$build/fuzz/$target" -max_total_time="$seconds" -seed="$number" \
    -print_final_stats=1 -artifact_prefix="$work/$number." >"$log" 2>&1 || true
  end=$(date +%s.%N)
  times >"$work/$number.times" # the second line: user and system, of what ran here
  cpu=$(sed 's/[ms]/ /g' "$work/$number.times" | awk 'NR == 2 { printf "%.1f", 60 * ($1 + $3) + $2 + $4 }')
  elapsed=$(echo "$begin $end" | awk '{ printf "%.1f", $2 - $1 }')
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  law=$(sed -n 's/^FOUND \([^:]*\):.*/\1/p' "$log" | head -n 1)
  # 1: a law is broken, 4: the kernel crashed. Anything else, such as 2 for a wrong use, repeats nothing.
  code=0
  [ -z "$law" ] || "$attest" replay "$work/$number.found" >/dev/null 2>&1 || code=$?
  case $code in
    1 | 4) result="$elapsed s ($cpu s of processor), $executions executions" ;;
    *)
      echo "$mutant" >"$work/$number.missed"
      result="NOT FOUND ($cpu s of processor, $executions executions)"
      [ -z "$law" ] || result="NOT REPEATED by attest replay, which ended with $code"
      ;;
  esac
  echo "| \`$mutant\` | $* | \`$target\` | $result | ${law:+\`$law\`} |" >"$work/$number.row"
}

number=100
running=0
echo "$bugs" | {
  while read -r mutant target kind; do
    [ -n "$mutant" ] || continue
    number=$((number + 1))
    one "$number" "$mutant" "$target" "$kind" &
    running=$((running + 1))
    if [ "$running" -eq 2 ]; then wait; running=0; fi
  done
  wait
}
echo '| planted bug | kind | target | found | law |'
echo '|---|---|---|---|---|'
cat "$work"/*.row
rows=$(find "$work" -name '*.row' | wc -l)
missed=$(find "$work" -name '*.missed' | sort | xargs -r cat | tr '\n' ' ')
processor=$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1)
echo
echo "$((rows - $(echo "$missed" | wc -w))) of $rows were found within $seconds s each, two at a time on" \
  "$(nproc) cores of ${processor:-an unknown processor}."
[ -z "$missed" ] || { echo "Not found: $missed"; exit 1; }
