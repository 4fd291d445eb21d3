// What the laws of partial results work on: one row with given scores, cut into leaves that are
// absorbed by the kernel's own operations.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "properties/derive.hpp"
#include "properties/judge.hpp"

namespace attest::properties {

/// The first of the rows that see the most keys. Precondition: there is a row.
inline RowIndex fullest_row(const Problem& problem) {
  const std::vector<RowIndex> rows = all_rows(problem);
  const auto seen = [&](const RowIndex& row) {
    return reference::visible_keys(problem, row.batch, row.query).size();
  };
  return *std::max_element(
      rows.begin(), rows.end(),
      [&](const RowIndex& left, const RowIndex& right) { return seen(left) < seen(right); });
}

/// One row of the case with given scores: q = 1, k(j, 0) is the score, scale 1, in the type of the
/// arithmetic; nothing else of the problem stays.
inline Case given_scores(const Case& on) {
  const Case row = single_row(on, fullest_row(on.problem));
  Case given;
  given.problem.seq_kv = row.problem.seq_kv;
  given.problem.head_dim_v = row.problem.head_dim_v;
  given.problem.dtype = row.problem.compute_dtype();
  given.problem.scale = {false, 1.0};
  // Where no row sees a key, all keys are as good as any.
  if (!reference::visible_keys(row.problem, 0, 0).empty())
    given.problem.mask.bits = row.problem.mask.bits;
  given.problem.lse = LseForm::natural;
  given.tiling = row.tiling;
  given.values = row.values;
  const Dtype dtype = given.problem.dtype;
  given.q =
      filled(dtype, given.problem.q_extents(), [](Index, Index, Index, Index) { return 1.0; });
  given.k = filled(dtype, given.problem.k_extents(),
                   [&](Index, Index, Index key, Index) { return row.k.get(0, 0, key, 0); });
  given.v = filled(dtype, given.problem.v_extents(), [&](Index, Index, Index key, Index column) {
    return row.v.get(0, 0, key, column);
  });
  return given;
}

/// What the merge laws work on: leaves of consecutive keys, absorbed one key at a time.
template <class Real>
struct Leaves {
  const SummaryOps<Real>& ops;
  const Case& on;  ///< as given_scores makes it
  DeclaredAccuracy accuracy;

  Index head_dim_v() const { return on.problem.head_dim_v; }

  RowSummary<Real> leaf(KeyRange range) const {
    RowSummary<Real> summary = ops.identity(head_dim_v());
    std::vector<Real> value(static_cast<std::size_t>(head_dim_v()));
    for (Index key = range.begin; key < range.end; ++key) {
      if (!visible(on.problem, 0, 0, key)) continue;
      for (Index c = 0; c < head_dim_v(); ++c)
        value[static_cast<std::size_t>(c)] = static_cast<Real>(on.v.get(0, 0, key, c));
      ops.absorb(summary, static_cast<Real>(on.k.get(0, 0, key, 0)), value);
    }
    return summary;
  }
  std::vector<RowSummary<Real>> all() const {
    std::vector<RowSummary<Real>> summaries;
    for (const KeyRange tile : all_tiles(on.tiling, on.problem.seq_kv))
      summaries.push_back(leaf(tile));
    return summaries;
  }
  /// The tiling under which the bound counts the roundings of `leaves` merged by `order`.
  Case counted(const std::vector<KeyRange>& leaves, const MergeOrder& order) const {
    Case counted = on;
    counted.tiling = {1, 1, {}, order};
    for (std::size_t i = 0; i + 1 < leaves.size(); ++i)
      counted.tiling.splits.cuts.push_back(leaves[i].end);
    return with_fitting_tiling(std::move(counted));
  }
};

/// Calls body(leaves) with the kernel's operations for the case's dtype.
template <class Body>
Verdict with_leaves(const Kernel& kernel, const Case& on, Body&& body) {
  if (summary_ops<float>(kernel) == nullptr && summary_ops<double>(kernel) == nullptr)
    return Verdict::skipped("the kernel shows no partial results");
  if (all_rows(on.problem).empty()) return Verdict::weak("the case has no rows");
  const Case row = given_scores(on);
  if (const Status status = check_support(kernel.description().capabilities, row.problem);
      !status.ok())
    return Verdict::skipped(status.message());
  DeclaredAccuracy accuracy = kernel.accuracy(row.problem);
  accuracy.scope = SummaryScope::split;
  // The law cuts the row, not the kernel.
  accuracy.own_tiling.reset();
  accuracy.longest_tile = 0;
  accuracy.ordered_sums = true;
  accuracy.dot_roundings = 0;
  return with_real_type(row.problem.dtype, [&](auto real) -> Verdict {
    using Real = decltype(real);
    const SummaryOps<Real>* const ops = summary_ops<Real>(kernel);
    if (ops == nullptr) return Verdict::skipped("the kernel shows no partial results");
    return body(Leaves<Real>{*ops, row, accuracy});
  });
}

template <class Real>
Outputs to_outputs(const NormalisedRow<Real>& row) {
  Outputs outputs;
  const Dtype dtype = dtype_of<Real>();
  outputs.out = filled(dtype, {1, 1, 1, static_cast<Index>(row.output.size())},
                       [&](Index, Index, Index, Index column) {
                         return static_cast<double>(row.output[static_cast<std::size_t>(column)]);
                       });
  outputs.lse = filled(dtype, {1, 1, 1, 1},
                       [&](Index, Index, Index, Index) { return static_cast<double>(row.lse); });
  return outputs;
}

template <class Real>
RowSummary<Real> merge_by(const Leaves<Real>& leaves, const std::vector<KeyRange>& ranges,
                          const MergeTree& tree) {
  return evaluate(
      tree, [&](Index number) { return leaves.leaf(ranges[static_cast<std::size_t>(number)]); },
      [&](const RowSummary<Real>& left, const RowSummary<Real>& right) {
        return leaves.ops.merge(left, right);
      });
}

/// Sums of weights have a range only where the scores that enter them are numbers.
inline bool visible_scores_are_finite(const Case& row) {
  for (Index key = 0; key < row.problem.seq_kv; ++key)
    if (visible(row.problem, 0, 0, key) && !std::isfinite(row.k.get(0, 0, key, 0))) return false;
  return true;
}

}  // namespace attest::properties
