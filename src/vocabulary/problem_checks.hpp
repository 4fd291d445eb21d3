// What validate() looks at, one contradiction after the other.
#pragma once

#include <span>
#include <string_view>

#include "attest/problem.hpp"

namespace attest {

/// A check and the key of the problem text that it is about: "shape" and "types" stand before the
/// keys. Each relies on those before it.
struct ProblemCheck {
  std::string_view key;
  Status (*check)(const Problem&);
};

std::span<const ProblemCheck> shape_checks();
std::span<const ProblemCheck> mask_checks();
std::span<const ProblemCheck> term_checks();
std::span<const ProblemCheck> storage_checks();

/// One call of `visit(check)` for each; stops at the first that returns false.
template <class Visit>
bool for_each_check(Visit&& visit) {
  for (const auto& list : {shape_checks(), mask_checks(), term_checks(), storage_checks()})
    for (const ProblemCheck& check : list)
      if (!visit(check)) return false;
  return true;
}

/// Whether a product of extents is beyond what index arithmetic in 64 bits, in bytes, is sure to
/// hold. An extent of zero is no excuse: the others are multiplied first.
bool too_large(const Extents& extents);

/// a / b rounded up, without overflow. Precondition: a >= 0, b >= 1.
constexpr Index ceil_divide(Index a, Index b) {
  return a / b + (a % b != 0 ? 1 : 0);
}

}  // namespace attest
