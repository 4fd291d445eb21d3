#include <algorithm>
#include <limits>

#include "attest/accuracy.hpp"

namespace attest {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Interval that holds the computed maximum of a set of scores; empty set: nothing computed.
struct MaxRange {
  double lower = -kInfinity;
  double upper = -kInfinity;

  bool empty() const { return upper == -kInfinity; }
  void include(const ScoredKey& key) {
    lower = std::max(lower, key.score - key.score_error);
    upper = std::max(upper, key.score + key.score_error);
  }
  void include(const MaxRange& other) {
    lower = std::max(lower, other.lower);
    upper = std::max(upper, other.upper);
  }
  /// A set with this maximum may have to be rescaled when it meets one with maximum `other`.
  bool may_rise_to(const MaxRange& other) const { return !empty() && other.upper > lower; }
};

struct Unit {
  std::size_t first = 0;  ///< positions in the list of keys
  std::size_t last = 0;
  MaxRange max;
};

std::vector<KeyRange> unit_ranges(SummaryScope scope, const Tiling& tiling, Index seq_kv) {
  switch (scope) {
    case SummaryScope::row:
      break;
    case SummaryScope::split:
      return split_ranges(tiling, seq_kv);
    case SummaryScope::tile:
      return all_tiles(tiling, seq_kv);
  }
  return {{0, seq_kv}};
}

/// One running summary over the keys of `range`, tile by tile.
Unit count_within_unit(KeyRange range, Index tile_kv, const std::vector<ScoredKey>& keys,
                       std::size_t first, std::vector<PathCounts>& counts) {
  Unit unit{first, first, {}};
  std::vector<std::size_t> raised_at;  // first key position of each tile that may raise the maximum
  for (const KeyRange tile : tile_ranges(range, tile_kv)) {
    MaxRange tile_max;
    const std::size_t tile_first = unit.last;
    while (unit.last < keys.size() && keys[unit.last].key < tile.end)
      tile_max.include(keys[unit.last++]);
    if (unit.max.may_rise_to(tile_max)) raised_at.push_back(tile_first);
    unit.max.include(tile_max);
  }
  auto next_raise = raised_at.begin();
  for (std::size_t j = unit.first; j < unit.last; ++j) {
    while (next_raise != raised_at.end() && *next_raise <= j) ++next_raise;
    counts[j].additions += static_cast<Index>(unit.last - j);
    counts[j].rescales += raised_at.end() - next_raise;
  }
  return unit;
}

struct Node {
  MaxRange max;
  std::size_t left = 0;
  std::size_t right = 0;
  Index unit = -1;  ///< of a leaf
  PathCounts above;
};

std::vector<Node> build_nodes(const MergeTree& tree, const std::vector<Unit>& units) {
  std::vector<Node> nodes;
  std::vector<std::size_t> stack;
  for (const Index step : tree.steps) {
    Node node;
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

void descend(const Node& parent, Node& child, const Node& sibling) {
  child.above = parent.above;
  if (sibling.max.empty()) return;  // the identity on the other side rounds nothing
  ++child.above.additions;
  if (child.max.may_rise_to(sibling.max)) ++child.above.rescales;
}

}  // namespace

std::vector<PathCounts> count_paths(const DeclaredAccuracy& accuracy, const Tiling& tiling,
                                    Index seq_kv, const std::vector<ScoredKey>& keys) {
  const SummaryScope scope = accuracy.scope;
  std::vector<PathCounts> counts(keys.size());
  // Below scope `split` a unit has one tile, so its maximum is known before the first weight.
  const Index tile_kv =
      scope == SummaryScope::split ? tiling.tile_kv : std::numeric_limits<Index>::max();
  std::vector<Unit> units;
  std::size_t position = 0;
  for (const KeyRange range : unit_ranges(scope, tiling, seq_kv)) {
    units.push_back(count_within_unit(range, tile_kv, keys, position, counts));
    position = units.back().last;
    if (accuracy.ordered_sums) continue;
    for (std::size_t j = units.back().first; j < units.back().last; ++j)
      counts[j].additions = static_cast<Index>(units.back().last - units.back().first);
  }
  if (units.size() < 2) return counts;

  const Result<MergeTree> tree = make_merge_tree(tiling.merge, static_cast<Index>(units.size()));
  if (!tree.ok()) return counts;
  std::vector<Node> nodes = build_nodes(tree.value(), units);
  for (std::size_t at = nodes.size(); at-- > 0;) {
    Node& node = nodes[at];
    if (node.unit < 0) {
      descend(node, nodes[node.left], nodes[node.right]);
      descend(node, nodes[node.right], nodes[node.left]);
      continue;
    }
    const Unit& unit = units[static_cast<std::size_t>(node.unit)];
    for (std::size_t j = unit.first; j < unit.last; ++j) {
      counts[j].additions += node.above.additions;
      counts[j].rescales += node.above.rescales;
    }
  }
  return counts;
}

}  // namespace attest
