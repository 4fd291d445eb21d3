#include "evaluation_order.hpp"

#include <algorithm>
#include <numbers>

namespace attest {
namespace {

/// One unit has nothing to merge, whatever the tiling says.
MergeOrder order_of_units(const Tiling& tiling, std::size_t units) {
  return units < 2 ? MergeOrder{} : tiling.merge;
}

const Tiling& tiling_of(const DeclaredAccuracy& accuracy, const Tiling& given) {
  return accuracy.own_tiling ? *accuracy.own_tiling : given;
}

std::vector<KeyRange> unit_ranges(SummaryScope scope, const Tiling& tiling, Index seq_kv) {
  switch (scope) {
    case SummaryScope::row:
    case SummaryScope::any:
      break;
    case SummaryScope::split:
      return split_ranges(tiling, seq_kv);
    case SummaryScope::tile:
      return all_tiles(tiling, seq_kv);
  }
  return {{0, seq_kv}};
}

/// One running summary over the keys of `range`, tile by tile.
UnitOrder walk_unit(KeyRange range, Index tile_kv, const std::vector<ScoredKey>& keys,
                    std::size_t first) {
  UnitOrder unit;
  unit.first = first;
  unit.last = first;
  for (const KeyRange tile : tile_ranges(range, tile_kv)) {
    MaxRange tile_max;
    const std::size_t tile_first = unit.last;
    while (unit.last < keys.size() && keys[unit.last].key < tile.end)
      tile_max.include(keys[unit.last++]);
    if (unit.max.may_rise_to(tile_max)) unit.raised_at.push_back(tile_first);
    unit.max.include(tile_max);
    unit.row_max_upper.resize(unit.last - unit.first, unit.max.upper);
  }
  return unit;
}

std::vector<MergeNode> merge_nodes(const MergeTree& tree, const std::vector<UnitOrder>& units) {
  std::vector<MergeNode> nodes;
  std::vector<std::size_t> stack;
  for (const Index step : tree.steps) {
    MergeNode node;
    if (step == MergeTree::merge) {
      node.right = stack.back();
      stack.pop_back();
      node.left = stack.back();
      stack.pop_back();
      node.max = nodes[node.left].max;
      node.max.include(nodes[node.right].max);
    } else {
      node.unit = step;
      node.max = units[static_cast<std::size_t>(step)].max;
    }
    stack.push_back(nodes.size());
    nodes.push_back(node);
  }
  return nodes;
}

}  // namespace

void MaxRange::include(const ScoredKey& key) {
  lower = std::max(lower, key.score - key.score_error);
  upper = std::max(upper, key.score + key.score_error);
}

void MaxRange::include(const MaxRange& other) {
  lower = std::max(lower, other.lower);
  upper = std::max(upper, other.upper);
}

bool merge_tree_fits(const DeclaredAccuracy& accuracy, const Tiling& given, Index seq_kv) {
  const Tiling& tiling = tiling_of(accuracy, given);
  if (tiling.merge.kind != MergeOrder::Kind::explicit_tree) return true;
  const std::size_t units = unit_ranges(accuracy.scope, tiling, seq_kv).size();
  return make_merge_tree(order_of_units(tiling, units), static_cast<Index>(units)).ok();
}

EvaluationOrder evaluation_order(const DeclaredAccuracy& accuracy, const Tiling& given,
                                 Index seq_kv, const std::vector<ScoredKey>& keys) {
  const Tiling& tiling = tiling_of(accuracy, given);
  EvaluationOrder order;
  order.lag = accuracy.lag_log2 * std::numbers::ln2 * (1 + 0x1p-40);
  // Beside scope `split` a unit has one tile: its maximum is known before the first weight.
  Index tile_kv = std::numeric_limits<Index>::max();
  if (accuracy.scope == SummaryScope::split) tile_kv = tiling.tile_kv;
  if (accuracy.longest_tile > 0) tile_kv = std::min(tile_kv, accuracy.longest_tile);
  std::size_t position = 0;
  for (const KeyRange range : unit_ranges(accuracy.scope, tiling, seq_kv)) {
    order.units.push_back(walk_unit(range, tile_kv, keys, position));
    position = order.units.back().last;
  }
  const std::size_t units = order.units.size();
  const Result<MergeTree> tree =
      make_merge_tree(order_of_units(tiling, units), static_cast<Index>(units));
  if (tree.ok()) order.nodes = merge_nodes(tree.value(), order.units);
  return order;
}

}  // namespace attest
