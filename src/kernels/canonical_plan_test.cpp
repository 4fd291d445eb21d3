// The plan of canonical leaves: whatever the splits, the merge order and the empty leaves are, each
// leaf is in the same place of the same tree.
#include "kernels/canonical_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "attest/random.hpp"

namespace attest::kernels {
namespace {

constexpr Index kLeaf = 4;

/// The tree of a row as text, by carrying the steps out; a passing leaf has no place.
std::string carried_out(const CanonicalPlan& plan) {
  std::vector<std::string> places(static_cast<std::size_t>(plan.places));
  std::string passing;
  const auto at = [&](std::int32_t place) -> std::string& {
    return place == CanonicalStep::passing ? passing : places.at(static_cast<std::size_t>(place));
  };
  for (const CanonicalStep& step : plan.steps) {
    if (step.leaf != CanonicalStep::merge) {
      EXPECT_EQ(at(step.left), "") << "a summary would be lost";
      at(step.left) = std::to_string(step.leaf);
      continue;
    }
    at(step.left) = "(" + at(step.left) + " " + at(step.right) + ")";
    at(step.right).clear();
  }
  if (plan.root == CanonicalPlan::no_root) return "";
  const std::string whole = places.at(static_cast<std::size_t>(plan.root));
  places[static_cast<std::size_t>(plan.root)].clear();
  EXPECT_TRUE(std::all_of(places.begin(), places.end(), [](const auto& x) { return x.empty(); }));
  EXPECT_EQ(passing, "");
  return whole;
}

/// The tree of canonical_tiling without its empty leaves.
std::string wanted(Index seq_kv, const EmptyLeaf& is_empty) {
  return evaluate(
      canonical_tiling(seq_kv, kLeaf).merge.tree,
      [&](Index leaf) { return is_empty(leaf) ? std::string() : std::to_string(leaf); },
      [](const std::string& left, const std::string& right) {
        if (left.empty() || right.empty()) return left + right;
        return "(" + left + " " + right + ")";
      });
}

Tiling random_tiling(SplitMix64& random, Index seq_kv) {
  constexpr MergeOrder::Kind kKinds[] = {MergeOrder::Kind::left, MergeOrder::Kind::right,
                                         MergeOrder::Kind::balanced, MergeOrder::Kind::random};
  Tiling tiling;
  for (std::uint64_t cuts = random.below(9); cuts > 0; --cuts)
    tiling.splits.cuts.push_back(
        static_cast<Index>(random.below(static_cast<std::uint64_t>(seq_kv) + 1)));
  std::sort(tiling.splits.cuts.begin(), tiling.splits.cuts.end());
  tiling.merge.kind = kKinds[random.below(4)];
  tiling.merge.seed = random.next();
  return tiling;
}

TEST(CanonicalPlan, TheTreeOfFiveLeaves) {
  EXPECT_EQ(wanted(4 * kLeaf + 1, [](Index) { return false; }), "(((0 1) (2 3)) 4)");
  EXPECT_EQ(canonical_tiling(0, kLeaf).merge.tree.steps, (std::vector<Index>{0}));
}

TEST(CanonicalPlan, NeitherSplitsNorOrderChangeTheTree) {
  SplitMix64 random(1);
  for (int attempt = 0; attempt < 3000; ++attempt) {
    const auto seq_kv = static_cast<Index>(1 + random.below(90));
    const std::uint64_t empty = random.below(3) == 0 ? 0 : random.next() & random.next();
    const EmptyLeaf is_empty = [&](Index leaf) { return (empty >> leaf & 1) != 0; };
    const Tiling tiling = random_tiling(random, seq_kv);
    const auto splits = static_cast<Index>(split_ranges(tiling, seq_kv).size());
    const CanonicalPlan plan = canonical_plan(tiling, make_merge_tree(tiling.merge, splits).value(),
                                              seq_kv, kLeaf, is_empty);
    ASSERT_EQ(carried_out(plan), wanted(seq_kv, is_empty)) << "attempt " << attempt;
  }
}

TEST(CanonicalPlan, OneSplitHoldsAsManySummariesAsTheTreeIsHigh) {
  const Tiling whole;
  const MergeTree tree = make_merge_tree(whole.merge, 1).value();
  const CanonicalPlan plan =
      canonical_plan(whole, tree, 1024 * kLeaf, kLeaf, [](Index) { return false; });
  EXPECT_EQ(plan.places, 10);
  EXPECT_EQ(plan.steps.size(), 2047U);
}

}  // namespace
}  // namespace attest::kernels
