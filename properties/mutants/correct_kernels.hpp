// Kernels that are right in an unusual way. They stand beside the wrong ones because they are made
// of the same steps: a law that cannot tell them apart accuses them.
#pragma once

#include <memory>
#include <span>

#include "attest/kernel.hpp"

namespace attest::mutants {

/// Unusual kernels, "correct:NAME", and the honest twins of the kernels that declare too little,
/// "mutant:declares_its_NAME". In a stable order.
std::span<const std::unique_ptr<Kernel>> correct_kernels();

}  // namespace attest::mutants
