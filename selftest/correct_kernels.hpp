// Kernels that are right, each in a way of its own: no law may accuse them.
#pragma once

#include <vector>

#include "attest/kernel.hpp"

namespace attest::selftest {

/// The built-in kernels, the honest twins of kernels that declare too little, and kernels that do
/// what is allowed and unusual.
std::vector<const Kernel*> correct_kernels();

}  // namespace attest::selftest
