// What the tests say of a row: matchers, all of its bits, and bounds of one size.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "reference/oracle.hpp"

namespace attest::reference {

MATCHER_P(IsExactly, value, "") {
  return arg.high == value && arg.low == 0 && arg.radius == 0;
}
/// An upper bound of a float that is nearer to it than to any other float.
MATCHER_P(IsJustAbove, value, "") {
  return arg >= value && static_cast<float>(arg) == value;
}
MATCHER_P(Contains, value, "") {
  return std::isfinite(arg.radius) && arg.distance_lower(value) == 0;
}

/// Everything that a row says, as bits.
inline std::vector<std::uint64_t> bits_of(const RowFacts& facts) {
  std::vector<std::uint64_t> bits;
  const auto append = [&](double value) { bits.push_back(std::bit_cast<std::uint64_t>(value)); };
  const auto append_enclosure = [&](const Enclosure& enclosure) {
    for (const double value : {enclosure.high, enclosure.low, enclosure.radius}) append(value);
  };
  for (const Index key : facts.keys) append(static_cast<double>(key));
  for (const auto* list : {&facts.score, &facts.score_radius, &facts.score_magnitude,
                           &facts.probability, &facts.value})
    std::for_each(list->begin(), list->end(), append);
  std::for_each(facts.output.begin(), facts.output.end(), append_enclosure);
  append_enclosure(facts.lse);
  for (const double value : {facts.score_max, facts.log_sum, facts.dot_magnitude_max, facts.scale,
                             static_cast<double>(facts.head_dim)})
    append(value);
  return bits;
}

inline RowBound uniform_bound(const RowFacts& facts, double output, double lse) {
  return {std::vector<double>(facts.output.size(), output), lse, {}};
}

}  // namespace attest::reference
