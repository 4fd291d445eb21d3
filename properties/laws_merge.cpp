// merge.*: row summaries form a commutative monoid, on the kernel's own absorb and merge.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "properties/derive.hpp"
#include "properties/judge.hpp"
#include "properties/laws.hpp"

namespace attest::properties {
namespace {

/// The first of the rows that see the most keys.
RowIndex fullest_row(const Problem& problem) {
  RowIndex fullest;
  std::size_t most = 0;
  for_each_row(problem, [&](const RowIndex& row) {
    const std::size_t seen = reference::visible_keys(problem, row.batch, row.query).size();
    if (seen <= most) return;
    most = seen;
    fullest = row;
  });
  return fullest;
}

/// One row of the case with given scores: q = 1, k(j, 0) is the score, scale 1.
Case given_scores(const Case& on) {
  Case row = single_row(on, fullest_row(on.problem));
  const Tensor k = row.k;
  row.problem.head_dim = 1;
  row.problem.scale = {false, 1.0};
  row.problem.lse = LseForm::natural;
  row.problem.all_masked = AllMaskedPolicy::zero;
  row.q = filled(row.problem.dtype, row.problem.q_extents(),
                 [](Index, Index, Index, Index) { return 1.0; });
  row.k = filled(row.problem.dtype, row.problem.k_extents(),
                 [&](Index, Index, Index key, Index) { return k.get(0, 0, key, 0); });
  return row;
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
  if (on.problem.rows() == 0) return Verdict::weak("the case has no rows");
  const Case row = given_scores(on);
  if (const Status status = check_support(kernel.description().capabilities, row.problem);
      !status.ok())
    return Verdict::skipped(status.message());
  DeclaredAccuracy accuracy = kernel.accuracy(row.problem);
  accuracy.scope = SummaryScope::split;
  accuracy.ordered_sums = true;
  accuracy.dot_roundings = 0;
  return with_real_type(on.problem.dtype, [&](auto real) -> Verdict {
    using Real = decltype(real);
    const SummaryOps<Real>* const ops = summary_ops<Real>(kernel);
    if (ops == nullptr) return Verdict::skipped("the kernel shows no partial results");
    return body(Leaves<Real>{*ops, row, accuracy});
  });
}

/// Sums of weights have a range only where the scores that enter them are numbers.
bool visible_scores_are_finite(const Case& row) {
  for (Index key = 0; key < row.problem.seq_kv; ++key)
    if (visible(row.problem, 0, 0, key) && !std::isfinite(row.k.get(0, 0, key, 0))) return false;
  return true;
}

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
  const auto exact = Truth(leaves.accuracy, counted).row({});
  if (!exact) {
    tally.undecided("a visible input is not finite");
    return;
  }
  const Outputs outputs = to_outputs(leaves.ops.normalise(merge_by(leaves, ranges, tree.value())));
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

Verdict merge_pairs_agree(const Kernel& kernel, const Case& on) {
  return with_leaves(kernel, on, [](const auto& leaves) -> Verdict {
    const Index n = leaves.on.problem.seq_kv;
    const std::array<KeyRange, 2> halves{KeyRange{0, n / 2}, KeyRange{n / 2, n}};
    const Case whole_case = leaves.counted({halves[0], halves[1]}, {});
    const auto whole = Truth(leaves.accuracy, whole_case).row({});
    if (!whole) return Verdict::of(Outcome::unproven, "a visible input is not finite");
    std::vector<reference::CertifiedRow> exact;
    for (const KeyRange half : halves) {
      std::vector<Index> keys;
      for (Index key = half.begin; key < half.end; ++key) keys.push_back(key);
      Case part = select_keys(leaves.on, keys);
      part.tiling = {1, 1, {}, {}};
      auto row = Truth(leaves.accuracy, part).row({});
      if (row && !row->facts.keys.empty()) exact.push_back(std::move(*row));
    }
    if (exact.empty()) return Verdict::weak("the row has no visible key");
    std::vector<NormalisedPart> parts;
    parts.reserve(exact.size());
    for (const auto& row : exact) parts.push_back({&row.facts, &row.bound});
    reference::CertifiedRow by_pairs = *whole;
    by_pairs.bound = normalised_merge_bound(leaves.accuracy, whole->facts, parts);

    const auto left = leaves.leaf(halves[0]);
    const auto right = leaves.leaf(halves[1]);
    const Outputs triples = to_outputs(leaves.ops.normalise(leaves.ops.merge(left, right)));
    const Outputs pairs = to_outputs(
        leaves.ops.merge_normalised(leaves.ops.normalise(left), leaves.ops.normalise(right)));
    Tally tally;
    agree_rows(tally, {pairs, {}, by_pairs}, {triples, {}, *whole});
    return tally.verdict();
  });
}

}  // namespace attest::properties
