#include <mpfr.h>

#include <cmath>
#include <limits>

#include "reference/elementary_error.hpp"
#include "reference/interval_rounding.hpp"

namespace attest::reference {
namespace {

/// To nearest.
void set_function(Scratch& value, Elementary function, double x) {
  mpfr_set_d(value.get(), x, MPFR_RNDN);
  if (function == Elementary::exp) mpfr_exp(value.get(), value.get(), MPFR_RNDN);
  if (function == Elementary::tanh) mpfr_tanh(value.get(), value.get(), MPFR_RNDN);
  if (function == Elementary::log) mpfr_log(value.get(), value.get(), MPFR_RNDN);
}

float rounded_to(mpfr_srcptr value, float /*format*/) {
  return mpfr_get_flt(value, MPFR_RNDN);
}
double rounded_to(mpfr_srcptr value, double /*format*/) {
  return mpfr_get_d(value, MPFR_RNDN);
}

/// Both neighbours of the nearest number at rising precision, until they round to the same number.
/// The functions are irrational at rational arguments other than 0 and 1, so this ends; a result of
/// 0 is exact.
template <class Real>
Real correctly_rounded_result(Elementary function, double x) {
  for (mpfr_prec_t bits = 192;; bits *= 2) {
    Scratch below(bits);
    Scratch above(bits);
    set_function(below, function, x);
    if (mpfr_zero_p(below.get()) != 0) return rounded_to(below.get(), Real{});
    mpfr_set(above.get(), below.get(), MPFR_RNDN);
    mpfr_nextbelow(below.get());
    mpfr_nextabove(above.get());
    const Real lower = rounded_to(below.get(), Real{});
    const Real upper = rounded_to(above.get(), Real{});
    if (lower == upper && std::signbit(lower) == std::signbit(upper)) return lower;
  }
}

/// The working precision leaves 2^-100 of an error that counts.
template <class Real>
ElementaryError error_of(Elementary function, Real x, Real result) {
  using Limits = std::numeric_limits<Real>;
  free_cache_at_thread_end();
  Scratch exact(256);
  set_function(exact, function, x);
  Scratch off(256);
  if (std::isinf(result)) {
    mpfr_set_si_2exp(off.get(), result > 0 ? 1 : -1, Limits::max_exponent, MPFR_RNDN);
    const bool saturated =
        mpfr_cmpabs(exact.get(), off.get()) >= 0 && mpfr_sgn(exact.get()) == mpfr_sgn(off.get());
    mpfr_sub(off.get(), saturated ? exact.get() : off.get(), exact.get(), MPFR_RNDN);
  } else {
    mpfr_d_sub(off.get(), static_cast<double>(result), exact.get(), MPFR_RNDN);
  }
  mpfr_abs(off.get(), off.get(), MPFR_RNDN);

  ElementaryError error;
  // MPFR's significands are in [1/2, 1), as the exponents of numeric_limits count.
  const mpfr_exp_t exponent = mpfr_get_exp(exact.get());
  error.subnormal = exponent < Limits::min_exponent;
  const mpfr_exp_t binade = error.subnormal ? Limits::min_exponent : exponent;
  Scratch scaled(256);
  mpfr_mul_2si(scaled.get(), off.get(), Limits::digits - binade, MPFR_RNDN);
  error.ulp = mpfr_get_d(scaled.get(), MPFR_RNDN);
  mpfr_div(scaled.get(), off.get(), exact.get(), MPFR_RNDN);
  mpfr_abs(scaled.get(), scaled.get(), MPFR_RNDN);
  mpfr_mul_2si(scaled.get(), scaled.get(), Limits::digits, MPFR_RNDN);
  error.relative = mpfr_get_d(scaled.get(), MPFR_RNDN);
  const Real best = correctly_rounded_result<Real>(function, x);
  error.rounded = result == best && std::signbit(result) == std::signbit(best);
  return error;
}

}  // namespace

ElementaryError exact_error(Elementary function, float x, float result) {
  return error_of(function, x, result);
}

ElementaryError exact_error(Elementary function, double x, double result) {
  return error_of(function, x, result);
}

}  // namespace attest::reference
