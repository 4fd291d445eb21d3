// merge.*: row summaries form a commutative monoid, on the kernel's own absorb and merge.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "properties/laws.hpp"
#include "properties/merge_leaves.hpp"

namespace attest::properties {
namespace {

template <class Real>
void same_summary(Tally& tally, const RowSummary<Real>& got, const RowSummary<Real>& want,
                  std::string_view reason) {
  const auto same = [&](std::string_view part, Index column, Real a, Real b) {
    tally.same_bits({part, {}, column}, static_cast<double>(a), static_cast<double>(b), reason);
  };
  same("row_max", 0, got.row_max, want.row_max);
  same("row_sum", 0, got.row_sum, want.row_sum);
  for (std::size_t c = 0; c < want.numerator.size(); ++c)
    same("numerator", static_cast<Index>(c), got.numerator[c], want.numerator[c]);
  tally.end_row();
}

/// Merges the ranges by `order` and judges output and lse against the exact row (Theorem 3).
template <class Real>
void judge_merge(Tally& tally, const Leaves<Real>& leaves, const std::vector<KeyRange>& ranges,
                 const MergeOrder& order) {
  const Case counted = leaves.counted(ranges, order);
  const auto tree = make_merge_tree(counted.tiling.merge, static_cast<Index>(ranges.size()));
  if (!tree.ok()) {
    tally.undecided(tree.status().message());
    return;
  }
  const Outputs outputs = to_outputs(leaves.ops.normalise(merge_by(leaves, ranges, tree.value())));
  const auto exact = Truth(leaves.accuracy, counted).row({});
  if (!exact) {
    tally.undecided("a visible input is not finite");
    return;
  }
  judge_row(tally, *exact, {}, Part::out, outputs);
  judge_row(tally, *exact, {}, Part::lse, outputs);
}

}  // namespace

Verdict merge_identity(const Kernel& kernel, const Case& on) {
  return with_leaves(kernel, on, [](const auto& leaves) {
    Tally tally;
    const auto identity = leaves.ops.identity(leaves.head_dim_v());
    for (const auto& summary : leaves.all()) {
      same_summary(tally, leaves.ops.merge(summary, identity), summary, "merged with identity()");
      same_summary(tally, leaves.ops.merge(identity, summary), summary,
                   "identity() merged with it");
    }
    return tally.verdict();
  });
}

Verdict merge_two_empties(const Kernel& kernel, const Case& on) {
  return with_leaves(kernel, on, []<class Real>(const Leaves<Real>& leaves) {
    Tally tally;
    const auto want = RowSummary<Real>::identity(leaves.head_dim_v());
    const auto identity = leaves.ops.identity(leaves.head_dim_v());
    same_summary(tally, identity, want, "identity() must be (-inf, 0, 0)");
    same_summary(tally, leaves.ops.merge(identity, identity), want,
                 "two empty summaries must give the empty one");
    const NormalisedRow<Real> empty = leaves.ops.normalise(identity);
    for (const auto& row : {empty, leaves.ops.merge_normalised(empty, empty)}) {
      tally.same_bits({"lse", {}}, static_cast<double>(row.lse),
                      static_cast<double>(RowSummary<Real>::minus_infinity),
                      "the lse of an empty summary must be -inf");
      for (std::size_t c = 0; c < row.output.size(); ++c)
        tally.same_bits({"out", {}, static_cast<Index>(c)}, static_cast<double>(row.output[c]), 0,
                        "the output of an empty summary must be 0");
    }
    return tally.verdict();
  });
}

Verdict merge_commutes(const Kernel& kernel, const Case& on) {
  return with_leaves(kernel, on, [](const auto& leaves) {
    Tally tally;
    const auto summaries = leaves.all();
    for (std::size_t i = 0; i < summaries.size(); ++i) {
      const auto& left = summaries[i];
      const auto& right = summaries[(i + 1) % summaries.size()];
      same_summary(tally, leaves.ops.merge(left, right), leaves.ops.merge(right, left),
                   "the two sides were exchanged");
    }
    return tally.verdict();
  });
}

Verdict merge_associates(const Kernel& kernel, const Case& on) {
  return with_leaves(kernel, on, [](const auto& leaves) {
    const Index n = leaves.on.problem.seq_kv;
    const std::vector<KeyRange> thirds{{0, n / 3}, {n / 3, 2 * n / 3}, {2 * n / 3, n}};
    Tally tally;
    judge_merge(tally, leaves, thirds, {MergeOrder::Kind::left, 0, {}});
    judge_merge(tally, leaves, thirds, {MergeOrder::Kind::right, 0, {}});
    return tally.verdict();
  });
}

Verdict merge_any_tree(const Kernel& kernel, const Case& on) {
  return with_leaves(kernel, on, [](const auto& leaves) {
    const Case& row = leaves.on;
    Tally tally;
    const std::vector<KeyRange> tiles = all_tiles(row.tiling, row.problem.seq_kv);
    if (row.tiling.merge.kind != MergeOrder::Kind::explicit_tree)
      judge_merge(tally, leaves, tiles, row.tiling.merge);
    judge_merge(tally, leaves, tiles, {MergeOrder::Kind::random, 17 + row.values.seed, {}});
    judge_merge(tally, leaves, tiles, {MergeOrder::Kind::balanced, 0, {}});
    return tally.verdict();
  });
}

Verdict merge_rescale_range(const Kernel& kernel, const Case& on) {
  return with_leaves(kernel, on, []<class Real>(const Leaves<Real>& leaves) {
    if (!visible_scores_are_finite(leaves.on))
      return Verdict::of(Outcome::unproven, "a visible score is not finite");
    Tally tally;
    std::vector<Real> maxima{RowSummary<Real>::minus_infinity};
    for (const auto& summary : leaves.all()) maxima.push_back(summary.row_max);
    for (const Real from : maxima) {
      for (const Real to : maxima) {
        if (!(from <= to)) continue;
        const Real factor = leaves.ops.rescale(from, to);
        tally.holds(factor >= 0 && factor <= 1, {"rescale", {}}, static_cast<double>(factor), 1,
                    "a rescale factor must lie in [0, 1]");
        const bool from_nothing = from == RowSummary<Real>::minus_infinity;
        if (from_nothing || from == to)
          tally.same_bits({"rescale", {}}, static_cast<double>(factor), from_nothing ? 0 : 1,
                          "a rescale from -inf must be 0, to the same maximum 1");
      }
      tally.end_row();
    }
    return tally.verdict();
  });
}

Verdict merge_row_sum_range(const Kernel& kernel, const Case& on) {
  return with_leaves(kernel, on, [](const auto& leaves) {
    if (!visible_scores_are_finite(leaves.on))
      return Verdict::of(Outcome::unproven, "a visible score is not finite");
    const auto summaries = leaves.all();
    auto total = leaves.ops.identity(leaves.head_dim_v());
    for (const auto& summary : summaries) total = leaves.ops.merge(total, summary);
    const double n = static_cast<double>(reference::visible_keys(leaves.on.problem, 0, 0).size());
    if (n == 0) return Verdict::weak("the row has no visible key");
    Tally tally;
    const auto row_sum = static_cast<double>(total.row_sum);
    // The key at the maximum contributes exactly 1, and adding what is not negative never lowers.
    tally.holds(row_sum >= 1, {"row_sum", {}}, row_sum, 1, "row_sum must be at least 1");
    // Every weight and rescale is at most 1 + eps, every addition rounds by at most u.
    const double eps = leaves.accuracy.exp_relative_error;
    const double u = leaves.accuracy.format.unit_roundoff;
    const double steps = n + static_cast<double>(summaries.size());
    const double largest = n * std::exp(steps * (eps + 2 * u));
    tally.holds(row_sum <= largest, {"row_sum", {}}, row_sum, largest,
                "row_sum must be at most the number of visible keys, up to rounding");
    tally.end_row();
    return tally.verdict();
  });
}

}  // namespace attest::properties
