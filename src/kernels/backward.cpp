#include "kernels/backward.hpp"

#include "kernels/row_access.hpp"

namespace attest::kernels {
namespace {

/// A format that rounds as coarsely as any of the types of dq, dk and dv; none where all of them
/// hold the results as they are.
std::optional<Format> coarsest_format(const Problem& problem, const Format& compute) {
  Format coarsest = compute;
  for (const Dtype dtype : {problem.dtype, problem.k_dtype(), problem.v_dtype()}) {
    const Format format = format_of(dtype);
    coarsest.unit_roundoff = std::max(coarsest.unit_roundoff, format.unit_roundoff);
    coarsest.min_normal = std::max(coarsest.min_normal, format.min_normal);
    coarsest.rounding_underflow = std::max(coarsest.rounding_underflow, format.rounding_underflow);
    coarsest.max_finite = std::min(coarsest.max_finite, format.max_finite);
  }
  if (coarsest == compute) return std::nullopt;
  return coarsest;
}

}  // namespace

Status check_backward(const Capabilities& capabilities, const Problem& problem,
                      const Tiling& tiling, const BackwardViews& views) {
  if (Status status = check_backward_call(capabilities, problem, tiling, views); !status.ok())
    return status;
  return reject_all_masked(problem);
}

DeclaredGradientAccuracy scalar_gradient_accuracy(const Problem& problem) {
  const DeclaredAccuracy forward = scalar_accuracy(problem, SummaryScope::row);
  DeclaredGradientAccuracy accuracy;
  accuracy.format = forward.format;
  accuracy.dot_roundings = forward.dot_roundings;
  accuracy.value_dot_roundings = accuracy.delta_roundings = problem.head_dim_v;
  accuracy.softcap_roundings = forward.softcap_roundings;
  accuracy.tanh_relative_error = forward.tanh_relative_error;
  // Below the normal range tanh(x) is x.
  accuracy.tanh_absolute_error = 2 * forward.format.rounding_underflow;
  accuracy.bias_relative_error = forward.bias_relative_error;
  accuracy.exp_relative_error = forward.exp_relative_error;
  accuracy.exp_absolute_error = forward.exp_absolute_error;
  accuracy.scale_roundings = is_power_of_two(scale_value(problem)) ? 0 : 1;
  accuracy.output_format = coarsest_format(problem, forward.format);
  return accuracy;
}

}  // namespace attest::kernels
