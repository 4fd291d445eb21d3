// Merge trees: which are refused, which every order gives, how they are evaluated.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "attest/tiling.hpp"
#include "test_refusal.hpp"

namespace attest {
namespace {

using ::testing::ElementsAre;

constexpr Index kMerge = MergeTree::merge;

TEST(MergeTreeValidation, AcceptsEveryTreeThatHoldsEachLeafOnce) {
  EXPECT_EQ(refusal(validate(MergeTree{}, 0)), "not refused");
  EXPECT_EQ(refusal(validate(MergeTree{{0}}, 1)), "not refused");
  EXPECT_EQ(refusal(validate(MergeTree{{1, 0, kMerge}}, 2)), "not refused");
  EXPECT_EQ(refusal(validate(MergeTree{{2, 0, 1, kMerge, kMerge}}, 3)), "not refused");
}

TEST(MergeTreeValidation, RefusesAJoinOfFewerThanTwoSubtrees) {
  const std::string message = "merge tree joins fewer than two subtrees";
  EXPECT_EQ(refusal(validate(MergeTree{{kMerge}}, 0)), message);
  EXPECT_EQ(refusal(validate(MergeTree{{0, kMerge}}, 1)), message);
  EXPECT_EQ(refusal(validate(MergeTree{{0, kMerge, 1}}, 2)), message);
  EXPECT_EQ(refusal(validate(MergeTree{{0, 1, kMerge, kMerge}}, 2)), message);
}

TEST(MergeTreeValidation, RefusesALeafThatDoesNotExist) {
  EXPECT_EQ(refusal(validate(MergeTree{{0, 2, kMerge}}, 2)),
            "merge tree names leaf 2, the tiling has 2");
  EXPECT_EQ(refusal(validate(MergeTree{{-2}}, 1)), "merge tree names leaf -2, the tiling has 1");
  EXPECT_EQ(refusal(validate(MergeTree{{0}}, 0)), "merge tree names leaf 0, the tiling has 0");
}

TEST(MergeTreeValidation, RefusesALeafThatIsNamedTwice) {
  EXPECT_EQ(refusal(validate(MergeTree{{0, 0, kMerge}}, 2)), "merge tree names leaf 0 twice");
}

TEST(MergeTreeValidation, RefusesATreeThatLeavesSomethingUnjoined) {
  const std::string message = "merge tree does not join all 2 leaves into one";
  EXPECT_EQ(refusal(validate(MergeTree{{0}}, 2)), message);
  EXPECT_EQ(refusal(validate(MergeTree{{0, 1}}, 2)), message);
  EXPECT_EQ(refusal(validate(MergeTree{}, 2)), message);
}

MergeOrder order_of(MergeOrder::Kind kind, std::uint64_t seed = 0) {
  return {kind, seed, {}};
}

/// How often each leaf stands in the tree.
std::vector<Index> leaf_uses(const MergeTree& tree, Index leaves) {
  std::vector<Index> uses(static_cast<std::size_t>(leaves));
  for (const Index step : tree.steps)
    if (step != kMerge) ++uses.at(static_cast<std::size_t>(step));
  return uses;
}

TEST(MakeMergeTree, OfEveryKindHoldsEachLeafOnce) {
  using Kind = MergeOrder::Kind;
  for (const Kind kind : {Kind::left, Kind::right, Kind::balanced, Kind::random})
    for (Index leaves = 0; leaves <= 9; ++leaves)
      for (std::uint64_t seed = 0; seed < 50; ++seed) {
        const Result<MergeTree> tree = make_merge_tree(order_of(kind, seed), leaves);
        ASSERT_TRUE(tree.ok());
        ASSERT_EQ(refusal(validate(tree.value(), leaves)), "not refused");
        const std::vector<Index> once(static_cast<std::size_t>(leaves), 1);
        ASSERT_EQ(leaf_uses(tree.value(), leaves), once);
        const Index steps = leaves == 0 ? 0 : 2 * leaves - 1;
        ASSERT_EQ(static_cast<Index>(tree.value().steps.size()), steps);
      }
}

TEST(MakeMergeTree, OfAnExplicitTreeGivesThatTreeIfItFits) {
  const MergeTree tree{{2, 0, kMerge, 1, kMerge}};
  const MergeOrder order{MergeOrder::Kind::explicit_tree, 0, tree};
  const Result<MergeTree> fitting = make_merge_tree(order, 3);
  ASSERT_TRUE(fitting.ok());
  EXPECT_EQ(fitting.value(), tree);
  EXPECT_EQ(refusal(make_merge_tree(order, 2).status()),
            "merge tree names leaf 2, the tiling has 2");
  EXPECT_EQ(refusal(make_merge_tree(order, 4).status()),
            "merge tree does not join all 4 leaves into one");
}

/// Leaves as numbers, joins as in the comments of MergeOrder::Kind.
std::string nesting(const MergeTree& tree) {
  const auto wrapped = [](const std::string& part) {
    return part.find(' ') == std::string::npos ? part : "(" + part + ")";
  };
  return evaluate(
      tree, [](Index leaf) { return std::to_string(leaf); },
      [&](const std::string& left, const std::string& right) {
        return wrapped(left) + " " + wrapped(right);
      });
}

std::string nesting(const MergeOrder& order, Index leaves) {
  return nesting(make_merge_tree(order, leaves).value());
}

TEST(Evaluate, ReproducesTheNestingOfEveryKind) {
  using Kind = MergeOrder::Kind;
  EXPECT_EQ(nesting(order_of(Kind::left), 4), "((0 1) 2) 3");
  EXPECT_EQ(nesting(order_of(Kind::right), 4), "0 (1 (2 3))");
  EXPECT_EQ(nesting(order_of(Kind::balanced), 4), "(0 1) (2 3)");
  EXPECT_EQ(nesting(order_of(Kind::balanced), 5), "((0 1) 2) (3 4)");
  EXPECT_EQ(nesting(order_of(Kind::balanced), 7), "((0 1) (2 3)) ((4 5) 6)");
  for (const Kind kind : {Kind::left, Kind::right, Kind::balanced}) {
    EXPECT_EQ(nesting(order_of(kind), 1), "0");
    EXPECT_EQ(nesting(order_of(kind), 2), "0 1");
  }
}

TEST(Evaluate, PutsTheEarlierSubtreeOnTheLeft) {
  EXPECT_EQ(nesting(MergeTree{{3, 1, kMerge, 0, 2, kMerge, kMerge}}), "(3 1) (0 2)");
  EXPECT_EQ(nesting(MergeTree{{3, 1, 0, 2, kMerge, kMerge, kMerge}}), "3 (1 (0 2))");
}

TEST(Evaluate, MovesValuesThatCannotBeCopied) {
  const auto sum = evaluate(
      MergeTree{{0, 1, kMerge, 2, kMerge}},
      [](Index leaf) { return std::make_unique<Index>(leaf); },
      [](std::unique_ptr<Index> left, std::unique_ptr<Index> right) {
        return std::make_unique<Index>(10 * *left + *right);
      });
  EXPECT_EQ(*sum, 12);
}

TEST(RandomMergeTree, IsAFunctionOfItsSeed) {
  for (std::uint64_t seed = 0; seed < 200; ++seed)
    for (Index leaves = 0; leaves <= 9; ++leaves) {
      const MergeOrder order = order_of(MergeOrder::Kind::random, seed);
      ASSERT_EQ(make_merge_tree(order, leaves).value(), make_merge_tree(order, leaves).value());
    }
}

TEST(RandomMergeTree, ReachesEveryTreeOfThreeLeavesOverSeeds) {
  std::set<std::string> reached;
  for (std::uint64_t seed = 0; seed < 1000; ++seed)
    reached.insert(nesting(order_of(MergeOrder::Kind::random, seed), 3));
  EXPECT_THAT(reached,
              ElementsAre("(0 1) 2", "(0 2) 1", "(1 0) 2", "(1 2) 0", "(2 0) 1", "(2 1) 0",
                          "0 (1 2)", "0 (2 1)", "1 (0 2)", "1 (2 0)", "2 (0 1)", "2 (1 0)"));
}

}  // namespace
}  // namespace attest
