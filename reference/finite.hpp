// Which numbers the oracles take, and when an enclosure of theirs says enough.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "attest/enclosure.hpp"
#include "reference/oracle.hpp"

namespace attest::reference {

inline bool all_finite(std::span<const double> numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](double x) { return std::isfinite(x); });
}

inline bool is_finite(const Enclosure& enclosure) {
  return std::isfinite(enclosure.high) && std::isfinite(enclosure.radius);
}

/// Against the bound that it is compared with.
inline bool is_narrow(const Enclosure& enclosure, double bound) {
  // A pair of doubles cannot say more than its smallest number; no precision narrows that.
  return enclosure.radius <= kWidthShare * bound ||
         enclosure.radius <= std::numeric_limits<double>::denorm_min();
}

}  // namespace attest::reference
