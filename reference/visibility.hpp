// Which keys a query sees, decided apart from attest/problem.hpp's `visible`, which it judges.
#pragma once

#include <vector>

#include "attest/problem.hpp"

namespace attest::reference {

/// The visible keys of row (b, ., query) in ascending order. Written as intersections of ranges of
/// keys, one set a part of the mask; checked against tables written by hand in the tests beside it.
std::vector<Index> visible_keys(const Problem& problem, Index b, Index query);

}  // namespace attest::reference
