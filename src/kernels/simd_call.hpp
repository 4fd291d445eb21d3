// One call of a SIMD kernel, as it is handed to the code of a target.
#pragma once

#include <algorithm>
#include <cstdint>

#include "attest/kernel.hpp"

namespace attest::kernels {

/// Columns of q and k in a score: qv and v count as well.
inline Index score_columns(const Problem& problem) {
  return problem.head_dim + (problem.qv ? problem.head_dim_v : 0);
}

/// Whether so few rows read one kv head that each key is read once.
inline bool is_decode(const Problem& problem) {
  constexpr Index kMostRows = 12;
  return problem.heads_q / problem.heads_kv * problem.seq_q <= kMostRows;
}

/// Keys of the longest tile, a multiple of 64: K and V of a tile have at most 64 KiB each where
/// head_dim allows it, and lie in the second cache with all that a block of queries needs. Few rows
/// need little there, and a tile costs them a pause in reading.
inline Index longest_simd_tile(const Problem& problem) {
  const Index bytes = Index{is_decode(problem) ? 128 : 64} * 1024;
  const Index columns = std::max(score_columns(problem), problem.head_dim_v);
  const Index keys = bytes / (columns * static_cast<Index>(size_of(problem.compute_dtype())));
  return std::clamp<Index>(keys / 64 * 64, 64, 256);
}

struct SimdForwardCall {
  const Problem& problem;
  const Tiling& tiling;
  const ForwardViews& views;
  /// A score is summed up in one order, whatever rows stand beside it: few rows take longer.
  bool one_order = false;
  std::int64_t* ran_on = nullptr;  ///< gets the target whose code ran, for tests
};

struct SimdBackwardCall {
  const Problem& problem;
  const Tiling& tiling;
  const BackwardViews& views;
};

}  // namespace attest::kernels
