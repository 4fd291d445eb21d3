// How a problem is cut and in which order the parts are merged: never what is computed.
//
// A kv split is an independent, contiguous range of keys and may be empty. A split is cut into
// tiles of tile_kv keys. Ranges are over [0, seq_kv); a batch member with fewer keys sees the
// rest of them empty.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "attest/status.hpp"

namespace attest {

struct KeyRange {
  Index begin = 0;
  Index end = 0;
  friend bool operator==(const KeyRange&, const KeyRange&) = default;
};

/// A binary tree over numbered leaves in postfix form: a number >= 0 is a leaf, `merge` joins the
/// two subtrees before it, the earlier one on the left. No leaves: no steps.
struct MergeTree {
  static constexpr Index merge = -1;
  std::vector<Index> steps;

  friend bool operator==(const MergeTree&, const MergeTree&) = default;
};

/// Says why `tree` is not a binary tree that holds each of the leaves 0 .. leaves-1 once.
Status validate(const MergeTree& tree, Index leaves);

/// A rule that gives a merge tree for any number of leaves.
struct MergeOrder {
  enum class Kind {
    left,           ///< ((0 1) 2) 3
    right,          ///< 0 (1 (2 3))
    balanced,       ///< (0 1) (2 3)
    random,         ///< a random tree over a random permutation, a function of `seed`
    explicit_tree,  ///< `tree`, which must fit the number of leaves
  };
  Kind kind = Kind::left;
  std::uint64_t seed = 0;
  MergeTree tree;

  friend bool operator==(const MergeOrder&, const MergeOrder&) = default;
};

/// Where the kv splits lie.
struct KvSplits {
  static constexpr Index max_count = 1 << 20;
  Index count = 1;  ///< equal splits, the last ones shorter or empty; used when cuts is empty
  std::vector<Index> cuts;  ///< or inner boundaries, non-decreasing, in [0, seq_kv]

  friend bool operator==(const KvSplits&, const KvSplits&) = default;
};

struct Tiling {
  Index tile_q = 16;
  Index tile_kv = 16;
  KvSplits splits;
  MergeOrder merge;

  friend bool operator==(const Tiling&, const Tiling&) = default;
};

/// Says what is contradictory in a tiling of `seq_kv` keys; a tree is checked by make_merge_tree.
Status validate(const Tiling& tiling, Index seq_kv);

/// Precondition: validate(tiling, seq_kv).
std::vector<KeyRange> split_ranges(const Tiling& tiling, Index seq_kv);

/// The tiles of one range, at least one: an empty range has one empty tile.
std::vector<KeyRange> tile_ranges(KeyRange range, Index tile_kv);

/// All tiles of all splits in order.
std::vector<KeyRange> all_tiles(const Tiling& tiling, Index seq_kv);

Result<MergeTree> make_merge_tree(const MergeOrder& order, Index leaves);

/// Evaluates a tree: leaf(number) makes a value, join(left, right) merges two.
/// Precondition: validate(tree, leaves) with at least one leaf.
template <class Leaf, class Join>
auto evaluate(const MergeTree& tree, Leaf&& leaf, Join&& join) {
  std::vector<decltype(leaf(Index{0}))> stack;
  for (const Index step : tree.steps) {
    if (step != MergeTree::merge) {
      stack.push_back(leaf(step));
      continue;
    }
    auto right = std::move(stack.back());
    stack.pop_back();
    stack.back() = join(std::move(stack.back()), std::move(right));
  }
  return std::move(stack.back());
}

}  // namespace attest
