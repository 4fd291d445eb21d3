#include "kernels/backward.hpp"

#include "kernels/row_access.hpp"

namespace attest::kernels {

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
  accuracy.output_format = format_of(problem.dtype);
  accuracy.dk_format = format_of(problem.k_dtype());
  accuracy.dv_format = format_of(problem.v_dtype());
  return accuracy;
}

}  // namespace attest::kernels
