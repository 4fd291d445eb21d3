// Parts of a random case, for generators that make one without the others.
#pragma once

#include "properties/random_case.hpp"

namespace attest::properties {

/// How the work of so many keys is cut.
Tiling draw_tiling(Draw& draw, Index seq_kv);

/// The tensors of a case whose problem and tiling are set.
void draw_values(Draw& draw, const CaseLimits& limits, Case& into);

}  // namespace attest::properties
