#include "properties/every_tiling.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "attest/problem_text.hpp"

namespace attest::properties {
namespace {

std::set<std::string> texts_of(const std::vector<Tiling>& tilings, Index seq_kv) {
  std::set<std::string> texts;
  for (const Tiling& tiling : tilings) {
    ProblemText text;
    text.problem.seq_kv = seq_kv;
    text.tiling = tiling;
    texts.insert(minimal_text(text));
  }
  return texts;
}

TEST(EveryTiling, TreesAreValidDifferAndAreAsManyAsThereAre) {
  const std::size_t expected[] = {1, 2, 12, 120};  // n! Catalan(n - 1)
  for (Index leaves = 1; leaves <= 4; ++leaves) {
    const std::vector<MergeTree> trees = every_merge_tree(leaves);
    EXPECT_EQ(trees.size(), expected[leaves - 1]);
    std::set<std::vector<Index>> seen;
    for (const MergeTree& tree : trees) {
      EXPECT_TRUE(validate(tree, leaves).ok());
      EXPECT_TRUE(seen.insert(tree.steps).second);
    }
  }
}

TEST(EveryTiling, OfOneKeyIsOne) {
  EXPECT_EQ(every_tiling({}, SummaryScope::tile, 1).size(), 1U);
  EXPECT_EQ(every_tiling({}, SummaryScope::split, 1).size(), 1U);
}

TEST(EveryTiling, OfTwoKeysIsThatOfAListMadeByHand) {
  // One split with tile 2; with tile 1 (two summaries only for a kernel that merges tiles);
  // a cut before, between and behind the keys, merged from the left or from the right.
  EXPECT_EQ(texts_of(every_tiling({}, SummaryScope::split, 2), 2),
            (std::set<std::string>{"1x1:1x2:1 f32 tile=1x2", "1x1:1x2:1 f32 tile=1",
                                   "1x1:1x2:1 f32 tile=1x2 split=at:0 merge=tree:0.1.+",
                                   "1x1:1x2:1 f32 tile=1x2 split=at:0 merge=tree:1.0.+",
                                   "1x1:1x2:1 f32 tile=1 split=at:0 merge=tree:0.1.+",
                                   "1x1:1x2:1 f32 tile=1 split=at:0 merge=tree:1.0.+",
                                   "1x1:1x2:1 f32 tile=1x2 split=at:1 merge=tree:0.1.+",
                                   "1x1:1x2:1 f32 tile=1x2 split=at:1 merge=tree:1.0.+",
                                   "1x1:1x2:1 f32 tile=1x2 split=at:2 merge=tree:0.1.+",
                                   "1x1:1x2:1 f32 tile=1x2 split=at:2 merge=tree:1.0.+",
                                   "1x1:1x2:1 f32 tile=1 split=at:2 merge=tree:0.1.+",
                                   "1x1:1x2:1 f32 tile=1 split=at:2 merge=tree:1.0.+"}));
  EXPECT_EQ(
      texts_of(every_tiling({}, SummaryScope::tile, 2), 2),
      (std::set<std::string>{"1x1:1x2:1 f32 tile=1x2", "1x1:1x2:1 f32 tile=1 merge=tree:0.1.+",
                             "1x1:1x2:1 f32 tile=1 merge=tree:1.0.+",
                             "1x1:1x2:1 f32 tile=1x2 split=at:0 merge=tree:0.1.+",
                             "1x1:1x2:1 f32 tile=1x2 split=at:0 merge=tree:1.0.+",
                             "1x1:1x2:1 f32 tile=1x2 split=at:1 merge=tree:0.1.+",
                             "1x1:1x2:1 f32 tile=1x2 split=at:1 merge=tree:1.0.+",
                             "1x1:1x2:1 f32 tile=1x2 split=at:2 merge=tree:0.1.+",
                             "1x1:1x2:1 f32 tile=1x2 split=at:2 merge=tree:1.0.+"}));
}

TEST(EveryTiling, OfThreeKeysHasEveryTreeOverEveryPartition) {
  for (const SummaryScope scope : {SummaryScope::tile, SummaryScope::split}) {
    const std::vector<Tiling> tilings = every_tiling({}, scope, 3);
    EXPECT_EQ(texts_of(tilings, 3).size(), tilings.size()) << "one stands twice";
    std::set<std::vector<Index>> trees_of_single_keys;
    for (const Tiling& tiling : tilings) {
      EXPECT_TRUE(validate(tiling, 3).ok());
      const auto leaves =
          static_cast<Index>(scope == SummaryScope::tile ? all_tiles(tiling, 3).size()
                                                         : split_ranges(tiling, 3).size());
      EXPECT_TRUE(make_merge_tree(tiling.merge, leaves).ok());
      if (tiling.splits.cuts == std::vector<Index>{1, 2})
        trees_of_single_keys.insert(tiling.merge.tree.steps);
    }
    EXPECT_EQ(trees_of_single_keys.size(), 12U);
  }
}

TEST(EveryTiling, DoesNotVaryWhatAKernelDoesNotOffer) {
  EXPECT_EQ(
      every_tiling({.dtypes = {}, .tiles = false, .kv_splits = false}, SummaryScope::row, 3).size(),
      1U);
  const auto tiles_only =
      every_tiling({.dtypes = {}, .tiles = true, .kv_splits = false}, SummaryScope::split, 3);
  EXPECT_EQ(tiles_only.size(), 3U);
}

}  // namespace
}  // namespace attest::properties
