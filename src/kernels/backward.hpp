// The backward passes of the scalar kernels: two orders of the same formulas
// (attest/gradient_bound.hpp).
#pragma once

#include "attest/kernel.hpp"

namespace attest::kernels {

/// Whether a scalar kernel does this call. `unsupported` for a sink that the lse does not count,
/// because weights are formed from the lse alone, and for fp8 inputs; `all_masked_row` as in the
/// forward pass.
Status check_backward(const Capabilities& capabilities, const Problem& problem,
                      const Tiling& tiling, const BackwardViews& views);

DeclaredGradientAccuracy scalar_gradient_accuracy(const Problem& problem);

/// Row after row of queries, key after key, plain sums.
/// Precondition of both: check_backward.
void textbook_backward(const Problem& problem, const BackwardViews& views);

/// Tiles of keys outside and tiles of queries inside for dk and dv, the other way round for dq. The
/// sums of a tile are formed first and then added.
void tiled_backward(const Problem& problem, const Tiling& tiling, const BackwardViews& views);

}  // namespace attest::kernels
