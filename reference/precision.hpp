// The precisions of the ladder as constants.
#pragma once

#include <type_traits>

#include "reference/oracle.hpp"

namespace attest::reference {

/// Calls `body` with the number of the ladder that is at least `bits`, as a constant.
template <class Body>
auto with_precision(int bits, Body&& body) {
  constexpr auto& ladder = kPrecisionLadder;
  static_assert(ladder.size() == 4);
  if (bits <= ladder[0]) return body(std::integral_constant<int, ladder[0]>{});
  if (bits <= ladder[1]) return body(std::integral_constant<int, ladder[1]>{});
  if (bits <= ladder[2]) return body(std::integral_constant<int, ladder[2]>{});
  return body(std::integral_constant<int, ladder[3]>{});
}

}  // namespace attest::reference
