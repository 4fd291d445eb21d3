// Units in the last place of a dtype.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "attest/dtype.hpp"

namespace attest {

/// Spacing of the dtype's numbers at a value; the smallest subnormal at 0.
inline double ulp_at(double value, Dtype dtype) {
  if (dtype == Dtype::f32) {
    const float size = std::abs(static_cast<float>(value));
    return static_cast<double>(std::nextafter(size, std::numeric_limits<float>::infinity()) - size);
  }
  const double size = std::abs(value);
  if (dtype == Dtype::f64)
    return std::nextafter(size, std::numeric_limits<double>::infinity()) - size;
  const Format format = format_of(dtype);
  const double binade = std::max(size, format.min_normal);
  return std::ldexp(2 * format.unit_roundoff, std::ilogb(binade));
}

}  // namespace attest
