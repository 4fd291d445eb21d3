// What is added to a score after all else that it meets, where one number may stand for a mask.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "attest/dtype.hpp"
#include "attest/error_bound.hpp"
#include "computed.hpp"

namespace attest {

/// The addends of one key that meet its finished score: all of them without a softcap.
struct LateAddends {
  Wide stand_in = 0;  ///< the most negative one, or 0
  Wide others = 0;    ///< sum of the magnitudes of the rest

  Wide magnitude() const { return others - stand_in; }
};

inline LateAddends late_addends(std::span<const ScoreAddend> addends, std::size_t j, bool softcap) {
  LateAddends late;
  for (const ScoreAddend& addend : addends) {
    if (softcap && addend.before_softcap) continue;
    late.stand_in = std::min(late.stand_in, Wide{addend.value[j]});
    late.others += std::abs(Wide{addend.value[j]});
  }
  late.others += late.stand_in;
  return late;
}

/// Whether a very negative number (a finite stand-in for a mask) swallows all else: what is added
/// to it in any order, `others` in all, and the maximum or lse of the row that is subtracted are
/// less than half of its rounding, so that no result exceeds the largest finite number.
inline bool stands_for_a_mask(Wide stand_in, Wide others, Wide of_row, const Format& format) {
  const Wide lost = Wide{format.max_finite} * format.unit_roundoff / 8;
  return -stand_in <= format.max_finite && others < lost && of_row < lost;
}

}  // namespace attest
