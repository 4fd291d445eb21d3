#include "probe/subject.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

namespace attest::probe {
namespace {

/// tf32 of the tensor units of accelerators: 11 significant bits.
constexpr double kInputRounding = 0x1p-11;
/// Fast approximations of exp, tanh and log err less.
constexpr double kFastFunction = 0x1p-12;
/// Weights of 3 significant bits, scaled to use the range of fp8: coarser than any type in use.
constexpr WeightCast kCoarseWeights{{0x1p-3, 0x1p-14, 0x1p-18, 0x1.fep127}, 0, false};

std::string replaced(std::string text, const std::string& word, const std::string& by) {
  const std::size_t at = text.find(word);
  if (at != std::string::npos) text.replace(at, word.size(), by);
  return text;
}

/// The status of a call, or of what it threw.
template <class Call>
Status caught(Call&& call) {
  try {
    return call();
  } catch (const std::exception& error) {
    return {StatusCode::kernel_failed, std::string("the kernel threw: ") + error.what()};
  } catch (...) {
    return {StatusCode::kernel_failed, "the kernel threw"};
  }
}

}  // namespace

DeclaredAccuracy assumed_accuracy(const Problem& problem, const Arithmetic& arithmetic) {
  DeclaredAccuracy accuracy;
  const Format stored = format_of(problem.dtype);
  accuracy.dot_roundings = 4;
  accuracy.dot_format = kF32;
  accuracy.dot_format->unit_roundoff = kInputRounding;
  accuracy.scaled_query_error = std::max(kInputRounding, stored.unit_roundoff);
  accuracy.softcap_roundings = 4;
  accuracy.tanh_relative_error = kFastFunction;
  accuracy.bias_relative_error = kFastFunction;
  accuracy.value_relative_error = kInputRounding;
  accuracy.exp_relative_error = kFastFunction;
  accuracy.exp_absolute_error = kF32.min_normal;
  accuracy.log_relative_error = kFastFunction;
  accuracy.log_absolute_error = kFastFunction;
  accuracy.reciprocal_relative_error = kFastFunction;
  accuracy.weight_cast = arithmetic.weights_known ? arithmetic.weights : kCoarseWeights;
  if (accuracy.weight_cast && !(arithmetic.weights_known && arithmetic.sum_known)) {
    // Under rounded sums an output is off by u sum p_j |v_j - o| <= 2 u sum p_j |v_j|, the lse by
    // u.
    accuracy.log_absolute_error += accuracy.weight_cast->format.unit_roundoff;
    accuracy.weight_cast->format.unit_roundoff *= 2;
  }
  const Format of_output = arithmetic.output.value_or(format_of(problem.out_dtype()));
  if (of_output.unit_roundoff > kF32.unit_roundoff) accuracy.output_format = of_output;
  accuracy.scope = SummaryScope::split;
  accuracy.own_tiling = Tiling{};
  accuracy.own_tiling->tile_kv = 1;
  accuracy.ordered_sums = false;
  return accuracy;
}

DeclaredGradientAccuracy assumed_gradient_accuracy(const Problem& problem) {
  DeclaredGradientAccuracy accuracy;
  accuracy.format.unit_roundoff = kInputRounding;
  accuracy.dot_roundings = accuracy.value_dot_roundings = accuracy.delta_roundings = 4;
  accuracy.softcap_roundings = 4;
  accuracy.tanh_relative_error = kFastFunction;
  accuracy.bias_relative_error = kFastFunction;
  accuracy.exp_relative_error = kFastFunction;
  accuracy.exp_absolute_error = kF32.min_normal;
  accuracy.weight_cast = accuracy.gradient_cast = kBf16;
  accuracy.output_format = format_of(problem.dtype);
  accuracy.dk_format = format_of(problem.k_dtype());
  accuracy.dv_format = format_of(problem.v_dtype());
  return accuracy;
}

Status Undeclared::forward(const Problem& problem, const Tiling& tiling,
                           const ForwardViews& views) const {
  return caught([&] { return kernel_.forward(problem, tiling, views); });
}

Status Undeclared::backward(const Problem& problem, const Tiling& tiling,
                            const BackwardViews& views) const {
  return caught([&] { return kernel_.backward(problem, tiling, views); });
}

Subject::Subject(const Kernel& kernel, std::optional<Dtype> dtype) : kernel_(kernel) {
  const std::vector<Dtype>& dtypes = kernel.description().capabilities.dtypes;
  for (const Dtype usual : {Dtype::e4m3, Dtype::f16, Dtype::bf16, Dtype::f64, Dtype::f32})
    if (std::find(dtypes.begin(), dtypes.end(), usual) != dtypes.end()) dtype_ = usual;
  if (dtype) dtype_ = *dtype;
  for (const char* const words :
       {"lse=ln", "lse=log2", "lse=ln empty=zero:inf", "lse=log2 empty=zero:inf", ""}) {
    lse_words_ = words;
    const auto simplest = made("1x1:2x3:4 TYPE LSE");
    status_ = simplest.ok() ? outputs(simplest.value()).status : simplest.status();
    if (status_.ok()) return;
  }
}

Result<Case> Subject::made(const std::string& line) const {
  ProblemText text;
  TextError error;
  const std::string whole = replaced(replaced(line, "TYPE", std::string(to_string(dtype_))), " LSE",
                                     lse_words_.empty() ? "" : " " + lse_words_);
  if (!parse_problem_text(whole, text, error))
    return Status{StatusCode::invalid_argument, error.message + " in " + whole};
  return properties::make_case(text, nullptr);
}

properties::Outputs Subject::outputs(const Case& on) const {
  return properties::run_kernel(kernel_, on);
}

Result<Run> Subject::run(const Case& on) const {
  properties::Outputs got = outputs(on);
  if (!got.status.ok()) return got.status;
  return Run(std::make_unique<properties::DiagnosedRun>(
      kernel_, properties::ForwardRun{on, std::move(got)}));
}

std::string line_of(const Case& on) {
  return minimal_text(properties::to_text(on));
}

}  // namespace attest::probe
