// merge.*, continued: what partial results hold, and merges of normalised rows.
#include <algorithm>
#include <array>

#include "attest/narrow_float.hpp"
#include "properties/laws.hpp"
#include "properties/merge_leaves.hpp"

namespace attest::properties {
namespace {

/// The exact row over some keys of a row with given scores; nothing when it has no visible key.
std::optional<reference::CertifiedRow> exact_part(const DeclaredAccuracy& accuracy, const Case& row,
                                                  const std::vector<Index>& keys) {
  Case part = select_keys(row, keys);
  part.tiling = {1, 1, {}, {}};
  auto exact = Truth(accuracy, part).row({});
  if (!exact || exact->facts.keys.empty()) return std::nullopt;
  return exact;
}

std::vector<Index> keys_of(KeyRange range) {
  std::vector<Index> keys;
  for (Index key = range.begin; key < range.end; ++key) keys.push_back(key);
  return keys;
}

/// A node of a tree of normalised rows: what the kernel computed, and what it may have computed.
template <class Real>
struct PairNode {
  std::vector<Index> keys;
  NormalisedRow<Real> computed;
  std::optional<reference::CertifiedRow> exact;  ///< nothing: no visible key
};

template <class Real>
PairNode<Real> join(const Leaves<Real>& leaves, PairNode<Real> left, PairNode<Real> right) {
  PairNode<Real> node;
  node.computed = leaves.ops.merge_normalised(left.computed, right.computed);
  node.keys = std::move(left.keys);
  node.keys.insert(node.keys.end(), right.keys.begin(), right.keys.end());
  std::sort(node.keys.begin(), node.keys.end());
  if (!left.exact || !right.exact) {  // a merge with an empty side rounds nothing
    node.exact = left.exact ? std::move(left.exact) : std::move(right.exact);
    return node;
  }
  node.exact = exact_part(leaves.accuracy, leaves.on, node.keys);
  if (!node.exact) return node;
  const std::array<NormalisedPart, 2> parts{
      NormalisedPart{&left.exact->facts, &left.exact->bound},
      NormalisedPart{&right.exact->facts, &right.exact->bound}};
  node.exact =
      with_bound(*node.exact, normalised_merge_bound(leaves.accuracy, node.exact->facts, parts));
  return node;
}

/// A tile as a part whose output was rounded to bf16; its bound is the error that it has.
template <class Real>
PairNode<Real> narrow_part(const Leaves<Real>& leaves, KeyRange tile) {
  PairNode<Real> node{keys_of(tile), leaves.ops.normalise(leaves.leaf(tile)), std::nullopt};
  node.exact = exact_part(leaves.accuracy, leaves.on, node.keys);
  for (std::size_t c = 0; node.exact && c < node.computed.output.size(); ++c) {
    Real& output = node.computed.output[c];
    output = round_to(kBf16, output, Overflow::saturate);
    node.exact->bound.output[c] =
        node.exact->facts.output[c].distance_upper(static_cast<double>(output));
  }
  return node;
}

}  // namespace

Verdict merge_pairs_agree(const Kernel& kernel, const Case& on) {
  return with_leaves(kernel, on, [](const auto& leaves) -> Verdict {
    const Index n = leaves.on.problem.seq_kv;
    const std::array<KeyRange, 2> halves{KeyRange{0, n / 2}, KeyRange{n / 2, n}};
    const Case whole_case = leaves.counted({halves[0], halves[1]}, {});
    const auto whole = Truth(leaves.accuracy, whole_case).row({});
    if (!whole) return Verdict::of(Outcome::unproven, "a visible input is not finite");
    std::vector<reference::CertifiedRow> exact;
    for (const KeyRange half : halves) {
      auto row = exact_part(leaves.accuracy, leaves.on, keys_of(half));
      if (row) exact.push_back(std::move(*row));
    }
    if (exact.empty()) return Verdict::weak("the row has no visible key");
    std::vector<NormalisedPart> parts;
    parts.reserve(exact.size());
    for (const auto& row : exact) parts.push_back({&row.facts, &row.bound});
    const reference::CertifiedRow by_pairs =
        with_bound(*whole, normalised_merge_bound(leaves.accuracy, whole->facts, parts));

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

Verdict merge_pairs_tree(const Kernel& kernel, const Case& on) {
  return with_leaves(kernel, on, []<class Real>(const Leaves<Real>& leaves) -> Verdict {
    const auto whole = Truth(leaves.accuracy, leaves.on).row({});
    if (!whole) return Verdict::of(Outcome::unproven, "a visible input is not finite");
    if (whole->facts.keys.empty()) return Verdict::weak("the row has no visible key");
    const std::vector<KeyRange> tiles = all_tiles(leaves.on.tiling, leaves.on.problem.seq_kv);
    const auto tree = make_merge_tree({MergeOrder::Kind::random, 23 + leaves.on.values.seed, {}},
                                      static_cast<Index>(tiles.size()));
    if (!tree.ok()) return Verdict::of(Outcome::unproven, tree.status().message());
    const PairNode<Real> root = evaluate(
        tree.value(),
        [&](Index number) {
          const KeyRange tile = tiles[static_cast<std::size_t>(number)];
          PairNode<Real> node{keys_of(tile), leaves.ops.normalise(leaves.leaf(tile)), std::nullopt};
          node.exact = exact_part(leaves.accuracy, leaves.on, node.keys);
          return node;
        },
        [&](PairNode<Real> left, PairNode<Real> right) {
          return join(leaves, std::move(left), std::move(right));
        });
    Tally tally;
    const Outputs outputs = to_outputs(root.computed);
    judge_row(tally, *root.exact, {}, Part::out, outputs);
    judge_row(tally, *root.exact, {}, Part::lse, outputs);
    return tally.verdict();
  });
}

Verdict merge_narrow_parts(const Kernel& kernel, const Case& on) {
  return with_leaves(kernel, on, []<class Real>(const Leaves<Real>& leaves) -> Verdict {
    PairNode<Real> joined;
    for (const KeyRange tile : all_tiles(leaves.on.tiling, leaves.on.problem.seq_kv)) {
      PairNode<Real> part = narrow_part(leaves, tile);
      if (!part.exact) continue;
      joined = joined.exact ? join(leaves, std::move(joined), std::move(part)) : std::move(part);
    }
    if (!joined.exact) return Verdict::weak("no visible key with finite numbers");
    Tally tally;
    judge_row(tally, *joined.exact, {}, Part::out, to_outputs(joined.computed));
    return tally.verdict();
  });
}

Verdict merge_summary_bound(const Kernel& kernel, const Case& on) {
  return with_leaves(kernel, on, []<class Real>(const Leaves<Real>& leaves) -> Verdict {
    const std::vector<KeyRange> tiles = all_tiles(leaves.on.tiling, leaves.on.problem.seq_kv);
    const MergeOrder order{MergeOrder::Kind::random, 29 + leaves.on.values.seed, {}};
    const Case counted = leaves.counted(tiles, order);
    const auto tree = make_merge_tree(counted.tiling.merge, static_cast<Index>(tiles.size()));
    if (!tree.ok()) return Verdict::of(Outcome::unproven, tree.status().message());
    const auto exact = Truth(leaves.accuracy, counted).row({});
    if (!exact) return Verdict::of(Outcome::unproven, "a visible input is not finite");
    if (exact->facts.keys.empty()) return Verdict::weak("the row has no visible key");
    const RowSummary<Real> summary = merge_by(leaves, tiles, tree.value());
    Tally tally;
    const auto row = reference::read_row(inputs_of(counted), {});
    const auto row_max = static_cast<double>(summary.row_max);
    const auto want = reference::enclose_summary(*row, row_max, reference::kPrecisionLadder[0]);
    if (!want) {
      tally.holds(false, {"row_max", {}}, row_max, exact->facts.score_max,
                  "row_max must be near the largest visible score");
      return tally.verdict();
    }
    const double row_sum_upper = want->row_sum.high * (1 + 0x1p-50) + want->row_sum.radius;
    const SummaryBound bound = summary_bound(leaves.accuracy, exact->facts, counted.tiling,
                                             counted.problem.seq_kv, row_sum_upper);
    if (!bound.proven()) return Verdict::of(Outcome::unproven, bound.unproven);
    // Scores are given: the maximum is exact.
    tally.within({"row_max", {}}, row_max, want->row_max, bound.row_max);
    tally.within({"row_sum", {}}, static_cast<double>(summary.row_sum), want->row_sum,
                 bound.row_sum, bound.row_sum < row_sum_upper);
    for (std::size_t c = 0; c < want->numerator.size(); ++c)
      tally.within({"numerator", {}, static_cast<Index>(c)},
                   static_cast<double>(summary.numerator[c]), want->numerator[c],
                   bound.numerator[c],
                   bound.numerator[c] < row_sum_upper * value_magnitude(exact->facts, c));
    tally.end_row();
    return tally.verdict();
  });
}

}  // namespace attest::properties
