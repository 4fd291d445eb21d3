#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "attest/accuracy.hpp"
#include "attest/random.hpp"

namespace attest {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

/// One row of keys under one tiling. Scores are whole numbers, so that sums of them are exact.
struct Row {
  DeclaredAccuracy accuracy;
  Tiling tiling;
  Index seq_kv = 0;
  std::vector<ScoredKey> keys;
};

std::vector<PathCounts> counted(const Row& row) {
  return count_paths(row.accuracy, row.tiling, row.seq_kv, row.keys);
}

/// A summary that holds, instead of sums, the positions of the keys that it took in.
struct TracedSummary {
  double row_max = kMinusInfinity;
  std::vector<std::size_t> members;

  bool empty() const { return members.empty(); }
};

/// Walks the algorithm and notes what happens to every key's contribution.
class Simulation {
 public:
  explicit Simulation(const Row& row) : row_(row), counts_(row.keys.size()) {}

  /// `random` chooses the order of the additions inside a tile, if the sums are not ordered.
  std::vector<PathCounts> run(SplitMix64& random) {
    std::vector<TracedSummary> units;
    switch (row_.accuracy.scope) {
      case SummaryScope::row:
      case SummaryScope::any:
        units.push_back(unit_of({{0, row_.seq_kv}}, random));
        break;
      case SummaryScope::split:
        for (const KeyRange split : split_ranges(row_.tiling, row_.seq_kv))
          units.push_back(unit_of(tile_ranges(split, row_.tiling.tile_kv), random));
        break;
      case SummaryScope::tile:
        for (const KeyRange tile : all_tiles(row_.tiling, row_.seq_kv))
          units.push_back(unit_of({tile}, random));
        break;
    }
    if (row_.accuracy.scope == SummaryScope::row) return counts_;
    const auto leaves = static_cast<Index>(units.size());
    const MergeTree tree = make_merge_tree(row_.tiling.merge, leaves).value();
    evaluate(
        tree, [&](Index leaf) { return units[static_cast<std::size_t>(leaf)]; },
        [&](TracedSummary left, TracedSummary right) {
          return merged(std::move(left), std::move(right));
        });
    return counts_;
  }

 private:
  void raise(const TracedSummary& summary, double row_max) {
    if (summary.empty() || summary.row_max == row_max) return;
    for (const std::size_t member : summary.members) ++counts_[member].rescales;
  }
  void note_addition(const TracedSummary& summary) {
    for (const std::size_t member : summary.members) ++counts_[member].additions;
  }

  TracedSummary unit_of(const std::vector<KeyRange>& tiles, SplitMix64& random) {
    TracedSummary running;
    for (const KeyRange tile : tiles) {
      std::vector<std::size_t> inside;
      double tile_max = kMinusInfinity;
      for (std::size_t j = 0; j < row_.keys.size(); ++j) {
        if (row_.keys[j].key < tile.begin || row_.keys[j].key >= tile.end) continue;
        inside.push_back(j);
        tile_max = std::max(tile_max, row_.keys[j].score);
      }
      if (inside.empty()) continue;
      const double row_max = std::max(running.row_max, tile_max);
      raise(running, row_max);
      running.row_max = row_max;
      if (!row_.accuracy.ordered_sums)
        for (std::size_t left = inside.size(); left > 1; --left)
          std::swap(inside[left - 1], inside[random.below(left)]);
      for (const std::size_t key : inside) {
        running.members.push_back(key);
        note_addition(running);
      }
    }
    return running;
  }

  TracedSummary merged(TracedSummary left, TracedSummary right) {
    if (left.empty()) return right;
    if (right.empty()) return left;
    const double row_max = std::max(left.row_max, right.row_max);
    raise(left, row_max);
    raise(right, row_max);
    left.row_max = row_max;
    left.members.insert(left.members.end(), right.members.begin(), right.members.end());
    note_addition(left);
    return left;
  }

  const Row& row_;
  std::vector<PathCounts> counts_;
};

std::string described(const Row& row) {
  std::string text = "scope " + std::to_string(static_cast<int>(row.accuracy.scope)) +
                     ", ordered " + std::to_string(row.accuracy.ordered_sums) + ", seq_kv " +
                     std::to_string(row.seq_kv) + ", tile " + std::to_string(row.tiling.tile_kv) +
                     ", splits " + std::to_string(row.tiling.splits.count) + ", cuts";
  for (const Index cut : row.tiling.splits.cuts) text += " " + std::to_string(cut);
  text += ", merge " + std::to_string(static_cast<int>(row.tiling.merge.kind)) + ":" +
          std::to_string(row.tiling.merge.seed) + ", keys";
  for (const ScoredKey& key : row.keys)
    text += " " + std::to_string(key.key) + ":" + std::to_string(key.score) + "+-" +
            std::to_string(key.score_error);
  return text;
}

Index between(SplitMix64& random, Index low, Index high) {
  return low + static_cast<Index>(random.below(static_cast<std::uint64_t>(high - low + 1)));
}

/// Few distinct scores, so that equal maxima are common; some rows see no key at all.
Row random_row(SplitMix64& random) {
  Row row;
  row.accuracy.scope = static_cast<SummaryScope>(random.below(3));
  row.seq_kv = between(random, 0, 24);
  row.tiling.tile_kv = between(random, 1, 9);
  row.tiling.splits.count = between(random, 1, 8);
  if (random.below(2) == 0) {
    Index cut = 0;
    for (Index left = between(random, 1, 5); left > 0; --left)
      row.tiling.splits.cuts.push_back(cut = between(random, cut, row.seq_kv));
  }
  MergeOrder& merge = row.tiling.merge;
  merge.kind = static_cast<MergeOrder::Kind>(random.below(5));
  merge.seed = random.next();
  if (merge.kind == MergeOrder::Kind::explicit_tree) {
    const std::size_t leaves = row.accuracy.scope == SummaryScope::tile
                                   ? all_tiles(row.tiling, row.seq_kv).size()
                                   : split_ranges(row.tiling, row.seq_kv).size();
    merge.tree =
        make_merge_tree({MergeOrder::Kind::random, merge.seed, {}}, static_cast<Index>(leaves))
            .value();
  }
  const std::uint64_t hidden_of_eight = random.below(9);
  const Index scores = between(random, 0, 6);
  for (Index key = 0; key < row.seq_kv; ++key)
    if (random.below(8) >= hidden_of_eight)
      row.keys.push_back({key, static_cast<double>(between(random, -scores, scores)), 0});
  return row;
}

bool equal(const PathCounts& left, const PathCounts& right) {
  return left.additions == right.additions && left.rescales == right.rescales;
}
bool at_least(const PathCounts& left, const PathCounts& right) {
  return left.additions >= right.additions && left.rescales >= right.rescales;
}

bool all_equal(const std::vector<PathCounts>& left, const std::vector<PathCounts>& right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(), equal);
}
bool all_at_least(const std::vector<PathCounts>& left, const std::vector<PathCounts>& right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(), at_least);
}

TEST(CountPaths, EqualsTheWalkedAlgorithmForExactScores) {
  SplitMix64 random(21);
  for (int i = 0; i < 20000; ++i) {
    const Row row = random_row(random);
    ASSERT_TRUE(all_equal(counted(row), Simulation(row).run(random))) << described(row);
  }
}

TEST(CountPaths, OfUnorderedSumsCoverEveryOrderOfTheAdditions) {
  SplitMix64 random(22);
  for (int i = 0; i < 10000; ++i) {
    Row row = random_row(random);
    row.accuracy.ordered_sums = false;
    ASSERT_TRUE(all_at_least(counted(row), Simulation(row).run(random))) << described(row);
  }
}

TEST(CountPaths, OfUnorderedSumsAreNeverFewerThanOfOrderedOnes) {
  SplitMix64 random(23);
  for (int i = 0; i < 5000; ++i) {
    Row row = random_row(random);
    const std::vector<PathCounts> ordered = counted(row);
    row.accuracy.ordered_sums = false;
    ASSERT_TRUE(all_at_least(counted(row), ordered)) << described(row);
  }
}

TEST(CountPaths, NeverDecreaseWithTheScoreErrors) {
  SplitMix64 random(24);
  for (int i = 0; i < 5000; ++i) {
    Row row = random_row(random);
    std::vector<PathCounts> before = counted(row);
    for (int step = 0; step < 4; ++step) {
      for (ScoredKey& key : row.keys) key.score_error += static_cast<double>(random.below(3));
      const std::vector<PathCounts> after = counted(row);
      ASSERT_TRUE(all_at_least(after, before)) << described(row);
      before = after;
    }
  }
}

TEST(CountPaths, CoverEveryKernelWhoseScoresLieWithinTheirErrors) {
  SplitMix64 random(25);
  for (int i = 0; i < 20000; ++i) {
    Row row = random_row(random);
    for (ScoredKey& key : row.keys) key.score_error = static_cast<double>(random.below(3));
    const std::vector<PathCounts> bound = counted(row);
    Row computed = row;
    for (ScoredKey& key : computed.keys) {
      const auto error = static_cast<Index>(key.score_error);
      key.score += static_cast<double>(between(random, -error, error));
    }
    ASSERT_TRUE(all_at_least(bound, Simulation(computed).run(random))) << described(row);
  }
}

TEST(CountPaths, WithoutAStatedOrderCoverEveryKernel) {
  SplitMix64 random(27);
  for (int i = 0; i < 20000; ++i) {
    Row row = random_row(random);
    row.accuracy.ordered_sums = random.below(2) == 0;
    for (ScoredKey& key : row.keys) key.score_error = static_cast<double>(random.below(3));
    Row unsaid = row;
    unsaid.accuracy.scope = SummaryScope::any;
    unsaid.tiling = {};
    Row computed = row;
    for (ScoredKey& key : computed.keys) {
      const auto error = static_cast<Index>(key.score_error);
      key.score += static_cast<double>(between(random, -error, error));
    }
    ASSERT_TRUE(all_at_least(counted(unsaid), Simulation(computed).run(random))) << described(row);
  }
}

TEST(CountPaths, GiveOneEntryForEveryVisibleKey) {
  SplitMix64 random(26);
  for (int i = 0; i < 1000; ++i) {
    const Row row = random_row(random);
    ASSERT_EQ(counted(row).size(), row.keys.size());
  }
  EXPECT_TRUE(counted(Row{}).empty());
}

/// Counts as "additions/rescales" for each key.
std::string written(const std::vector<PathCounts>& counts) {
  std::string text;
  for (const PathCounts& count : counts)
    text += (text.empty() ? "" : " ") + std::to_string(count.additions) + "/" +
            std::to_string(count.rescales);
  return text;
}

Row row_of(SummaryScope scope, Index tile_kv, Index splits, const std::vector<double>& scores) {
  Row row;
  row.accuracy.scope = scope;
  row.tiling.tile_kv = tile_kv;
  row.tiling.splits.count = splits;
  row.seq_kv = static_cast<Index>(scores.size());
  for (const double score : scores)
    row.keys.push_back({static_cast<Index>(row.keys.size()), score, 0});
  return row;
}

TEST(CountPaths, OfAWholeRowAreAdditionsOnly) {
  EXPECT_EQ(written(counted(row_of(SummaryScope::row, 1, 4, {1, 2, 3, 4}))), "4/0 3/0 2/0 1/0");
}

TEST(CountPaths, OfARunningSummaryCountOneRescaleForEveryLaterRise) {
  EXPECT_EQ(written(counted(row_of(SummaryScope::split, 1, 1, {1, 2, 2, 3}))), "4/2 3/1 2/1 1/0");
  EXPECT_EQ(written(counted(row_of(SummaryScope::split, 2, 1, {1, 2, 2, 3}))), "4/1 3/1 2/0 1/0");
  EXPECT_EQ(written(counted(row_of(SummaryScope::split, 1, 1, {4, 3, 2, 1}))), "4/0 3/0 2/0 1/0");
}

TEST(CountPaths, OfAMergeRescaleTheSideWithTheSmallerMaximum) {
  EXPECT_EQ(written(counted(row_of(SummaryScope::split, 9, 2, {1, 1, 5, 5}))), "3/1 2/1 3/0 2/0");
  EXPECT_EQ(written(counted(row_of(SummaryScope::split, 9, 2, {5, 5, 5, 5}))), "3/0 2/0 3/0 2/0");
  EXPECT_EQ(written(counted(row_of(SummaryScope::tile, 1, 1, {1, 2, 3}))), "3/2 3/1 2/0");
}

TEST(CountPaths, WithoutAStatedOrderRescaleAKeyForEveryLargerScore) {
  EXPECT_EQ(written(counted(row_of(SummaryScope::any, 1, 4, {1, 2, 2, 3}))), "4/3 4/1 4/1 4/0");
  Row row = row_of(SummaryScope::any, 1, 1, {2, 2});
  row.keys[1].score_error = 1;
  EXPECT_EQ(written(counted(row)), "2/1 2/1");
}

TEST(CountPaths, OfEqualScoresWithErrorsCountEveryRescaleThatIsPossible) {
  Row row = row_of(SummaryScope::tile, 1, 1, {2, 2});
  EXPECT_EQ(written(counted(row)), "2/0 2/0");
  row.keys[1].score_error = 1;
  EXPECT_EQ(written(counted(row)), "2/1 2/1");
}

Index number_of_tiles(const Row& row) {
  if (row.accuracy.scope == SummaryScope::row) return 1;
  return static_cast<Index>(all_tiles(row.tiling, row.seq_kv).size());
}

/// What is declared of a kernel whose order nobody knows.
Row in_any_order(Row row, Index keys_of_a_part) {
  row.accuracy.scope = SummaryScope::any;
  row.accuracy.keys_of_a_part = keys_of_a_part;
  return row;
}

TEST(CountPaths, InAnyOrderAreAtLeastThoseOfEveryOrder) {
  SplitMix64 random(27);
  for (int i = 0; i < 3000; ++i) {
    Row row = random_row(random);
    // So many keys are in a part that there are as many parts as the row has tiles.
    Index keys_of_a_part = std::max<Index>(row.seq_kv, 1);
    while (keys_of_a_part > 1 &&
           (row.seq_kv + keys_of_a_part - 1) / keys_of_a_part + 1 < number_of_tiles(row))
      --keys_of_a_part;
    const std::vector<PathCounts> bound = counted(in_any_order(row, keys_of_a_part));
    ASSERT_TRUE(all_at_least(bound, counted(row))) << described(row);
    // The same keys in the opposite order.
    Row turned = row;
    std::reverse(turned.keys.begin(), turned.keys.end());
    for (ScoredKey& key : turned.keys) key.key = row.seq_kv - 1 - key.key;
    std::vector<PathCounts> of_turned = counted(turned);
    std::reverse(of_turned.begin(), of_turned.end());
    ASSERT_TRUE(all_at_least(bound, of_turned)) << described(row);
  }
}

TEST(CountPaths, InAnyOrderCountLargerKeysAndOtherParts) {
  const Row row = row_of(SummaryScope::row, 1, 1, {3, 1, 2, 4});
  EXPECT_EQ(written(counted(in_any_order(row, 1))), "4/1 4/3 4/2 4/0");
  EXPECT_EQ(written(counted(in_any_order(row, 2))), "4/1 4/2 4/2 4/0");
  EXPECT_EQ(written(counted(in_any_order(row, 4))), "4/1 4/1 4/1 4/0");
}

}  // namespace
}  // namespace attest
