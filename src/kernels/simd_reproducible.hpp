// The forward passes of the SIMD kernels whose bits do not depend on how the work is split.
#pragma once

#include "kernels/simd_call.hpp"

namespace attest::kernels {

/// Bits depend on neither splits nor merge order: canonical_plan.hpp. Precondition as for
/// simd_forward. Errors: the merge tree does not fit.
Status simd_canonical(std::int64_t target, const SimdForwardCall& call);

/// Nor on tile size or the order of the keys: simd_order_free-inl.h. Precondition: f32 arithmetic.
Status simd_order_free(std::int64_t target, const SimdForwardCall& call);

}  // namespace attest::kernels
