// The canonical tree of key ranges, and in which order a call works through it.
//
// A leaf is `leaf` keys that begin at a multiple of it, whatever the splits of a call are. A node
// (level, index) covers the leaves [index 2^level, (index + 1) 2^level). Only siblings, 2i and
// 2i + 1 of one level, are merged. So the nodes that a set of leaves is left with depend on the set
// alone, and neither splits nor the order of merges change what is computed, only when it is.
//
// A split ends where the caller says, rounded down to the beginning of a leaf: to cut inside of a
// leaf would change its sums. A range that holds no such beginning has nothing to do.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "attest/dtype.hpp"
#include "attest/tiling.hpp"

namespace attest::kernels {

/// Keys of a leaf: as many as a tile of the SIMD kernels may have.
constexpr Index leaf_keys(Dtype compute) {
  return 1024 / static_cast<Index>(size_of(compute));
}

/// One leaf is summarised into place `left`, or `right` is merged into `left`.
struct CanonicalStep {
  static constexpr Index merge = -1;
  /// Place of a leaf that the next step merges into another one, as its right side.
  static constexpr std::int32_t passing = -1;

  Index leaf = merge;
  std::int32_t left = 0;
  std::int32_t right = 0;
};

struct CanonicalPlan {
  static constexpr Index no_root = -1;

  std::vector<CanonicalStep> steps;  ///< begins with a leaf, if there is one that is not empty
  Index places = 0;
  Index root = no_root;  ///< place of the whole row; no_root: all leaves are empty
};

/// Whether no row sees a key of a leaf: such a leaf is the identity.
using EmptyLeaf = std::function<bool(Index)>;

/// Splits are taken in the order in which the merge tree names them, and merged as it says.
/// Precondition: `tree` fits the splits of the tiling.
CanonicalPlan canonical_plan(const Tiling& tiling, const MergeTree& tree, Index seq_kv, Index leaf,
                             const EmptyLeaf& is_empty);

/// The tiling whose tiles are the leaves and whose merge tree is the canonical one.
Tiling canonical_tiling(Index seq_kv, Index leaf);

}  // namespace attest::kernels
