#include "attest/tiling.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "attest/random.hpp"

namespace attest {
namespace {

MergeTree left_chain(Index leaves) {
  MergeTree tree;
  for (Index leaf = 0; leaf < leaves; ++leaf) {
    tree.steps.push_back(leaf);
    if (leaf > 0) tree.steps.push_back(MergeTree::merge);
  }
  return tree;
}

MergeTree right_chain(Index leaves) {
  MergeTree tree;
  tree.steps.resize(static_cast<std::size_t>(leaves));
  std::iota(tree.steps.begin(), tree.steps.end(), Index{0});
  tree.steps.insert(tree.steps.end(), static_cast<std::size_t>(leaves > 0 ? leaves - 1 : 0),
                    MergeTree::merge);
  return tree;
}

void append_balanced(Index begin, Index end, MergeTree& tree) {
  if (end - begin == 1) {
    tree.steps.push_back(begin);
    return;
  }
  const Index middle = begin + (end - begin + 1) / 2;
  append_balanced(begin, middle, tree);
  append_balanced(middle, end, tree);
  tree.steps.push_back(MergeTree::merge);
}

MergeTree random_tree(Index leaves, std::uint64_t seed) {
  SplitMix64 random(seed);
  std::vector<MergeTree> forest;
  forest.reserve(static_cast<std::size_t>(leaves));
  for (Index leaf = 0; leaf < leaves; ++leaf) forest.push_back({{leaf}});
  const auto take_any = [&] {
    std::swap(forest[random.below(forest.size())], forest.back());
    MergeTree taken = std::move(forest.back());
    forest.pop_back();
    return taken;
  };
  while (forest.size() > 1) {
    MergeTree joined = take_any();
    const MergeTree right = take_any();
    joined.steps.insert(joined.steps.end(), right.steps.begin(), right.steps.end());
    joined.steps.push_back(MergeTree::merge);
    forest.push_back(std::move(joined));
  }
  return forest.empty() ? MergeTree{} : std::move(forest.front());
}

}  // namespace

Status validate(const MergeTree& tree, Index leaves) {
  std::vector<bool> seen(static_cast<std::size_t>(leaves));
  Index depth = 0;
  for (const Index step : tree.steps) {
    if (step == MergeTree::merge) {
      if (depth < 2) return invalid_argument("merge tree joins fewer than two subtrees");
      --depth;
      continue;
    }
    if (step < 0 || step >= leaves)
      return invalid_argument("merge tree names leaf " + std::to_string(step) +
                              ", the tiling has " + std::to_string(leaves));
    if (seen[static_cast<std::size_t>(step)])
      return invalid_argument("merge tree names leaf " + std::to_string(step) + " twice");
    seen[static_cast<std::size_t>(step)] = true;
    ++depth;
  }
  if (std::find(seen.begin(), seen.end(), false) != seen.end() || depth > 1)
    return invalid_argument("merge tree does not join all " + std::to_string(leaves) +
                            " leaves into one");
  return {};
}

Status validate(const Tiling& tiling, Index seq_kv) {
  if (tiling.tile_q < 1 || tiling.tile_kv < 1) return invalid_argument("tiles must be at least 1");
  if (tiling.splits.cuts.empty() &&
      (tiling.splits.count < 1 || tiling.splits.count > KvSplits::max_count))
    return invalid_argument("the number of kv splits must be in [1, " +
                            std::to_string(KvSplits::max_count) + "]");
  Index previous = 0;
  for (const Index cut : tiling.splits.cuts) {
    if (cut < previous || cut > seq_kv)
      return invalid_argument("kv split cuts must be non-decreasing and within [0, " +
                              std::to_string(seq_kv) + "]");
    previous = cut;
  }
  return {};
}

std::vector<KeyRange> split_ranges(const Tiling& tiling, Index seq_kv) {
  std::vector<KeyRange> ranges;
  if (!tiling.splits.cuts.empty()) {
    Index begin = 0;
    for (const Index cut : tiling.splits.cuts) {
      ranges.push_back({begin, cut});
      begin = cut;
    }
    ranges.push_back({begin, seq_kv});
    return ranges;
  }
  const Index count = tiling.splits.count;
  const Index length = seq_kv / count + (seq_kv % count != 0 ? 1 : 0);
  for (Index begin = 0; static_cast<Index>(ranges.size()) < count; begin += length)
    ranges.push_back({std::min(begin, seq_kv), std::min(begin + length, seq_kv)});
  return ranges;
}

std::vector<KeyRange> tile_ranges(KeyRange range, Index tile_kv) {
  std::vector<KeyRange> tiles;
  Index begin = range.begin;
  do {
    const Index end = range.end - begin > tile_kv ? begin + tile_kv : range.end;
    tiles.push_back({begin, end});
    begin = end;
  } while (begin < range.end);
  return tiles;
}

std::vector<KeyRange> all_tiles(const Tiling& tiling, Index seq_kv) {
  std::vector<KeyRange> tiles;
  for (const KeyRange split : split_ranges(tiling, seq_kv)) {
    const std::vector<KeyRange> in_split = tile_ranges(split, tiling.tile_kv);
    tiles.insert(tiles.end(), in_split.begin(), in_split.end());
  }
  return tiles;
}

Result<MergeTree> make_merge_tree(const MergeOrder& order, Index leaves) {
  switch (order.kind) {
    case MergeOrder::Kind::left:
      return left_chain(leaves);
    case MergeOrder::Kind::right:
      return right_chain(leaves);
    case MergeOrder::Kind::random:
      return random_tree(leaves, order.seed);
    case MergeOrder::Kind::balanced: {
      MergeTree tree;
      if (leaves > 0) append_balanced(0, leaves, tree);
      return tree;
    }
    case MergeOrder::Kind::explicit_tree:
      break;
  }
  if (Status status = validate(order.tree, leaves); !status.ok()) return status;
  return order.tree;
}

}  // namespace attest
