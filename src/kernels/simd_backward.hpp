// The backward pass of the SIMD kernels.
#pragma once

#include "kernels/simd_call.hpp"

namespace attest::kernels {

/// Gradients of a call, added up in the compute type. Memory of its own: packed rows of one block
/// and one tile; and dk and dv of one kv head where they cannot be added up in the output, which
/// takes elements of the compute type side by side; and a byte a key. Nothing is proportional to
/// seq_q * seq_kv. Precondition: a target of find_target(), and a call that check_backward accepts.
void simd_backward(std::int64_t target, const SimdBackwardCall& call);

}  // namespace attest::kernels
