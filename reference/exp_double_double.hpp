// The certified exponential of the fast oracle, for tests and for whoever needs a few values.
//
// Computes exp(high + low) as a double-double on the machine's vectors. It shares no code with the
// exponential of any kernel. Error budget: docs/numerics.md.
#pragma once

#include <cmath>
#include <cstddef>

namespace attest::reference {

/// exp is certified for |x| <= kExpDomain.
inline constexpr double kExpDomain = 640;

/// Upper bound of |computed / exact - 1| at x = high + low: 2^-102 + 2^-105 |x| (1 + 2^-4).
/// The second part is there because low is added as one double, with a rounding of its own.
inline double exp_relative_error(double high) {
  return 0x1p-102 + 0x1.1p-105 * std::abs(high);
}

/// results[i] = exp(arguments[i]), both of double-words. Precondition: |x| <= kExpDomain.
void exp_double_double(const double* high, const double* low, std::size_t count,
                       double* result_high, double* result_low);

}  // namespace attest::reference
