// Intervals of MPFR numbers at a fixed precision; every operation rounds outward.
//
// An operation's interval holds the exact result for every choice of points in the operands; the
// ends are the correctly rounded ones of MPFR, so nothing is wider than one rounding an operation.
// Undefined results (0 * inf, a divisor that holds 0, log below 0) have the ends NaN or infinite,
// which to_enclosure hands on as a radius that is not finite.
#pragma once

#include <mpfr.h>

#include <algorithm>

#include "attest/enclosure.hpp"
#include "reference/interval_rounding.hpp"

namespace attest::reference {

/// Fixed precision in the type, so that no thread depends on a global default.
template <int Bits, class Rounding = Outward>
class Interval {
 public:
  static_assert(Bits >= 53, "a double is a point");

  Interval() : Interval(0.0) {}
  /// The point `value`. Implicit, so that doubles are operands.
  Interval(double value) {  // NOLINT(google-explicit-constructor): see above
    mpfr_init2(lower_, Bits);
    mpfr_init2(upper_, Bits);
    mpfr_set_d(lower_, value, MPFR_RNDN);
    mpfr_set_d(upper_, value, MPFR_RNDN);
  }
  Interval(const Interval& other) {
    mpfr_init2(lower_, Bits);
    mpfr_init2(upper_, Bits);
    mpfr_set(lower_, other.lower_, MPFR_RNDN);
    mpfr_set(upper_, other.upper_, MPFR_RNDN);
  }
  Interval(Interval&& other) noexcept {
    mpfr_init2(lower_, Bits);
    mpfr_init2(upper_, Bits);
    swap(other);
  }
  Interval& operator=(const Interval& other) {
    mpfr_set(lower_, other.lower_, MPFR_RNDN);
    mpfr_set(upper_, other.upper_, MPFR_RNDN);
    return *this;
  }
  Interval& operator=(Interval&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Interval() { mpfr_clears(lower_, upper_, static_cast<mpfr_ptr>(nullptr)); }

  mpfr_ptr lower() { return lower_; }
  mpfr_ptr upper() { return upper_; }
  mpfr_srcptr lower() const { return lower_; }
  mpfr_srcptr upper() const { return upper_; }

  void swap(Interval& other) noexcept {
    mpfr_swap(lower_, other.lower_);
    mpfr_swap(upper_, other.upper_);
  }

  Interval& operator+=(const Interval& other) {
    mpfr_add(lower_, lower_, other.lower_, downward<Rounding>(Site::add_lower));
    mpfr_add(upper_, upper_, other.upper_, upward<Rounding>(Site::add_upper));
    return *this;
  }
  Interval& operator-=(const Interval& other) {
    Interval difference;
    mpfr_sub(difference.lower_, lower_, other.upper_, downward<Rounding>(Site::subtract_lower));
    mpfr_sub(difference.upper_, upper_, other.lower_, upward<Rounding>(Site::subtract_upper));
    swap(difference);
    return *this;
  }
  Interval& operator*=(const Interval& other) {
    Interval product;
    set_extremes(product, other, mpfr_mul, Site::multiply_lower, Site::multiply_upper);
    swap(product);
    return *this;
  }
  Interval& operator/=(const Interval& other) {
    Interval quotient;
    if (mpfr_sgn(other.lower_) <= 0 && mpfr_sgn(other.upper_) >= 0) {
      mpfr_set_inf(quotient.lower_, -1);
      mpfr_set_inf(quotient.upper_, 1);
    } else {
      set_extremes(quotient, other, mpfr_div, Site::divide_lower, Site::divide_upper);
    }
    swap(quotient);
    return *this;
  }

  friend Interval operator+(Interval left, const Interval& right) { return left += right; }
  friend Interval operator-(Interval left, const Interval& right) { return left -= right; }
  friend Interval operator*(Interval left, const Interval& right) { return left *= right; }
  friend Interval operator/(Interval left, const Interval& right) { return left /= right; }
  friend Interval operator-(Interval interval) {
    mpfr_swap(interval.lower_, interval.upper_);
    mpfr_neg(interval.lower_, interval.lower_, MPFR_RNDN);
    mpfr_neg(interval.upper_, interval.upper_, MPFR_RNDN);
    return interval;
  }

 private:
  /// Products and quotients are monotone in each operand between the zeros, so that their extremes
  /// lie at ends of the operands.
  template <class Operation>
  void set_extremes(Interval& result, const Interval& other, Operation operation, Site below,
                    Site above) const {
    Interval next;
    bool first = true;
    const int left_ends = mpfr_equal_p(lower_, upper_) != 0 ? 1 : 2;
    const int right_ends = mpfr_equal_p(other.lower_, other.upper_) != 0 ? 1 : 2;
    for (int left = 0; left < left_ends; ++left)
      for (int right = 0; right < right_ends; ++right) {
        mpfr_srcptr a = left == 0 ? lower_ : upper_;
        mpfr_srcptr b = right == 0 ? other.lower_ : other.upper_;
        Interval& target = first ? result : next;
        operation(target.lower_, a, b, downward<Rounding>(below));
        operation(target.upper_, a, b, upward<Rounding>(above));
        // Comparisons with NaN are false both ways, hence the negation: NaN is kept.
        if (!first && !mpfr_lessequal_p(result.lower_, next.lower_) && !mpfr_nan_p(result.lower_))
          mpfr_swap(result.lower_, next.lower_);
        if (!first && !mpfr_greaterequal_p(result.upper_, next.upper_) &&
            !mpfr_nan_p(result.upper_))
          mpfr_swap(result.upper_, next.upper_);
        first = false;
      }
  }

  mpfr_t lower_;
  mpfr_t upper_;
};

template <int Bits, class Rounding>
Interval<Bits, Rounding> exp(Interval<Bits, Rounding> x) {
  mpfr_exp(x.lower(), x.lower(), downward<Rounding>(Site::exp_lower));
  mpfr_exp(x.upper(), x.upper(), upward<Rounding>(Site::exp_upper));
  return x;
}
template <int Bits, class Rounding>
Interval<Bits, Rounding> log(Interval<Bits, Rounding> x) {
  mpfr_log(x.lower(), x.lower(), downward<Rounding>(Site::log_lower));
  mpfr_log(x.upper(), x.upper(), upward<Rounding>(Site::log_upper));
  return x;
}
template <int Bits, class Rounding>
Interval<Bits, Rounding> tanh(Interval<Bits, Rounding> x) {
  mpfr_tanh(x.lower(), x.lower(), downward<Rounding>(Site::tanh_lower));
  mpfr_tanh(x.upper(), x.upper(), upward<Rounding>(Site::tanh_upper));
  return x;
}

/// Adds products to an interval, every step rounded outward. The two sums of products are where
/// the oracle spends its time: here the memory of the products is kept.
template <int Bits, class Rounding = Outward>
class ProductSum {
 public:
  using Number = Interval<Bits, Rounding>;

  ProductSum() : factor_(53), product_(Bits) {}

  /// sum += a * b for doubles of at most 53 bits each.
  void add(Number& sum, double a, double b) {
    mpfr_set_d(factor_.get(), a, MPFR_RNDN);
    // 106 bits hold the product: exact, whatever the rounding mode.
    static_assert(Bits >= 106);
    mpfr_mul_d(product_.get(), factor_.get(), b, MPFR_RNDN);
    add_point(sum, product_.get());
  }
  /// sum += a * b for doubles whose product is exact in double (both are floats).
  void add_exact(Number& sum, double a, double b) {
    mpfr_set_d(factor_.get(), a * b, MPFR_RNDN);
    add_point(sum, factor_.get());
  }
  /// sum += a * b for an interval a >= 0.
  void add(Number& sum, const Number& a, double b) {
    mpfr_set_d(factor_.get(), b, MPFR_RNDN);
    add(sum, a, factor_.get());
  }
  /// The same for a number b of any precision.
  void add(Number& sum, const Number& a, mpfr_srcptr b) {
    const bool negative = mpfr_sgn(b) < 0;
    mpfr_srcptr low = negative ? a.upper() : a.lower();
    mpfr_srcptr high = negative ? a.lower() : a.upper();
    mpfr_ptr product = product_.get();
    mpfr_mul(product, low, b, downward<Rounding>(Site::product_lower));
    mpfr_add(sum.lower(), sum.lower(), product, downward<Rounding>(Site::product_sum_lower));
    mpfr_mul(product, high, b, upward<Rounding>(Site::product_upper));
    mpfr_add(sum.upper(), sum.upper(), product, upward<Rounding>(Site::product_sum_upper));
  }

 private:
  static void add_point(Number& sum, mpfr_srcptr point) {
    mpfr_add(sum.lower(), sum.lower(), point, downward<Rounding>(Site::point_sum_lower));
    mpfr_add(sum.upper(), sum.upper(), point, upward<Rounding>(Site::point_sum_upper));
  }

  Scratch factor_;
  Scratch product_;
};

template <int Bits, class Rounding>
double upper_double(const Interval<Bits, Rounding>& interval) {
  return mpfr_get_d(interval.upper(), upward<Rounding>(Site::upper_double));
}

/// Upper bound of the distance from the point `value` to any point of the interval.
template <int Bits, class Rounding>
double radius_around(const Interval<Bits, Rounding>& interval, mpfr_srcptr value) {
  Scratch above(53);
  Scratch below(53);
  mpfr_sub(above.get(), interval.upper(), value, upward<Rounding>(Site::gap_above));
  mpfr_sub(below.get(), value, interval.lower(), upward<Rounding>(Site::gap_below));
  if (mpfr_nan_p(below.get()) != 0 || mpfr_greater_p(below.get(), above.get()) != 0)
    mpfr_swap(above.get(), below.get());
  return mpfr_get_d(above.get(), upward<Rounding>(Site::radius));
}

/// The interval as high + low with a radius in double precision, rounded outward.
template <int Bits, class Rounding>
Enclosure to_enclosure(const Interval<Bits, Rounding>& interval) {
  Enclosure enclosure;
  Scratch middle(Bits + 64);
  mpfr_add(middle.get(), interval.lower(), interval.upper(), MPFR_RNDN);
  mpfr_div_2ui(middle.get(), middle.get(), 1, MPFR_RNDN);
  enclosure.high = mpfr_get_d(middle.get(), MPFR_RNDN);
  mpfr_sub_d(middle.get(), middle.get(), enclosure.high, MPFR_RNDN);
  enclosure.low = mpfr_get_d(middle.get(), MPFR_RNDN);
  // The radius is that of the point high + low, however well it was chosen. 2200 bits hold the sum
  // of any two doubles.
  Scratch point(2200);
  mpfr_set_d(point.get(), enclosure.high, MPFR_RNDN);
  mpfr_add_d(point.get(), point.get(), enclosure.low, MPFR_RNDN);
  enclosure.radius = radius_around<Bits>(interval, point.get());
  return enclosure;
}

}  // namespace attest::reference
