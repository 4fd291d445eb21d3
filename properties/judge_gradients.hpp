// Compares gradients that a kernel computed with the exact ones, under the derived bound.
#pragma once

#include <span>
#include <string_view>

#include "attest/kernel.hpp"
#include "properties/case.hpp"
#include "properties/gradient_truth.hpp"
#include "properties/judge.hpp"
#include "properties/run_kernel.hpp"
#include "properties/tally.hpp"

namespace attest::properties {

/// All gradients of two runs of problems with the same rows and keys; `reason` says what should not
/// have mattered. dbias and dsink only where both have them.
void same_gradient_bits(Tally& tally, const Problem& problem, const GradientOutputs& got,
                        const GradientOutputs& want, std::string_view reason);

/// A part of the gradients of a drawn kv head against its enclosure.
Verdict judge_gradient(const Kernel& kernel, const Case& of, const GradientOutputs& outputs,
                       GradientPart part);
/// The same of these heads.
Verdict judge_gradient(const Kernel& kernel, const Case& of, const GradientOutputs& outputs,
                       GradientPart part, std::span<const KvHead> heads);

/// dbias of a drawn batch member and head (of the bias) against the exact sum over what it is
/// broadcast over. Precondition: problem.backward->dbias.
Verdict judge_bias_gradient(const Kernel& kernel, const Case& of, const GradientOutputs& outputs);

/// dsink of a drawn head against the exact sum over its rows. Precondition:
/// problem.backward->dsink.
Verdict judge_sink_gradient(const Kernel& kernel, const Case& of, const GradientOutputs& outputs);

}  // namespace attest::properties
