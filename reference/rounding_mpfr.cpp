#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/correctly_rounded.hpp"
#include "reference/interval_format.hpp"

namespace attest::reference {
namespace {

/// Exponent of the step between numbers of the format whose size is in [2^exponent,
/// 2^(exponent+1)).
int step_exponent(int exponent, const Format& format) {
  const int bits = -std::ilogb(format.unit_roundoff);
  return std::max(exponent, std::ilogb(format.min_normal)) - (bits - 1);
}

/// A number x >= 0 of the format with 2^step more, and half of the way there.
Neighbour moved(double x, int step, int sign, const Format& format) {
  Neighbour neighbour;
  mpfr_ptr boundary = neighbour.boundary.get();
  mpfr_set_si_2exp(boundary, sign, step - 1, MPFR_RNDN);
  mpfr_add_d(boundary, boundary, x, MPFR_RNDN);
  neighbour.value = x + std::ldexp(sign, step);
  if (!(neighbour.value <= format.max_finite))
    neighbour.value = std::numeric_limits<double>::infinity();
  return neighbour;
}

Neighbour larger(double x, const Format& format) {
  const int exponent = x == 0 ? std::ilogb(format.min_normal) : std::ilogb(x);
  return moved(x, step_exponent(exponent, format), 1, format);
}

Neighbour smaller(double x, const Format& format) {
  if (std::isinf(x)) {
    Neighbour neighbour = larger(format.max_finite, format);
    neighbour.value = format.max_finite;
    return neighbour;
  }
  const int exponent = std::ilogb(x);
  const bool below_is_finer = x == std::ldexp(1.0, exponent);
  return moved(x, step_exponent(below_is_finer ? exponent - 1 : exponent, format), -1, format);
}

Neighbour negated(Neighbour neighbour) {
  neighbour.value = -neighbour.value;
  mpfr_neg(neighbour.boundary.get(), neighbour.boundary.get(), MPFR_RNDN);
  return neighbour;
}

}  // namespace

double round_to_format(mpfr_srcptr x, const Format& format) {
  if (mpfr_regular_p(x) == 0) return mpfr_get_d(x, MPFR_RNDN);  // 0, infinite, NaN
  const auto exponent = mpfr_get_exp(x) - 1;
  const double infinity = std::numeric_limits<double>::infinity();
  if (exponent > std::ilogb(format.max_finite)) return mpfr_sgn(x) < 0 ? -infinity : infinity;
  // A number this small is below every boundary, and its exponent need not fit an int.
  const int lowest = std::ilogb(format.min_normal) - 64;
  const int step = step_exponent(exponent < lowest ? lowest : static_cast<int>(exponent), format);
  Scratch steps(64);  // at most 2^53 of them, so that mpfr_rint rounds once
  Scratch quotient(mpfr_get_prec(x));
  mpfr_mul_2si(quotient.get(), x, -step, MPFR_RNDN);
  mpfr_rint(steps.get(), quotient.get(), MPFR_RNDN);
  const double value = std::ldexp(mpfr_get_d(steps.get(), MPFR_RNDN), step);
  if (std::abs(value) > format.max_finite) return std::copysign(infinity, value);
  return value;
}

Neighbour neighbour_above(double value, const Format& format) {
  if (!std::signbit(value)) return larger(value, format);
  if (value != 0) return negated(smaller(-value, format));
  Neighbour neighbour;
  mpfr_set_zero(neighbour.boundary.get(), 1);
  return neighbour;
}

Neighbour neighbour_below(double value, const Format& format) {
  return negated(neighbour_above(-value, format));
}

double round_to_format(double x, const Format& format) {
  Scratch number(53);
  mpfr_set_d(number.get(), x, MPFR_RNDN);
  return round_to_format(number.get(), format);
}

}  // namespace attest::reference
