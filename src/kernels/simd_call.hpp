// One call of a SIMD kernel, as it is handed to the code of a target.
#pragma once

#include <cstdint>

#include "attest/kernel.hpp"

namespace attest::kernels {

/// Keys of the longest tile: K, V and the weights of a strip stay in the second cache.
constexpr Index longest_simd_tile(Dtype compute) {
  return 1024 / static_cast<Index>(size_of(compute));
}

struct SimdForwardCall {
  const Problem& problem;
  const Tiling& tiling;
  const ForwardViews& views;
};

}  // namespace attest::kernels
