// Bounds of what a kernel computes: exact magnitudes and absolute errors, carried along.
#pragma once

#include <cmath>
#include <limits>

#include "attest/dtype.hpp"
#include "attest/enclosure.hpp"
#include "attest/error_bound.hpp"
#include "attest/status.hpp"

namespace attest {

/// A wide exponent, so that neither a product of subnormal values nor its bound underflows.
using Wide = long double;
static_assert(std::numeric_limits<Wide>::min_exponent < -4000);

/// Covers the rounding of every formula of the bounds: sums of at most 2^20 non-negative terms, and
/// one difference 1 - x with x <= 1 - kSmallestGap.
inline constexpr double kEvaluationSlack = 1 + 0x1p-30;
inline constexpr double kSmallestGap = 0x1p-12;
inline constexpr double kSmallestNumber = std::numeric_limits<double>::denorm_min();

/// Upper bound of the magnitude of an exact value, but for its own rounding.
inline Wide magnitude_upper(const Enclosure& exact) {
  return std::abs(Wide{exact.high}) + std::abs(Wide{exact.low}) + Wide{exact.radius};
}

/// Relative and absolute error of one rounding to a format.
struct Rounding {
  Wide relative = 0;
  Wide absolute = 0;
  double max_finite = std::numeric_limits<double>::infinity();

  Wide error(Wide magnitude) const { return relative * magnitude + absolute; }
};

/// A quantity of the kernel: a bound of the exact magnitude and of the error so far.
struct Computed {
  Wide magnitude = 0;
  Wide error = 0;

  Wide size() const { return magnitude + error; }
};

/// What is added to a score at one place, key j: before the softcap or after it.
struct Additions {
  Wide magnitude = 0;  ///< sum of |addend|
  Wide error = 0;      ///< of the addends as the kernel has them
  Index count = 0;

  /// `relative_error` is that of addends that the kernel forms itself, which lose `product` where
  /// they underflow; a stored one that is read as 0 loses `read`.
  void add(const ScoreAddend& addend, std::size_t j, Wide relative_error, Wide product, Wide read) {
    const Wide size = std::abs(Wide{addend.value[j]});
    if (size == 0) return;  // adding 0 rounds nothing
    magnitude += size;
    error += addend.computed ? relative_error * size + product : read;
    ++count;
  }
};

/// Error of a score of magnitude `base` and error `error` after `additions` in any order or tree;
/// `result` is the exact magnitude then. Every term passes at most count - 1 additions and then the
/// last one, which rounds the sum.
inline Wide error_after(const Additions& additions, Wide base, Wide error, Wide result, Wide u,
                        Wide flush) {
  if (additions.count == 0) return error;
  const auto before = static_cast<Wide>(additions.count - 1);
  error += additions.error;
  error += std::expm1(before * u) * (base + additions.magnitude + error) +
           before * flush * std::exp(before * u);
  return error + u * (result + error) + flush;
}

/// The sum of terms weight * factor, where the factor is a stored number.
struct TermSum {
  Wide error = 0;      ///< sum of (error of the weight) |factor|
  Wide magnitude = 0;  ///< sum of (computed weight) |factor|
  Wide weights = 0;    ///< sum of computed weights
  Wide factors = 0;    ///< sum of |factor|
  Index terms = 0;

  void add(const Computed& weight, double factor) {
    error += weight.error * std::abs(factor);
    magnitude += weight.size() * std::abs(factor);
    weights += weight.size();
    factors += std::abs(factor);
    ++terms;
  }
};

}  // namespace attest
