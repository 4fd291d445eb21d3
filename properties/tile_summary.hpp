// The running summary of the tile model (properties/tile_model.hpp), and its roundings.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "attest/narrow_float.hpp"

namespace attest::properties {

inline constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

/// Beside the number of a numerator the magnitude of its terms, and what may be wrong with it where
/// a weight lies near the middle between two numbers of a narrow type.
struct ModelColumn {
  double value = 0;
  double magnitude = 0;
  double slack = 0;

  void scale(double factor) {
    value *= factor;
    magnitude *= factor;
    slack *= factor;
  }
  void add(const ModelColumn& other, double factor) {
    value += factor * other.value;
    magnitude += factor * other.magnitude;
    slack += factor * other.slack;
  }
};

struct ModelSummary {
  double maximum = kMinusInfinity;
  double sum = 0;
  double sum_slack = 0;
  std::vector<ModelColumn> columns;

  bool nothing() const { return maximum == kMinusInfinity; }
};

/// A number after rounding, and how far off that may be.
struct ModelRounding {
  double value = 0;
  double slack = 0;
};

inline double toward_zero(const Format& format, double value) {
  const double nearest = round_to(format, value);
  if (!(std::abs(nearest) > std::abs(value))) return nearest;
  const double below = nearest - std::copysign(format.unit_roundoff, nearest) * std::abs(nearest);
  return round_to(format, below);
}

/// x, known up to `error`, in a format.
inline ModelRounding in_format(const Format& format, double x, double error, bool cut,
                               bool saturate) {
  const Overflow overflow = saturate ? Overflow::saturate : Overflow::infinity;
  const auto round = [&](double number) {
    return cut ? toward_zero(format, number) : round_to(format, number, overflow);
  };
  const double low = round(x - error);
  const double high = round(x + error);
  const double middle = round(x);
  return {middle, std::max(std::abs(high - middle), std::abs(middle - low))};
}

}  // namespace attest::properties
