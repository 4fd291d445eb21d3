// What a case must give, as enclosures at the oracle's highest precision.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "attest/enclosure.hpp"
#include "properties/case.hpp"

namespace attest::properties {

/// In the order batch, head, row, column. Nothing: the element does not exist, or the problem does
/// not look at it. A NaN: the result is one, or what it is made of is not finite.
using ExactList = std::vector<std::optional<Enclosure>>;

/// The tensor of this name: out, lse, dq, dk, dv, dbias or dsink.
/// Precondition: the problem asks for it; lse in one number.
ExactList exact_result(const Case& of, const std::string& tensor);

}  // namespace attest::properties
