// The rule of attest compare: conditions joined by '&', each NAME OPERATOR NUMBER.
//
//   ratio<=1.25 & new_fail==0 & rms<=1.1 & power>=0.99
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "attest/status.hpp"

namespace attest::reports {

/// What a rule may speak of.
enum class Quantity {
  ratio,     ///< largest growth of a law's worst error / bound, new over old
  rms,       ///< largest growth of the rms error in ULP of a kernel and dtype
  new_fail,  ///< laws and tensors that are violated and were not before
  fail,      ///< laws and tensors that are violated
  gone,      ///< laws and tensors that were checked before and are not now
  power,     ///< share of stand-ins that the new run refused
  worst,     ///< worst error / bound of the new run
};

std::string_view to_string(Quantity quantity);

enum class Comparison { less, at_most, equal, at_least, more };

struct Condition {
  Quantity quantity = Quantity::ratio;
  Comparison comparison = Comparison::at_most;
  double number = 0;
  std::string text;  ///< as it was written
};

struct Gate {
  std::vector<Condition> conditions;  ///< none: everything passes
};

/// The error shows the rule with a caret under the place.
Status parse_gate(std::string_view text, Gate& gate);

bool holds(const Condition& condition, double value);

}  // namespace attest::reports
