// Mistakes of a backward pass, fitted to gradients.
#pragma once

#include <utility>
#include <vector>

#include "properties/diagnosis.hpp"
#include "properties/run_recorder.hpp"

namespace attest::properties {

/// Every mistake that explains all gradients of all runs; the forward passes are right.
std::vector<Explanation> explain_gradients(const Kernel& kernel,
                                           const std::vector<BackwardRun>& runs);

std::vector<std::pair<std::string_view, std::string_view>> known_gradient_mistakes();

}  // namespace attest::properties
