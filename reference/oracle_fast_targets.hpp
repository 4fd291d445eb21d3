// Runs a body once on every instruction set that was compiled and that this machine has.
#pragma once

#include <cstdint>

#include "hwy/targets.h"

namespace attest::reference {

/// The body gets the target's name. Not for several threads: the choice is one for the process.
template <class Body>
void for_each_target(Body&& body) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    body(hwy::TargetName(target));
  }
  hwy::SetSupportedTargetsForTest(0);
}

}  // namespace attest::reference
