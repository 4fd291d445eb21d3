// Small changes of a case for a search: of its numbers, its keys, and the way its work is cut.
//
// Every move keeps the case valid: numbers are finite and of their type, what shares memory stays
// equal, and a tiling fits its keys. A move is a function of the case, the draw and the step alone.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "properties/case.hpp"
#include "properties/draw.hpp"

namespace attest::properties {

struct ValueMove {
  std::string_view name;
  std::string_view sentence;
  /// `step`: the relative size of a Gaussian step; other moves do not read it. False: the move does
  /// not apply, and the case is as it was.
  bool (*apply)(Case& on, Draw& draw, double step);
};

/// In a stable order.
std::span<const ValueMove> value_moves();

/// Applies moves drawn from the table until one applies. False: none of many did.
bool apply_some_move(Case& on, Draw& draw, double step);

/// The number of a type next to `value` (up or down); nothing beyond the largest finite one.
/// Precondition: `value` is a finite number of the type.
std::optional<double> next_number(Dtype dtype, double value, bool up);

/// Cases one ulp away: the number of them, and each by its number, which changes one element of one
/// tensor. Nothing where the neighbour is not finite.
Index ulp_neighbours(const Case& of);
std::optional<Case> ulp_neighbour(const Case& of, Index number);

}  // namespace attest::properties
