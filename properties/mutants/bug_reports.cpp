#include "mutants/bug_reports.hpp"

#include <algorithm>

namespace attest::mutants {
namespace {

constexpr std::string_view kDropout =
    "attest has no dropout: a problem is a function of its inputs";

std::vector<BugReport> rows_without_keys() {
  return {
      {"B01", "softmax of a row of -inf is 0 / 0", {"fully_masked_row_gives_nan"}},
      {"B03",
       "a tile of -inf before the first kept key: exp(-inf - -inf) in the rescale",
       {"dead_first_tile_gives_nan"}},
      {"B04",
       "the same, and again where splits are joined",
       {"dead_first_tile_gives_nan", "both_empty_nan"}},
      {"B06", "the path of the first tile lacks a guard", {"leading_empty_rows_are_nan"}},
      {"B07",
       "a diagonal as a flag and as a mask: whole tiles are cut, rows keep nothing",
       {"causal_and_bits_cut_tiles"}},
      {"B09",
       "one finite number for every exclusion: the mean of V",
       {"fully_masked_row_gives_mean", "masks_with_minus_1e9"}},
      {"B10", "0 / 0 in the last division", {"fully_masked_row_gives_nan"}},
      {"B12",
       "a vector path subtracts a maximum of -inf",
       {"wide_empty_rows_are_nan", "dead_first_tile_gives_nan"}},
      {"B13", "the maximum drops NaN, so that a NaN row looks masked", {"nan_scores_are_dropped"}},
      {"B15",
       "rows emptied by padding are rewritten to see everything",
       {"empty_row_attends_everywhere"}},
      {"B16",
       "keys are cut to the last window before early rows are computed",
       {"window_of_the_last_query"}},
      {"B18", "an export lowers a safe softmax to a plain one", {"fully_masked_row_gives_nan"}},
  };
}

std::vector<BugReport> backward_passes() {
  return {
      {"B19",
       "0 times NaN of an empty row reaches shared gradients",
       {"empty_row_inf_minus_inf", "empty_rows_give_nan_dq"}},
      {"B21", "bottom right leaves leading rows empty, and dq is NaN", {"empty_rows_give_nan_dq"}},
      {"B22", "rows behind the last query of a tile are weighed", {"queries_behind_the_last"}},
      {"B24",
       "no early end for a member without queries",
       {"dk_of_member_without_queries_not_written"}},
      {"B25",
       "members of length 0 are not written (a hang stands outside of a law)",
       {"dk_of_member_without_queries_not_written", "member_without_keys_not_written"}},
      {"B27", "an empty row has lse 0, and exp(score) overflows", {"empty_rows_have_lse_zero"}},
      {"B28",
       "padding of the last key tile has score 0: exp(0 - lse) overflows, times 0",
       {"keys_behind_the_last"}},
      {"B30",
       "the end of the last block is not masked in the backward pass",
       {"takes_one_key_more", "keys_behind_the_last"}},
      {"B31", "a gradient of the lse is dropped in silence", {"delta_without_dlse"}},
      {"B33", "a chunk of padding alone is added", {"reads_padded_dout"}},
      {"B34",
       "the row sum of dout out is not ready: dq and dk are wrong, dv is right",
       {"no_delta", "delta_of_the_next_row"}},
      {"B36",
       "terms of the sink's gradient are rounded before a cancelling sum",
       {"dsink_terms_in_bf16"}},
      {"B37",
       "offsets of members are computed with another tile than the buffer's",
       {"delta_at_a_wrong_offset"}},
      {"B39", "the type of the bias is not that of the kernel", {"bias_in_the_type_of_q"}},
  };
}

std::vector<BugReport> empty_summaries() {
  return {
      {"B40",
       "the lse of an empty row is +inf",
       {"empty_lse_is_plus_infinity", "weighs_plus_infinity"}},
      {"B42", "a reduction of empty splits stores +inf", {"two_empty_parts_give_plus_infinity"}},
      {"B43",
       "the maximum starts at a finite number",
       {"finite_start_of_row_max", "weighs_finite_emptiness"}},
      {"B45", "the lse of an empty row is 0", {"empty_lse_is_zero"}},
      {"B46", "the output of an empty row is not written", {"empty_output_not_written"}},
      {"B48", "empty splits store their lse over the only valid one", {"lse_of_the_last_split"}},
      {"B49", "exp(-inf - -inf) where both sides are empty", {"both_empty_nan"}},
      {"B51", "the maximum of a list of -inf is subtracted", {"both_empty_nan"}},
      {"B52", "the lse overflows where splits are joined", {"joins_by_exp_of_lse"}},
      {"B178",
       "an early end stores the output and not the lse",
       {"lse_of_empty_tile_not_written", "empty_slot_not_written"}},
      {"B54",
       "one call, two bases of the lse",
       {"lse_in_base_two", "natural_for_base_two", "folded_lse_in_base_two"}},
      {"B55", "the unit of the lse is converted twice, or never", {"lse_times_ln_two"}},
      {"B57", "K is centred and the lse does not get the mean back", {"lse_of_centred_keys"}},
      {"B58", "one of two variants lacks that correction", {"lse_of_centred_keys"}},
      {"B60", "the lse is in base two where natural is meant", {"lse_in_base_two"}},
      {"B61", "the lse has rows up to an alignment, filled with +inf", {"lse_of_absent_rows"}},
  };
}

std::vector<BugReport> merges() {
  return {
      {"B63", "parts are rounded to bf16 before every merge", {"rounds_the_running_part"}},
      {"B64", "exp(lse) is formed, and overflows", {"joins_by_exp_of_lse"}},
      {"B66",
       "the maximum of the tile replaces the running one",
       {"uses_only_new_tile_maximum", "merges_to_the_smaller_maximum"}},
      {"B67",
       "a fixed offset in place of the maximum",
       {"fixed_offset_of_five", "no_max_subtraction"}},
      {"B69",
       "a table of splits is only as long as the head dimension",
       {"as_many_splits_as_columns"}},
      {"B70",
       "the span of a window without a right limit is taken for that of a causal one",
       {"window_span_of_a_causal_tile"}},
      {"B72", "a reduction that is not synchronised", {"order_depends_on_call"}},
      {"B73",
       "a number of splits that the paged path does not support",
       {"pages_restart_at_a_split"}},
      {"B75", "lengths of parts are rounded down", {"split_length_rounded_down"}},
      {"B76", "joining assumes one query length", {"parts_of_the_next_row"}},
  };
}

std::vector<BugReport> finite_exclusions() {
  return {
      {"B78", "an excluded key has -10000 and decides the maximum", {"masks_with_minus_1e4"}},
      {"B79",
       "a dead first tile stores 0 as the running maximum",
       {"dead_first_tile_stores_zero", "maximum_starts_at_zero"}},
      {"B81", "exp ends at a floor above 0", {"exp_has_a_floor"}},
      {"B82",
       "two masks with one finite number tie",
       {"masks_with_minus_1e9", "empty_row_attends_everywhere"}},
      {"B84", "scores are multiplied by the mask", {"mask_multiplies_scores"}},
      {"B85", "a mask of 0 and 1 times -inf", {"mask_times_minus_infinity"}},
      {"B87", "-10 in place of exclusion", {"masks_with_minus_ten"}},
      {"B88",
       "NaN + -inf, and 0 times NaN",
       {"excluded_nan_scores_are_added_to", "excluded_keys_weigh_zero"}},
      {"B90", "the end of K is loaded, though only V is cleared", {"reads_keys_behind_the_last"}},
      {"B91", "pages are read beyond the length", {"reads_whole_pages"}},
      {"B93", "0 by multiplication instead of by assignment", {"empty_row_times_zero"}},
      {"B94", "lengths have no effect", {"ignores_key_lengths"}},
      {"B96", "the padding of a mask says keep", {"padding_keys_score_zero"}},
      {"B97", "the causal flag adds a tile of keys", {"causal_reads_a_whole_tile"}},
      {"B99",
       "-inf is added to the NaN score of memory that nobody wrote",
       {"excluded_nan_scores_are_added_to", "bias_of_excluded_keys"}},
  };
}

std::vector<BugReport> remainders_and_diagonals() {
  return {
      {"B100", "-inf before the softcap becomes -cap", {"caps_the_mask_constant"}},
      {"B102", "ragged tiles are not handled", {"skips_last_partial_tile"}},
      {"B103", "the loop over keys has the length of the queries", {"as_many_keys_as_queries"}},
      {"B105",
       "a sequence shorter than a tile is read beyond its end",
       {"reads_keys_behind_the_last", "bias_of_absent_keys"}},
      {"B106", "the lse of a lone last row", {"lse_of_a_lone_row"}},
      {"B108",
       "the decode kernel is wrong for grouped heads (cause not stated)",
       {"decode_maps_heads_modulo"}},
      {"B109", "a tile across two sources reads one of them", {"page_of_the_tile"}},
      {"B111", "top left for any lengths", {"top_left_instead_of_bottom_right"}},
      {"B112", "top left where queries outnumber keys", {"top_left_for_more_queries"}},
      {"B114",
       "the diagonal is that of indices, not of positions",
       {"top_left_instead_of_bottom_right", "bottom_right_of_padded_length"}},
      {"B115", "the length of the cache is not added", {"ignores_the_offset"}},
      {"B117", "some option takes a path without the mask", {"causal_ignored_under_softcap"}},
      {"B118", "the causal flag has no effect", {"causal_ignored"}},
      {"B120", "keys that are always kept are not bounded", {"first_tile_always_seen"}},
      {"B121", "a cache is taken for a single token", {"causal_ignored_in_a_cache"}},
      {"B123", "a strict diagonal", {"causal_one_too_few"}},
  };
}

std::vector<BugReport> windows_and_terms() {
  return {
      {"B124",
       "W keys or W + 1 keys",
       {"window_one_too_wide", "window_left_exclusive", "window_right_exclusive"}},
      {"B126", "-1 for no limit is read as a limit", {"no_limit_is_minus_one"}},
      {"B127", "the same for both sides", {"no_limit_is_minus_one"}},
      {"B129", "division of a negative bound", {"negative_bound_is_zero"}},
      {"B130",
       "the end of a cache assumes one sequence",
       {"pages_of_the_first_member", "window_corner_of_the_longest"}},
      {"B132",
       "the left edge of a window in a decode step (the report's own cause is doubtful)",
       {"window_left_exclusive"}},
      {"B133", "rows before the first key, with a window", {"window_from_top_left"}},
      {"B135", "tanh as a ratio of exponentials", {"softcap_overflows"}},
      {"B136",
       "each split decides alone whether it owns the sink",
       {"sink_in_every_split", "no_sink_without_keys"}},
      {"B138", "one query and many treat the sink in two ways", {"sink_of_decode_only"}},
      {"B139",
       "the sink is dropped, or is that of another head",
       {"sink_ignored", "sink_of_the_next_head"}},
      {"B141", "a sink as a bias of the first key", {"sink_as_bias_of_the_first_key"}},
      {"B142",
       "a sink is added relative to the maximum of the keys",
       {"sink_under_the_maximum_of_keys"}},
      {"B144", "ALiBi is anchored at two corners", {"alibi_from_top_left"}},
      {"B145", "the sign of the distance", {"alibi_favours_the_far"}},
      {"B147",
       "the derivative of the softcap after masking",
       {"softcap_slope_of_mask_constant", "softcap_slope_after_bias"}},
  };
}

std::vector<BugReport> heads_and_precision() {
  return {
      {"B148", "heads are tiled instead of repeated", {"head_map_modulo"}},
      {"B150", "few key/value heads give garbage (cause not known)", {"groups_of_two"}},
      {"B151", "the lse is that of another head map", {"head_map_modulo"}},
      {"B153",
       "weights below the range of e4m3 vanish from the numerator alone",
       {"e4m3_without_offset", "fp8_saturates_under_lag"}},
      {"B154",
       "the product with the maximum is rounded and the one with the score is not",
       {"declares_less_exp_form"}},
      {"B156",
       "the denominator adds unrounded weights, the numerator rounded ones",
       {"sums_unrounded_weights", "sums_rounded_weights"}},
      {"B157",
       "roundings of weights and sums go one way",
       {"truncates_weights", "numerator_in_bf16"}},
      {"B159", "small weights are flushed to 0", {"flushes_small_weights"}},
      {"B160", "a polynomial exp2 of low degree", {"exp2_of_degree_two"}},
      {"B162",
       "a sum of errors hides single ones",
       {},
       "a question about a tolerance, not a defect of a kernel; bounds here are of elements"},
      {"B163",
       "the statistics of a row in low precision, or under a fixed gauge",
       {"row_sum_in_bf16", "maximum_of_the_first_tile"}},
  };
}

std::vector<BugReport> order_index_and_dropout() {
  return {
      {"B165", "work is cut by what else is in the batch", {"order_of_the_place"}},
      {"B166", "the height of a tile is chosen from the batch", {"order_of_the_place"}},
      {"B168", "dq is added by atomics, in any order", {"dq_differs_now_and_then"}},
      {"B169", "row times stride in 32 bits", {"offsets_of_32_bits"}},
      {"B171", "index times stride in 32 bits", {"offsets_of_32_bits"}},
      {"B172", "a column index of 16 bits in the mask", {"column_index_of_five_bits"}},
      {"B174",
       "strides and indices of 16 and 32 bits",
       {"column_index_of_five_bits", "offsets_of_32_bits"}},
      {"B175", "one dropout mask for every call", {}, kDropout},
      {"B177", "the backward pass has another dropout mask", {}, kDropout},
  };
}

std::vector<BugReport> defects_of_tests() {
  return {
      {"O1",
       "a NaN reference passes everything",
       {},
       "of a check: the judge compares classes first"},
      {"O2",
       "the verifier shares the kernel's mask",
       {},
       "of a check: the oracles have their own visibility, and mask.tables is by hand"},
      {"O3",
       "random inputs are too small to overflow",
       {},
       "of inputs: families offset, spread and very_negative, and assume.large_scores"},
      {"O4",
       "lengths never reach a second block",
       {},
       "of inputs: lengths are drawn around tiles and splits"},
      {"O5", "a deleted term survives the suite", {"sink_ignored"}},
      {"O6", "the type with the defect is not in the sweep", {}, "of inputs: all types are drawn"},
      {"O7",
       "the reference itself is wrong",
       {},
       "of a check: two oracles of two kinds must agree"},
      {"O8", "windows are tested with the value for none", {"no_limit_is_minus_one"}},
      {"O9",
       "both sides of a comparison use the broken call",
       {},
       "of a check: kernels and oracle share no code"},
      {"O10", "padding near 0 hides a leak", {"padding_keys_score_zero"}},
      {"O11", "a test calls another function than it names", {}, "of a check: laws are a table"},
      {"O12",
       "conformance to a specification that is wrong",
       {},
       "of a check: every convention is a part of the problem"},
      {"O13",
       "the fix of one empty row breaks another",
       {"dead_first_tile_gives_nan", "dead_first_tile_stores_zero", "finite_start_of_row_max"}},
  };
}

std::vector<BugReport> make_all() {
  std::vector<BugReport> all;
  for (const auto& chapter : {rows_without_keys, backward_passes, empty_summaries, merges,
                              finite_exclusions, remainders_and_diagonals, windows_and_terms,
                              heads_and_precision, order_index_and_dropout, defects_of_tests})
    for (BugReport& report : chapter()) all.push_back(std::move(report));
  return all;
}

}  // namespace

std::span<const BugReport> bug_reports() {
  static const std::vector<BugReport> reports = make_all();
  return reports;
}

std::vector<std::string> reports_of(std::string_view name) {
  name.remove_prefix(std::min(name.size(), name.find(':') + 1));
  std::vector<std::string> ids;
  for (const BugReport& report : bug_reports())
    if (std::find(report.mutants.begin(), report.mutants.end(), name) != report.mutants.end())
      ids.emplace_back(report.id);
  return ids;
}

}  // namespace attest::mutants
