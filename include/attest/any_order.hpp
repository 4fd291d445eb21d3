// How a kernel is declared whose order of work nobody knows: DeclaredAccuracy::own_tiling is
// any_order(T), with scope `row` and without ordered_sums.
//
// Its keys are in parts (tiles or kv splits), each with a maximum that is known before its first
// weight; parts are joined in any order and any tree, and there are at most ceil(seq_kv / T) beside
// the one that a key is in. docs/numerics.md has the counts of roundings that follow.
#pragma once

#include "attest/tiling.hpp"

namespace attest {

/// Not a tiling that anything could be cut by.
inline Tiling any_order(Index keys_of_a_part) {
  Tiling tiling;
  tiling.tile_kv = -keys_of_a_part;
  return tiling;
}

inline bool is_any_order(const Tiling& tiling) {
  return tiling.tile_kv < 0;
}

/// Precondition: is_any_order(tiling).
inline Index other_parts(const Tiling& tiling, Index seq_kv) {
  return (seq_kv - tiling.tile_kv - 1) / -tiling.tile_kv;
}

}  // namespace attest
