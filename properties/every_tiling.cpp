#include "properties/every_tiling.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <span>

namespace attest::properties {
namespace {

using Steps = std::vector<Index>;

/// All trees whose leaves stand in this order.
std::vector<Steps> trees_in_order(std::span<const Index> leaves) {
  if (leaves.size() == 1) return {{leaves.front()}};
  std::vector<Steps> trees;
  for (std::size_t left_size = 1; left_size < leaves.size(); ++left_size)
    for (const Steps& left : trees_in_order(leaves.first(left_size)))
      for (const Steps& right : trees_in_order(leaves.subspan(left_size))) {
        Steps& joined = trees.emplace_back(left);
        joined.insert(joined.end(), right.begin(), right.end());
        joined.push_back(MergeTree::merge);
      }
  return trees;
}

/// Appends every non-decreasing continuation of `cuts` by at most `more` cuts.
void append_cuts(Steps& cuts, Index more, Index seq_kv, std::vector<Steps>& all) {
  all.push_back(cuts);
  if (more == 0) return;
  for (Index cut = cuts.empty() ? 0 : cuts.back(); cut <= seq_kv; ++cut) {
    cuts.push_back(cut);
    append_cuts(cuts, more - 1, seq_kv, all);
    cuts.pop_back();
  }
}

/// Begin and end of every tile, split by split.
std::vector<std::vector<Index>> cut_keys(const Tiling& tiling, Index seq_kv) {
  std::vector<std::vector<Index>> splits;
  for (const KeyRange split : split_ranges(tiling, seq_kv)) {
    std::vector<Index>& bounds = splits.emplace_back();
    for (const KeyRange tile : tile_ranges(split, tiling.tile_kv)) {
      bounds.push_back(tile.begin);
      bounds.push_back(tile.end);
    }
  }
  return splits;
}

}  // namespace

std::vector<MergeTree> every_merge_tree(Index leaves) {
  Steps order(static_cast<std::size_t>(leaves));
  std::iota(order.begin(), order.end(), Index{0});
  std::vector<MergeTree> trees;
  do {
    for (Steps& steps : trees_in_order(order)) trees.push_back({std::move(steps)});
  } while (std::next_permutation(order.begin(), order.end()));
  return trees;
}

std::vector<Tiling> every_tiling(const Capabilities& capabilities, SummaryScope scope,
                                 Index seq_kv) {
  std::vector<Steps> all_cuts;
  Steps none;
  append_cuts(none, capabilities.kv_splits ? seq_kv - 1 : 0, seq_kv, all_cuts);
  std::set<std::vector<std::vector<Index>>> seen;
  std::vector<Tiling> tilings;
  for (const Steps& cuts : all_cuts)
    for (Index tile_kv = seq_kv; tile_kv >= (capabilities.tiles ? 1 : seq_kv); --tile_kv) {
      Tiling tiling{1, tile_kv, {1, cuts}, {}};
      if (!seen.insert(cut_keys(tiling, seq_kv)).second) continue;
      const std::size_t leaves = scope == SummaryScope::tile ? all_tiles(tiling, seq_kv).size()
                                                             : split_ranges(tiling, seq_kv).size();
      if (leaves > static_cast<std::size_t>(seq_kv)) continue;
      if (leaves == 1 || !capabilities.kv_splits) {
        tilings.push_back(tiling);
        continue;
      }
      for (MergeTree& tree : every_merge_tree(static_cast<Index>(leaves))) {
        tiling.merge = {MergeOrder::Kind::explicit_tree, 0, std::move(tree)};
        tilings.push_back(tiling);
      }
    }
  return tilings;
}

Tiling without_empty_splits(const Tiling& tiling, SummaryScope scope, Index seq_kv) {
  const std::vector<KeyRange> splits = split_ranges(tiling, seq_kv);
  const std::vector<KeyRange> units =
      scope == SummaryScope::tile ? all_tiles(tiling, seq_kv) : splits;
  const auto is_empty = [](const KeyRange& range) { return range.begin == range.end; };
  if (std::none_of(splits.begin(), splits.end(), is_empty)) return tiling;
  Tiling kept = tiling;
  kept.splits = {};
  for (const KeyRange& split : splits)
    if (!is_empty(split) && split.begin > 0) kept.splits.cuts.push_back(split.begin);
  if (tiling.merge.kind != MergeOrder::Kind::explicit_tree) return kept;
  // Leaves get the numbers that they have among those that are left.
  Steps number(units.size(), -1);
  Index next = 0;
  for (std::size_t unit = 0; unit < units.size(); ++unit)
    if (!is_empty(units[unit])) number[unit] = next++;
  std::vector<Steps> stack;
  for (const Index step : tiling.merge.tree.steps) {
    if (step != MergeTree::merge) {
      const Index leaf = number[static_cast<std::size_t>(step)];
      stack.push_back(leaf < 0 ? Steps{} : Steps{leaf});
      continue;
    }
    const Steps right = std::move(stack.back());
    stack.pop_back();
    Steps& left = stack.back();
    const bool joins = !left.empty() && !right.empty();
    left.insert(left.end(), right.begin(), right.end());
    if (joins) left.push_back(MergeTree::merge);
  }
  kept.merge = {};
  if (next > 1) kept.merge = {MergeOrder::Kind::explicit_tree, 0, {std::move(stack.front())}};
  return kept;
}

}  // namespace attest::properties
