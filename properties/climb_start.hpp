// Where a climb begins, and what random testing draws.
#pragma once

#include "properties/climb.hpp"
#include "properties/draw.hpp"

namespace attest::properties {

/// A case of draw_case with the plan's type and at most its number of keys; where the plan names a
/// problem, that problem with values of any family.
Case draw_within(const ClimbPlan& plan, Draw& draw);

/// One batch member, head and query, few keys and columns, normal values; where the plan names a
/// problem, that problem. A case of draw_within where the kernel does not support either.
Case draw_normal(const ClimbPlan& plan, Draw& draw);

/// A case that is quick to judge and every number of which matters: half of them as in draw_normal
/// with values of any family, half of them small ones of draw_within.
Case draw_start(const ClimbPlan& plan, Draw& draw);

}  // namespace attest::properties
