// What every scalar kernel does with one row: its dot products, its accuracy, its refusal.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "attest/accuracy.hpp"
#include "attest/kernel.hpp"

namespace attest::kernels {

/// sum_c a_c b_c. One product and one addition a term in order: one rounding a term on the longest
/// path.
template <class Real>
Real dot(std::span<const Real> a, std::span<const Real> b) {
  Real sum = 0;
  for (std::size_t c = 0; c < a.size(); ++c) sum += a[c] * b[c];
  return sum;
}

/// scale * sum_c q_c k_c, with one rounding more for the scale (dot_roundings).
template <class Real>
Real scaled_dot(std::span<const Real> q, std::span<const Real> k, Real scale) {
  return dot(q, k) * scale;
}

inline bool is_power_of_two(double factor) {
  int exponent = 0;
  return std::frexp(std::abs(factor), &exponent) == 0.5;
}

/// Roundings of one number when it is multiplied by one of its descales.
inline Index descale_roundings(const Problem& problem, std::vector<double> Descales::*of) {
  if (!problem.descales) return 0;
  const std::vector<double>& factors = *problem.descales.*of;
  return std::all_of(factors.begin(), factors.end(), is_power_of_two) ? 0 : 1;
}

/// [h] of scaled_dot; a power of two scales without rounding.
inline Index dot_roundings(const Problem& problem) {
  const Index terms = problem.head_dim + (problem.qv ? problem.head_dim_v : 0);
  Index of_keys = descale_roundings(problem, &Descales::k);
  if (problem.qv) of_keys = std::max(of_keys, descale_roundings(problem, &Descales::v));
  return terms + descale_roundings(problem, &Descales::q) + of_keys +
         (is_power_of_two(scale_value(problem)) ? 0 : 1);
}

/// Relative error of tanh in units of u. The glibc manual gives 2 ulp ("Known Maximum Errors in
/// Math Functions"); Zimmermann et al., "Accuracy of Mathematical Functions", found 2.2: 3 ulp.
inline constexpr double kTanhRoundings = 6;

/// Numbers that hold for kernels that use the exp and log of glibc 2.28 or later on x86-64:
/// at most 1 ulp each (glibc manual, "Known Maximum Errors in Math Functions").
inline DeclaredAccuracy scalar_accuracy(const Problem& problem, SummaryScope scope) {
  DeclaredAccuracy accuracy;
  accuracy.format = format_of(problem.compute_dtype());
  const double u = accuracy.format.unit_roundoff;
  accuracy.dot_roundings = dot_roundings(problem);
  if (problem.softcap != 0) accuracy.tanh_relative_error = kTanhRoundings * u;
  if (problem.alibi) accuracy.bias_relative_error = u;  // of the product, which is exact before
  accuracy.value_relative_error = static_cast<double>(descale_roundings(problem, &Descales::v)) * u;
  accuracy.exp_relative_error = 2 * u;
  accuracy.exp_absolute_error = 2 * accuracy.format.rounding_underflow;
  accuracy.log_relative_error = 2 * u;
  const Format out = format_of(problem.out_dtype());
  if (out.unit_roundoff > u) accuracy.output_format = out;
  accuracy.scope = scope;
  return accuracy;
}

/// Everything that the scalar kernels do.
inline Capabilities scalar_capabilities() {
  Capabilities capabilities;
  capabilities.dtypes.assign(kDtypes.begin(), kDtypes.end());
  for (const Feature feature : all_features()) {
    const bool left_out = feature == Feature::empty_nan || feature == Feature::empty_mean ||
                          feature == Feature::empty_lse;
    if (!left_out) capabilities.features.push_back(feature);
  }
  return capabilities;
}

/// First row without a visible key and without a sink, in (batch, head, query) order, when the
/// policy rejects it.
inline Status reject_all_masked(const Problem& problem) {
  if (problem.all_masked != AllMaskedPolicy::reject || problem.sink) return {};
  for (Index b = 0; b < problem.batch; ++b)
    for (Index query = 0; query < problem.query_length(b); ++query)
      if (classify(problem, b, query, query + 1, 0, problem.seq_kv) == TileClass::empty)
        return all_masked_row({b, 0, query});
  return {};
}

}  // namespace attest::kernels
