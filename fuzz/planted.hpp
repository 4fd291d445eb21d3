// A kernel that does something which a sanitizer stops, to see that the case is saved.
#pragma once

#include <memory>

#include "attest/kernel.hpp"

namespace attest::fuzz {

/// builtin:scalar_sequential, which runs the fault first where there are three keys.
std::unique_ptr<Kernel> make_planted(void (*fault)(const Problem&));

}  // namespace attest::fuzz
