// Random ways of cutting and ordering the keys of a problem.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "attest/random.hpp"
#include "properties/derive.hpp"

namespace attest::properties {

/// Every order of n keys alike.
inline std::vector<Index> random_order(SplitMix64& random, Index n) {
  std::vector<Index> keys = all_keys(n);
  for (std::size_t i = keys.size(); i > 1; --i) std::swap(keys[i - 1], keys[random.below(i)]);
  return keys;
}

/// Up to nine splits of n keys, some perhaps empty, with cuts at multiples of `unit`; any merge
/// order, tiles of 1 to n + 7 keys.
inline Tiling random_tiling(SplitMix64& random, Index n, Index unit) {
  const auto below = [&](Index bound) {
    return static_cast<Index>(random.below(static_cast<std::uint64_t>(bound)));
  };
  Tiling tiling;
  tiling.tile_kv = 1 + below(n + 7);
  for (Index cuts = below(9); cuts > 0; --cuts)
    tiling.splits.cuts.push_back(std::min(n, unit * below(n / unit + 2)));
  std::sort(tiling.splits.cuts.begin(), tiling.splits.cuts.end());
  constexpr MergeOrder::Kind kKinds[] = {MergeOrder::Kind::left, MergeOrder::Kind::right,
                                         MergeOrder::Kind::balanced, MergeOrder::Kind::random};
  tiling.merge.kind = kKinds[below(4)];
  tiling.merge.seed = random.next();
  return tiling;
}

}  // namespace attest::properties
