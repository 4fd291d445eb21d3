// Intervals of MPFR numbers at a fixed precision; every operation rounds outward (MPFI).
#pragma once

#include <mpfi.h>
#include <mpfr.h>

#include <boost/multiprecision/mpfi.hpp>

#include "attest/enclosure.hpp"

namespace attest::reference {

/// Decimal digits for which Boost's backend has at least `bits` bits of precision.
constexpr unsigned digits_for_bits(int bits) {
  return (static_cast<unsigned>(bits) * 301U + 999U) / 1000U;
}

/// Fixed precision in the type, so that no thread depends on a global default.
template <int Bits>
using Interval =
    boost::multiprecision::number<boost::multiprecision::mpfi_float_backend<digits_for_bits(Bits)>,
                                  boost::multiprecision::et_off>;

template <int Bits>
mpfi_ptr raw(Interval<Bits>& interval) {
  return interval.backend().data();
}
template <int Bits>
mpfi_srcptr raw(const Interval<Bits>& interval) {
  return interval.backend().data();
}

/// Adds products to an interval, every step rounded outward. The two sums of products are where
/// the oracle spends its time: here MPFR is called directly, with memory that is kept.
template <int Bits>
class ProductSum {
 public:
  ProductSum() {
    mpfr_init2(factor_, 53);
    mpfr_init2(product_, Bits);
  }
  ProductSum(const ProductSum&) = delete;
  ProductSum& operator=(const ProductSum&) = delete;
  ~ProductSum() { mpfr_clears(factor_, product_, static_cast<mpfr_ptr>(nullptr)); }

  /// sum += a * b for doubles of at most 53 bits each.
  void add(Interval<Bits>& sum, double a, double b) {
    mpfr_set_d(factor_, a, MPFR_RNDN);
    // 106 bits hold the product: exact, whatever the rounding mode.
    static_assert(Bits >= 106);
    mpfr_mul_d(product_, factor_, b, MPFR_RNDN);
    add_point(sum, product_);
  }
  /// sum += a * b for doubles whose product is exact in double (both are floats).
  void add_exact(Interval<Bits>& sum, double a, double b) {
    mpfr_set_d(factor_, a * b, MPFR_RNDN);
    add_point(sum, factor_);
  }
  /// sum += a * b for an interval a >= 0.
  void add(Interval<Bits>& sum, const Interval<Bits>& a, double b) {
    mpfr_set_d(factor_, b, MPFR_RNDN);
    const auto* const low = b < 0 ? &raw<Bits>(a)->right : &raw<Bits>(a)->left;
    const auto* const high = b < 0 ? &raw<Bits>(a)->left : &raw<Bits>(a)->right;
    mpfr_ptr left = &raw<Bits>(sum)->left;
    mpfr_ptr right = &raw<Bits>(sum)->right;
    mpfr_mul(product_, low, factor_, MPFR_RNDD);
    mpfr_add(left, left, product_, MPFR_RNDD);
    mpfr_mul(product_, high, factor_, MPFR_RNDU);
    mpfr_add(right, right, product_, MPFR_RNDU);
  }

 private:
  static void add_point(Interval<Bits>& sum, mpfr_srcptr point) {
    mpfr_ptr left = &raw<Bits>(sum)->left;
    mpfr_ptr right = &raw<Bits>(sum)->right;
    mpfr_add(left, left, point, MPFR_RNDD);
    mpfr_add(right, right, point, MPFR_RNDU);
  }

  mpfr_t factor_;
  mpfr_t product_;
};

template <int Bits>
double upper_double(const Interval<Bits>& interval) {
  return mpfr_get_d(&raw<Bits>(interval)->right, MPFR_RNDU);
}

/// Upper bound of the distance from the point `value` to any point of the interval.
template <int Bits>
double radius_around(const Interval<Bits>& interval, mpfr_srcptr value) {
  mpfr_t gap;
  mpfr_init2(gap, 64);
  mpfr_sub(gap, &raw<Bits>(interval)->right, value, MPFR_RNDU);
  double radius = mpfr_get_d(gap, MPFR_RNDU);
  mpfr_sub(gap, value, &raw<Bits>(interval)->left, MPFR_RNDU);
  radius = std::max(radius, mpfr_get_d(gap, MPFR_RNDU));
  mpfr_clear(gap);
  return radius;
}

/// The interval as high + low with a radius in double precision, rounded outward.
template <int Bits>
Enclosure to_enclosure(const Interval<Bits>& interval) {
  Enclosure enclosure;
  mpfr_t middle;
  mpfr_t rest;
  mpfr_init2(middle, Bits + 64);
  mpfr_init2(rest, Bits + 64);
  mpfi_mid(middle, raw<Bits>(interval));
  enclosure.high = mpfr_get_d(middle, MPFR_RNDN);
  mpfr_sub_d(rest, middle, enclosure.high, MPFR_RNDN);
  enclosure.low = mpfr_get_d(rest, MPFR_RNDN);
  // high + low at a precision that holds it exactly, unless the two are more than 2^1000 apart,
  // where low is an insignificant part and the subtraction below still rounds outward.
  mpfr_t point;
  mpfr_init2(point, 2200);
  mpfr_set_d(point, enclosure.high, MPFR_RNDN);
  mpfr_add_d(point, point, enclosure.low, MPFR_RNDN);
  enclosure.radius = radius_around<Bits>(interval, point);
  mpfr_clears(middle, rest, point, static_cast<mpfr_ptr>(nullptr));
  return enclosure;
}

}  // namespace attest::reference
