// The smallest cases there are: shrinking tries them before it cuts a large case down, because
// cutting can end at a case where no single move keeps the failure.
#pragma once

#include <vector>

#include "properties/case.hpp"

namespace attest::properties {

/// One head, up to two queries and two keys, dimension 1, values 0 and 1, tile 1, one or two kv
/// splits, with dtype, lse, policy and the kind of mask of `like`; in ascending complexity.
std::vector<Case> small_worlds(const Case& like);

}  // namespace attest::properties
