// One call of a SIMD kernel, as it is handed to the code of a target.
#pragma once

#include <cstdint>

#include "attest/kernel.hpp"

namespace attest::kernels {

struct SimdForwardCall {
  const Problem& problem;
  const Tiling& tiling;
  const ForwardViews& views;
};

struct SimdBackwardCall {
  const Problem& problem;
  const Tiling& tiling;
  const BackwardViews& views;
};

}  // namespace attest::kernels
