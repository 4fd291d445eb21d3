// The catalogue of laws: statements that hold for every correct kernel on every case.
//
// A law is a sentence, a formula and a function. It includes no test framework: RapidCheck, the
// fuzzer and the attest command run the same functions. A law may change the case first (hide a
// row, permute keys); it is a function of kernel and case alone, so a replay repeats it.
#pragma once

#include <span>
#include <string_view>

#include "attest/kernel.hpp"
#include "attest/verdict.hpp"
#include "properties/case.hpp"

namespace attest::properties {

using LawFunction = Verdict (*)(const Kernel&, const Case&);

struct Law {
  std::string_view name;  ///< family.law
  std::string_view sentence;
  std::string_view formula;
  LawFunction check;
  bool depends_on_case = true;  ///< false: one run says it all
};

/// In the order in which they are reported.
std::span<const Law> laws();

/// Null when there is none of this name.
const Law* find_law(std::string_view name);

// merge: the monoid of row summaries, on kernels that show partial results. Scores are given
// numbers: row `query` of the case with score(j) = k(j, 0), so that only merging is judged.
Verdict merge_identity(const Kernel& kernel, const Case& on);
Verdict merge_two_empties(const Kernel& kernel, const Case& on);
Verdict merge_commutes(const Kernel& kernel, const Case& on);
Verdict merge_associates(const Kernel& kernel, const Case& on);
Verdict merge_any_tree(const Kernel& kernel, const Case& on);
Verdict merge_rescale_range(const Kernel& kernel, const Case& on);
Verdict merge_row_sum_range(const Kernel& kernel, const Case& on);
Verdict merge_pairs_agree(const Kernel& kernel, const Case& on);
Verdict merge_pairs_tree(const Kernel& kernel, const Case& on);
Verdict merge_empty_part(const Kernel& kernel, const Case& on);
Verdict merge_foreign_empty(const Kernel& kernel, const Case& on);
Verdict merge_split_outputs(const Kernel& kernel, const Case& on);
Verdict merge_narrow_parts(const Kernel& kernel, const Case& on);
Verdict merge_summary_bound(const Kernel& kernel, const Case& on);

// tiling: how the work is cut does not matter.
Verdict tiling_tile_size(const Kernel& kernel, const Case& on);
Verdict tiling_kv_splits(const Kernel& kernel, const Case& on);
Verdict tiling_merge_order(const Kernel& kernel, const Case& on);

// order: how the work is cut changes no bit, of kernels that declare it.
Verdict order_contiguous_splits(const Kernel& kernel, const Case& on);
Verdict order_any_split(const Kernel& kernel, const Case& on);
Verdict order_key_permutation(const Kernel& kernel, const Case& on);

// mask: an excluded key does not exist.
Verdict mask_excluded_keys(const Kernel& kernel, const Case& on);
Verdict mask_deleted_keys(const Kernel& kernel, const Case& on);
Verdict mask_tables(const Kernel& kernel, const Case& on);
Verdict mask_visible_set(const Kernel& kernel, const Case& on);
Verdict mask_causal_prefix(const Kernel& kernel, const Case& on);
Verdict mask_window_edges(const Kernel& kernel, const Case& on);
Verdict mask_alignment(const Kernel& kernel, const Case& on);
Verdict mask_softcap_excluded(const Kernel& kernel, const Case& on);

// terms: what is added to scores, and beside them.
Verdict terms_alibi_forms(const Kernel& kernel, const Case& on);
Verdict terms_sink_is_null_logit(const Kernel& kernel, const Case& on);

// heads, storage, batch: which rows belong together, and where they lie.
Verdict heads_map(const Kernel& kernel, const Case& on);
Verdict storage_layouts(const Kernel& kernel, const Case& on);
Verdict storage_paged(const Kernel& kernel, const Case& on);
Verdict storage_left_padding(const Kernel& kernel, const Case& on);
Verdict storage_unused_slots(const Kernel& kernel, const Case& on);
Verdict storage_ragged_members(const Kernel& kernel, const Case& on);
Verdict batch_row_position(const Kernel& kernel, const Case& on);

// empty: a row that sees no key.
Verdict empty_forward(const Kernel& kernel, const Case& on);
Verdict empty_neighbours(const Kernel& kernel, const Case& on);
Verdict empty_reject(const Kernel& kernel, const Case& on);

// symmetry: changes of the input that change the output in a known way.
Verdict symmetry_score_shift(const Kernel& kernel, const Case& on);
Verdict symmetry_key_permutation(const Kernel& kernel, const Case& on);
Verdict symmetry_row_independence(const Kernel& kernel, const Case& on);
Verdict symmetry_head_independence(const Kernel& kernel, const Case& on);
Verdict symmetry_constant_values(const Kernel& kernel, const Case& on);
Verdict symmetry_linear_values(const Kernel& kernel, const Case& on);
Verdict symmetry_convex_hull(const Kernel& kernel, const Case& on);
Verdict symmetry_power_of_two_values(const Kernel& kernel, const Case& on);
Verdict symmetry_duplicate_keys(const Kernel& kernel, const Case& on);

// bound: the answer is right.
Verdict bound_out(const Kernel& kernel, const Case& on);
Verdict bound_lse(const Kernel& kernel, const Case& on);

// gradient: the backward pass. A case without one is given one; docs/numerics.md has the formulas.
Verdict gradient_dq(const Kernel& kernel, const Case& on);
Verdict gradient_dk(const Kernel& kernel, const Case& on);
Verdict gradient_dv(const Kernel& kernel, const Case& on);
Verdict gradient_dbias(const Kernel& kernel, const Case& on);
Verdict gradient_dsink(const Kernel& kernel, const Case& on);
Verdict gradient_masked_rows(const Kernel& kernel, const Case& on);
Verdict gradient_score_sum(const Kernel& kernel, const Case& on);
Verdict gradient_value_sum(const Kernel& kernel, const Case& on);
Verdict gradient_constant_values(const Kernel& kernel, const Case& on);
Verdict gradient_adjoint(const Kernel& kernel, const Case& on);
Verdict gradient_linear_in_dout(const Kernel& kernel, const Case& on);
Verdict gradient_group_sum(const Kernel& kernel, const Case& on);
Verdict gradient_shared_pages(const Kernel& kernel, const Case& on);
Verdict gradient_tiling(const Kernel& kernel, const Case& on);
Verdict gradient_storage(const Kernel& kernel, const Case& on);
Verdict gradient_written(const Kernel& kernel, const Case& on);
Verdict gradient_repeat_bits(const Kernel& kernel, const Case& on);

// assume: what the bounds take for granted, and what a kernel says of itself (section 2 of
// docs/numerics.md). These laws make a probe of their own out of the shape of the case.
Verdict assume_exp_of_zero(const Kernel& kernel, const Case& on);
Verdict assume_exp_of_minus_infinity(const Kernel& kernel, const Case& on);
Verdict assume_nearest_even(const Kernel& kernel, const Case& on);
Verdict assume_gradual_underflow(const Kernel& kernel, const Case& on);
Verdict assume_large_scores(const Kernel& kernel, const Case& on);
Verdict assume_special_values(const Kernel& kernel, const Case& on);
Verdict assume_exp_error(const Kernel& kernel, const Case& on);
Verdict assume_log_error(const Kernel& kernel, const Case& on);

// contract: what a call may touch.
Verdict contract_inputs_untouched(const Kernel& kernel, const Case& on);
Verdict contract_outputs_written(const Kernel& kernel, const Case& on);
Verdict contract_strides(const Kernel& kernel, const Case& on);
Verdict contract_wide_strides(const Kernel& kernel, const Case& on);
Verdict contract_repeat_bits(const Kernel& kernel, const Case& on);

}  // namespace attest::properties
