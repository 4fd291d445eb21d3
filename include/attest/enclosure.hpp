// A certified value: the exact real number lies within radius of high + low.
#pragma once

#include <cmath>
#include <limits>

namespace attest {

/// `high + low` is an unevaluated sum, so that a double-precision kernel can be judged too.
/// An infinite `high` with radius 0 stands for that infinity exactly (lse of an empty row).
struct Enclosure {
  double high = 0;
  double low = 0;
  double radius = 0;

  /// Upper and lower bounds of abs(value - exact), rounded outward; NaN for a NaN.
  double distance_upper(double value) const {
    if (value == high && low == 0 && radius == 0) return 0;
    return std::abs((value - high) - low) * (1 + 0x1p-50) + radius +
           std::numeric_limits<double>::denorm_min();
  }
  double distance_lower(double value) const {
    if (value == high && low == 0 && radius == 0) return 0;
    const double near = std::abs((value - high) - low) * (1 - 0x1p-50) - radius -
                        std::numeric_limits<double>::denorm_min();
    return near < 0 ? 0 : near;  // NaN stays NaN: it is within no bound
  }
};

}  // namespace attest
