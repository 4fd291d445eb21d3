// The bound's view of what a plug-in states about its arithmetic (attest_accuracy).
#pragma once

#include "attest/kernel.hpp"
#include "attest/kernel_abi.h"

namespace attest::foreign {

/// `works_by_call`: whether the kernel takes the tiles of the call (ATTEST_HAS_TILES).
/// Precondition of both: check_accuracy(stated).
DeclaredAccuracy declared_accuracy(const attest_accuracy& stated, const Problem& problem,
                                   bool works_by_call);

DeclaredGradientAccuracy declared_gradient_accuracy(const attest_accuracy& stated,
                                                    const Problem& problem);

}  // namespace attest::foreign
