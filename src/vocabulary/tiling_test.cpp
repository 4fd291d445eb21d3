// The ranges of keys that a tiling gives, and the tilings that are refused.
#include "attest/tiling.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "test_refusal.hpp"

namespace attest {
namespace {

using ::testing::ElementsAre;

constexpr Index kLargestIndex = std::numeric_limits<Index>::max();

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

}  // namespace
}  // namespace attest
