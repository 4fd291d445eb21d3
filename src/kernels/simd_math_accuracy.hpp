// Upper bounds of the errors of simd_math-inl.h: what a kernel that uses it may declare.
//
// Of float they are the largest errors of all arguments, found by `attest bench --exhaustive` and
// rounded up. Of double they are derived, since there the arguments can only be sampled; in units
// of u, to first order, the rest is below 2^-40:
//   exp, fused: the rounding of r (at most 1/4, as |r| < 1/2), those of the last two steps
//     ((1 + |r|) / e^r where e^r > 1, half of it below 1), of the others (0.06) and of the
//     polynomial (0.04), where r is largest: 1.29. Not fused: the products r q (1/4) and r c
//     (0.05) of the last two steps are rounded too, over e^r > 0.7: 0.43 more.
//     Subnormal results: 1.73 u 2^-1022 = 0.87 eta, and one rounding of eta / 2.
//   tanh: p = e^r - 1 is off by 1 + 0.4 + 0.12 (its last step, r^2 c, the polynomial), by 0.2 more
//     where not fused, and by 1.07 from the rounding of r, which is exact for n = 0. The worst case
//     is n = -1 with p near 0.41, where e = (p - 1) / 2 = -0.29: the error of p counts 0.7 times, e
//     is rounded by 0.85; times 1.17 for the quotient, whose two roundings add 1.6: below 5.
//   log: relative to |log(1 + f)| where k = 0: the last subtraction 1, h 0.25, h - tail 0.18, tail
//     0.26, its product where not fused 0.05, polynomial 0.012. Where k = -1 the result is half as
//     large as what is subtracted: the rounding of that adds 0.72: below 2.5. Other k are better.
#pragma once

#include <type_traits>

#include "kernels/simd_math.hpp"

namespace attest::kernels {

/// |computed - exact| <= relative u |exact| where the exact result is a normal number, u = 2^-24 or
/// 2^-53, and <= subnormal eta where it is below, eta = the smallest number, 2^-149 or 2^-1074.
struct MathError {
  double relative = 0;
  double subnormal = 0;
};

/// `fused`: the target has FMA, see has_fused_multiply_add(). Special values are exact.
template <class Real>
constexpr MathError declared_error(MathFunction function, bool fused) {
  static_assert(std::is_same_v<Real, float> || std::is_same_v<Real, double>);
  constexpr bool kFloat = std::is_same_v<Real, float>;
  // tanh(x) = x below the normal numbers, and the logarithm is never there. The exhaustive check
  // does not tell apart errors below a quarter.
  constexpr double kNone = 0.25;
  switch (function) {
    case MathFunction::exp:
    case MathFunction::exp_non_positive:
      if (kFloat) return fused ? MathError{1.29, 0.86} : MathError{1.65, 0.86};
      return fused ? MathError{1.3, 1.4} : MathError{1.75, 1.4};
    case MathFunction::tanh:
      return {kFloat ? 3.0 : 5.0, kNone};
    case MathFunction::log:
      return {kFloat ? 1.4 : 2.5, kNone};
  }
  return {};
}

}  // namespace attest::kernels
