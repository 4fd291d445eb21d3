// What the backward kernels of the tests may be: their arithmetic, their forms, their planted
// faults, and what they declare.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "attest/gradient_bound.hpp"

namespace attest::reference {

/// A float of a machine that flushes subnormal inputs and results to zero.
class Flushed {
 public:
  Flushed() = default;
  explicit Flushed(double x) : value_(flush(static_cast<float>(x))) {}
  explicit operator double() const { return value_; }
  friend Flushed operator+(Flushed a, Flushed b) { return of(a.value_ + b.value_); }
  friend Flushed operator-(Flushed a, Flushed b) { return of(a.value_ - b.value_); }
  friend Flushed operator*(Flushed a, Flushed b) { return of(a.value_ * b.value_); }
  friend Flushed operator/(Flushed a, Flushed b) { return of(a.value_ / b.value_); }
  friend Flushed operator-(Flushed a) { return of(-a.value_); }
  friend bool operator<(Flushed a, Flushed b) { return a.value_ < b.value_; }
  friend Flushed exp(Flushed a) { return of(std::exp(a.value_)); }
  friend Flushed exp2(Flushed a) { return of(std::exp2(a.value_)); }
  friend Flushed tanh(Flushed a) { return of(std::tanh(a.value_)); }
  friend Flushed fused(Flushed a, Flushed b, Flushed c) {
    return of(std::fma(a.value_, b.value_, c.value_));
  }
  friend Flushed log(Flushed a) { return of(std::log(a.value_)); }

 private:
  static float flush(float x) { return std::abs(x) < 0x1p-126F ? 0.0F : x; }
  static Flushed of(float x) {
    Flushed result;
    result.value_ = flush(x);
    return result;
  }
  float value_ = 0;
};

inline float fused(float a, float b, float c) {
  return std::fma(a, b, c);
}
inline double fused(double a, double b, double c) {
  return std::fma(a, b, c);
}

enum class Fault {
  none,
  delta_missing,         ///< ds = p dP
  lse_gradient_missing,  ///< D without dlse
  scale_missing_in_dk,
  scale_missing_in_dq,
  own_sum_without_last_key,  ///< p normalised by a sum of its own, from which a key is lost
  slope_missing,             ///< dx = ds in spite of the softcap
  slope_of_biased_score,     ///< 1 - (s / cap)^2 where s includes the bias
  mask_leak_in_dv,           ///< a masked key has p = exp(s - lse)
  row_missing_in_dk,         ///< the last row adds nothing to dk
  sink_sign,
  delta_of_rounded_output,  ///< D from an output in bf16 that the declaration knows nothing of
  coarse_exp,               ///< exp with a relative error of 2^-12
  narrow_sums,              ///< dq added up in bf16
  undeclared_weight_cast,   ///< p in bf16
};
inline constexpr int kFaults = static_cast<int>(Fault::undeclared_weight_cast);

struct KernelForm {
  bool tiled = false;             ///< keys in tiles, rows innermost and backwards, scale first
  bool folded = false;            ///< exp2 with the scale folded in
  bool slope_by_factors = false;  ///< (1 - y)(1 + y) with y straight from tanh
  std::optional<Format> weight_cast, gradient_cast, output_format, dk_format, dv_format;
  Fault fault = Fault::none;
};

/// Dot products of such numbers are exact in every format of the kernels.
inline bool are_small_integers(const std::vector<double>& numbers) {
  return std::all_of(numbers.begin(), numbers.end(),
                     [](double x) { return x == std::floor(x) && std::abs(x) <= 8; });
}

/// Of the kernels above. glibc's exp and exp2 are within 0.511 ulp in both types (the comments of
/// its sources), which is 1.022 u; tanh is taken to be within three.
inline DeclaredGradientAccuracy declared_gradients(const GradientInputs& inputs,
                                                   const KernelForm& form, const Format& format) {
  DeclaredGradientAccuracy accuracy;
  accuracy.format = format;
  accuracy.dot_roundings = inputs.head_dim + 1;
  accuracy.value_dot_roundings = inputs.head_dim_v;
  accuracy.delta_roundings = inputs.head_dim_v;
  bool exact_scores = are_small_integers(inputs.k) && std::ilogb(inputs.scale) > -10 &&
                      inputs.scale == std::ldexp(1, std::ilogb(inputs.scale));
  bool exact_values = are_small_integers(inputs.v);
  for (const GradientRow& row : inputs.rows) {
    exact_scores = exact_scores && are_small_integers(row.q);
    exact_values = exact_values && are_small_integers(row.output_gradient);
  }
  if (exact_scores) accuracy.dot_roundings = 0;
  if (exact_values) accuracy.value_dot_roundings = 0;
  accuracy.tanh_relative_error = 6 * format.unit_roundoff;
  accuracy.tanh_absolute_error = 6 * format.rounding_underflow;
  accuracy.exp_form = form.folded ? ExpForm::folded_base_two : ExpForm::natural;
  accuracy.exp_relative_error = 1.03 * format.unit_roundoff;
  accuracy.exp_absolute_error = 2 * format.rounding_underflow;
  accuracy.weight_cast = form.weight_cast;
  accuracy.gradient_cast = form.gradient_cast;
  accuracy.output_format = form.output_format;
  accuracy.dk_format = form.dk_format;
  accuracy.dv_format = form.dv_format;
  return accuracy;
}

}  // namespace attest::reference
