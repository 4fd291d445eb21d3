// Sums of indices for offsets and limits, which may be any number: a sum that has no place stops at
// the end of the range. Indices of queries and keys are far from both ends, so a comparison with
// them comes out as in unlimited integers.
#pragma once

#include <limits>

#include "attest/status.hpp"

namespace attest {

inline Index saturated_sum(Index a, Index b) {
  constexpr Index kLargest = std::numeric_limits<Index>::max();
  constexpr Index kSmallest = std::numeric_limits<Index>::min();
  if (b > 0 && a > kLargest - b) return kLargest;
  if (b < 0 && a < kSmallest - b) return kSmallest;
  return a + b;
}

inline Index saturated_difference(Index a, Index b) {
  if (b != std::numeric_limits<Index>::min()) return saturated_sum(a, -b);
  return saturated_sum(saturated_sum(a, std::numeric_limits<Index>::max()), 1);
}

}  // namespace attest
