// The elementary functions of the SIMD kernels on arrays, each on a target of choice: for tests and
// for the exhaustive check of `attest bench --exhaustive`.
#pragma once

#include <span>
#include <string_view>

#include "attest/status.hpp"

namespace attest::kernels {

enum class MathFunction {
  exp,
  exp_non_positive,  ///< exp of arguments <= 0, -inf or NaN
  tanh,
  log,
};

/// y[i] = function(x[i]) with the code of that target ("" is the best one). The same target and
/// argument give the same bits wherever the argument stands. Refuses spans of different sizes and
/// targets that this machine does not have; y may be x.
Status apply(MathFunction function, std::string_view target, std::span<const float> x,
             std::span<float> y);
Status apply(MathFunction function, std::string_view target, std::span<const double> x,
             std::span<double> y);

/// Whether MulAdd of that target is one rounding; decides which errors are declared.
Result<bool> has_fused_multiply_add(std::string_view target);

}  // namespace attest::kernels
