#include "attest/tiling.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace attest {
namespace {

using ::testing::ElementsAre;

constexpr Index kLargestIndex = std::numeric_limits<Index>::max();
constexpr Index kMerge = MergeTree::merge;

Tiling tiling_of(Index count, Index tile_kv) {
  Tiling tiling;
  tiling.splits.count = count;
  tiling.tile_kv = tile_kv;
  return tiling;
}

Tiling tiling_with_cuts(std::vector<Index> cuts, Index tile_kv) {
  Tiling tiling;
  tiling.splits.cuts = std::move(cuts);
  tiling.tile_kv = tile_kv;
  return tiling;
}

Index length_of(KeyRange range) {
  return range.end - range.begin;
}

/// Every key of `whole` lies in exactly one range, and the ranges stand in order.
void expect_covers_once_in_order(const std::vector<KeyRange>& ranges, KeyRange whole) {
  ASSERT_FALSE(ranges.empty());
  Index next = whole.begin;
  for (const KeyRange range : ranges) {
    ASSERT_EQ(range.begin, next);
    ASSERT_GE(range.end, range.begin);
    next = range.end;
  }
  ASSERT_EQ(next, whole.end);
}

/// All non-decreasing lists of up to `most` cuts in [0, seq_kv].
std::vector<std::vector<Index>> cut_lists(Index seq_kv, std::size_t most) {
  std::vector<std::vector<Index>> lists{{}};
  for (std::size_t i = 0; i < lists.size(); ++i) {
    if (lists[i].size() == most) continue;
    for (Index cut = lists[i].empty() ? 0 : lists[i].back(); cut <= seq_kv; ++cut) {
      std::vector<Index> longer = lists[i];
      longer.push_back(cut);
      lists.push_back(longer);
    }
  }
  lists.erase(lists.begin());  // no cuts: the count would be used
  return lists;
}

TEST(SplitRanges, OfACountCoverEveryKeyOnceInOrder) {
  for (Index seq_kv = 0; seq_kv <= 24; ++seq_kv)
    for (Index count = 1; count <= 27; ++count) {
      const Tiling tiling = tiling_of(count, 1);
      ASSERT_TRUE(validate(tiling, seq_kv).ok());
      const std::vector<KeyRange> ranges = split_ranges(tiling, seq_kv);
      ASSERT_EQ(static_cast<Index>(ranges.size()), count);
      expect_covers_once_in_order(ranges, {0, seq_kv});
      if (HasFatalFailure()) return;
    }
}

TEST(SplitRanges, OfACountAreEqualExceptTheLastOnes) {
  for (Index seq_kv = 0; seq_kv <= 24; ++seq_kv)
    for (Index count = 1; count <= 27; ++count) {
      const Index longest = (seq_kv + count - 1) / count;
      Index left = seq_kv;
      for (const KeyRange range : split_ranges(tiling_of(count, 1), seq_kv)) {
        ASSERT_EQ(length_of(range), std::min(longest, left)) << seq_kv << " in " << count;
        left -= length_of(range);
      }
    }
}

TEST(SplitRanges, MoreSplitsThanKeysGiveEmptyOnes) {
  EXPECT_THAT(
      split_ranges(tiling_of(5, 1), 3),
      ElementsAre(KeyRange{0, 1}, KeyRange{1, 2}, KeyRange{2, 3}, KeyRange{3, 3}, KeyRange{3, 3}));
  EXPECT_THAT(split_ranges(tiling_of(2, 1), 0), ElementsAre(KeyRange{0, 0}, KeyRange{0, 0}));
}

TEST(SplitRanges, OfCutsCoverEveryKeyOnceInOrderAndEndAtTheCuts) {
  for (Index seq_kv = 0; seq_kv <= 7; ++seq_kv)
    for (const std::vector<Index>& cuts : cut_lists(seq_kv, 4)) {
      const Tiling tiling = tiling_with_cuts(cuts, 1);
      ASSERT_TRUE(validate(tiling, seq_kv).ok());
      const std::vector<KeyRange> ranges = split_ranges(tiling, seq_kv);
      ASSERT_EQ(ranges.size(), cuts.size() + 1);
      expect_covers_once_in_order(ranges, {0, seq_kv});
      for (std::size_t i = 0; i < cuts.size(); ++i) ASSERT_EQ(ranges[i].end, cuts[i]);
      if (HasFatalFailure()) return;
    }
}

TEST(SplitRanges, CutsReplaceTheCount) {
  Tiling tiling = tiling_with_cuts({2}, 1);
  tiling.splits.count = 7;
  EXPECT_THAT(split_ranges(tiling, 5), ElementsAre(KeyRange{0, 2}, KeyRange{2, 5}));
}

TEST(TileRanges, CoverEveryKeyOnceAndOnlyTheLastIsShorter) {
  for (Index begin = 0; begin <= 3; ++begin)
    for (Index length = 0; length <= 20; ++length)
      for (Index tile_kv = 1; tile_kv <= 22; ++tile_kv) {
        const KeyRange whole{begin, begin + length};
        const std::vector<KeyRange> tiles = tile_ranges(whole, tile_kv);
        expect_covers_once_in_order(tiles, whole);
        if (HasFatalFailure()) return;
        for (std::size_t i = 0; i + 1 < tiles.size(); ++i) ASSERT_EQ(length_of(tiles[i]), tile_kv);
        ASSERT_LE(length_of(tiles.back()), tile_kv);
        ASSERT_EQ(length_of(tiles.back()) == 0, length == 0);
      }
}

TEST(TileRanges, OfAnEmptyRangeAreOneEmptyTile) {
  EXPECT_THAT(tile_ranges({4, 4}, 3), ElementsAre(KeyRange{4, 4}));
}

TEST(TileRanges, OfTheLargestTileAreTheWholeRange) {
  EXPECT_THAT(tile_ranges({5, 9}, kLargestIndex), ElementsAre(KeyRange{5, 9}));
  EXPECT_THAT(
      tile_ranges({1, kLargestIndex}, kLargestIndex - 2),
      ElementsAre(KeyRange{1, kLargestIndex - 1}, KeyRange{kLargestIndex - 1, kLargestIndex}));
}

void expect_all_tiles_are_the_tiles_of_the_splits(const Tiling& tiling, Index seq_kv) {
  const std::vector<KeyRange> tiles = all_tiles(tiling, seq_kv);
  expect_covers_once_in_order(tiles, {0, seq_kv});
  std::vector<KeyRange> split_by_split;
  for (const KeyRange split : split_ranges(tiling, seq_kv))
    for (const KeyRange tile : tile_ranges(split, tiling.tile_kv)) split_by_split.push_back(tile);
  ASSERT_EQ(tiles, split_by_split);
}

TEST(AllTiles, CoverEveryKeyOnceAndNeverCrossASplit) {
  for (Index tile_kv = 1; tile_kv <= 9; ++tile_kv) {
    for (Index seq_kv = 0; seq_kv <= 18; ++seq_kv)
      for (Index count = 1; count <= 20; ++count) {
        expect_all_tiles_are_the_tiles_of_the_splits(tiling_of(count, tile_kv), seq_kv);
        if (HasFatalFailure()) return;
      }
    for (Index seq_kv = 0; seq_kv <= 6; ++seq_kv)
      for (const std::vector<Index>& cuts : cut_lists(seq_kv, 3)) {
        expect_all_tiles_are_the_tiles_of_the_splits(tiling_with_cuts(cuts, tile_kv), seq_kv);
        if (HasFatalFailure()) return;
      }
  }
}

TEST(AllTiles, KeepTheEmptyTileOfAnEmptySplit) {
  EXPECT_THAT(all_tiles(tiling_with_cuts({2, 2}, 2), 5),
              ElementsAre(KeyRange{0, 2}, KeyRange{2, 2}, KeyRange{2, 4}, KeyRange{4, 5}));
}

std::string refusal(const Status& status) {
  return status.code() == StatusCode::invalid_argument ? status.message() : "not refused";
}

TEST(TilingValidation, RefusesTilesBelowOne) {
  const std::string message = "tiles must be at least 1";
  for (const Index bad : {Index{0}, Index{-1}, std::numeric_limits<Index>::min()}) {
    Tiling tiling;
    tiling.tile_q = bad;
    EXPECT_EQ(refusal(validate(tiling, 4)), message);
    tiling = Tiling{};
    tiling.tile_kv = bad;
    EXPECT_EQ(refusal(validate(tiling, 4)), message);
  }
}

TEST(TilingValidation, RefusesASplitCountOutsideOfItsRange) {
  const std::string message = "the number of kv splits must be in [1, 1048576]";
  for (const Index bad : {Index{0}, Index{-1}, KvSplits::max_count + 1, kLargestIndex})
    EXPECT_EQ(refusal(validate(tiling_of(bad, 1), 4)), message);
  EXPECT_EQ(refusal(validate(tiling_of(KvSplits::max_count, 1), 4)), "not refused");
}

TEST(TilingValidation, RefusesCutsThatFallOrLeaveTheKeys) {
  const std::string message = "kv split cuts must be non-decreasing and within [0, 4]";
  EXPECT_EQ(refusal(validate(tiling_with_cuts({2, 1}, 1), 4)), message);
  EXPECT_EQ(refusal(validate(tiling_with_cuts({-1}, 1), 4)), message);
  EXPECT_EQ(refusal(validate(tiling_with_cuts({1, 5}, 1), 4)), message);
  EXPECT_EQ(refusal(validate(tiling_with_cuts({0, 0, 4, 4}, 1), 4)), "not refused");
}

TEST(TilingValidation, DoesNotReadTheCountBesideCuts) {
  Tiling tiling = tiling_with_cuts({1}, 1);
  tiling.splits.count = 0;
  EXPECT_EQ(refusal(validate(tiling, 4)), "not refused");
}

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
