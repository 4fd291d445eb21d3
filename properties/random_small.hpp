// Small cases, for very many of them a second.
#pragma once

#include "properties/case.hpp"

namespace attest::properties {

/// Fewer heads, queries, keys and columns, and smaller tiles. Called after the shape was drawn, so
/// that the same draw gives the same kind of case. Precondition: a shape without lengths.
void keep_small(Case& of);

}  // namespace attest::properties
