// The forward pass of the SIMD kernels.
#pragma once

#include "kernels/simd_call.hpp"

namespace attest::kernels {

/// Precondition: a target of find_target(), and a call that check_call accepts.
/// Errors: the merge tree does not fit.
Status simd_forward(std::int64_t target, const SimdForwardCall& call);

}  // namespace attest::kernels
