#include "kernels/canonical_plan.hpp"

#include <algorithm>
#include <bit>
#include <iterator>

namespace attest::kernels {
namespace {

constexpr std::int32_t kIdentity = -2;

struct Node {
  Index level = 0;
  Index index = 0;
  std::int32_t place = kIdentity;

  Index first_leaf() const { return index << level; }
  bool is_left_sibling_of(const Node& other) const {
    return level == other.level && index % 2 == 0 && index + 1 == other.index;
  }
};

/// Ascending, without siblings.
using Nodes = std::vector<Node>;

class Planner {
 public:
  explicit Planner(const EmptyLeaf& is_empty) : is_empty_(is_empty) {}

  Nodes summarise(const KeyRange& leaves) {
    Nodes nodes;
    for (Index leaf = leaves.begin; leaf < leaves.end; ++leaf) {
      Node node{0, leaf, kIdentity};
      if (!is_empty_(leaf)) {
        node.place = merges_at_once(nodes, node) ? CanonicalStep::passing : take();
        plan_.steps.push_back({leaf, node.place, 0});
      }
      append(nodes, node);
    }
    return nodes;
  }
  Nodes join(const Nodes& left, const Nodes& right) {
    Nodes ascending;
    std::merge(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(ascending),
               [](const Node& a, const Node& b) { return a.first_leaf() < b.first_leaf(); });
    Nodes nodes;
    for (const Node& node : ascending) append(nodes, node);
    return nodes;
  }
  /// What is left of a row that does not end with a whole tree: from the right to the left, as if
  /// the missing siblings were empty.
  CanonicalPlan finish(const Nodes& nodes) {
    std::int32_t place = kIdentity;
    for (auto node = nodes.rbegin(); node != nodes.rend(); ++node)
      place = merged(node->place, place);
    if (place != kIdentity) plan_.root = place;
    return std::move(plan_);
  }

 private:
  /// Whether the first node that a new leaf meets on its way up is a summary to its left.
  static bool merges_at_once(const Nodes& nodes, Node node) {
    for (auto left = nodes.rbegin(); left != nodes.rend() && left->is_left_sibling_of(node);
         ++left) {
      if (left->place != kIdentity) return true;
      node = {node.level + 1, node.index / 2, node.place};
    }
    return false;
  }
  void append(Nodes& nodes, Node node) {
    while (!nodes.empty() && nodes.back().is_left_sibling_of(node)) {
      node = {node.level + 1, node.index / 2, merged(nodes.back().place, node.place)};
      nodes.pop_back();
    }
    nodes.push_back(node);
  }
  std::int32_t merged(std::int32_t left, std::int32_t right) {
    if (right == kIdentity) return left;
    if (left == kIdentity) return right;
    plan_.steps.push_back({CanonicalStep::merge, left, right});
    if (right != CanonicalStep::passing) free_.push_back(right);
    return left;
  }
  std::int32_t take() {
    if (free_.empty()) return static_cast<std::int32_t>(plan_.places++);
    const std::int32_t place = free_.back();
    free_.pop_back();
    return place;
  }

  const EmptyLeaf& is_empty_;
  CanonicalPlan plan_;
  std::vector<std::int32_t> free_;
};

/// Leaves [begin, end) in postfix form, cut at the largest power of two below their number: begin
/// is a multiple of it.
void append_canonical(Index begin, Index end, MergeTree& tree) {
  if (end - begin == 1) return tree.steps.push_back(begin);
  const auto count = static_cast<std::uint64_t>(end - begin);
  const Index middle = begin + static_cast<Index>(std::bit_ceil(count) / 2);
  append_canonical(begin, middle, tree);
  append_canonical(middle, end, tree);
  tree.steps.push_back(MergeTree::merge);
}

Index leaves_of(Index seq_kv, Index leaf) {
  return (seq_kv + leaf - 1) / leaf;
}

}  // namespace

CanonicalPlan canonical_plan(const Tiling& tiling, const MergeTree& tree, Index seq_kv, Index leaf,
                             const EmptyLeaf& is_empty) {
  const std::vector<KeyRange> splits = split_ranges(tiling, seq_kv);
  const auto moved = [&](Index cut) {
    return cut == seq_kv ? leaves_of(seq_kv, leaf) : cut / leaf;
  };
  Planner planner(is_empty);
  const Nodes nodes = evaluate(
      tree,
      [&](Index split) {
        const KeyRange& keys = splits[static_cast<std::size_t>(split)];
        return planner.summarise({moved(keys.begin), moved(keys.end)});
      },
      [&](const Nodes& left, const Nodes& right) { return planner.join(left, right); });
  return planner.finish(nodes);
}

Tiling canonical_tiling(Index seq_kv, Index leaf) {
  Tiling tiling;
  tiling.tile_kv = leaf;
  tiling.merge.kind = MergeOrder::Kind::explicit_tree;
  append_canonical(0, std::max<Index>(1, leaves_of(seq_kv, leaf)), tiling.merge.tree);
  return tiling;
}

}  // namespace attest::kernels
