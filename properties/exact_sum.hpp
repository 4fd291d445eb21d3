// Sums of computed numbers and of their products that add no rounding of their own.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "attest/enclosure.hpp"
#include "reference/gradients.hpp"

namespace attest::properties {

class ExactSum {
 public:
  void add(double number) { terms_.push_back({number, 0, 0}); }
  void add_product(double a, double b) {
    const double high = a * b;
    if (high == 0 && (a == 0 || b == 0)) return;
    // What is lost of a product below the normal range is less than the smallest number.
    terms_.push_back({high, std::fma(a, b, -high), std::numeric_limits<double>::denorm_min()});
  }
  void subtract_product(double a, double b) { add_product(-a, b); }

  Enclosure value() const { return reference::enclose_sum(terms_); }
  /// A double that is no less than the sum.
  double upper() const {
    const Enclosure sum = value();
    const double infinity = std::numeric_limits<double>::infinity();
    const double near = std::nextafter(sum.high + std::abs(sum.low), infinity);
    return std::nextafter(near + sum.radius, infinity);
  }

 private:
  std::vector<Enclosure> terms_;
};

}  // namespace attest::properties
