// A kernel with an addition that overflows, to see that what a sanitizer stops is saved.
#pragma once

#include <memory>

#include "attest/kernel.hpp"

namespace attest::fuzz {

/// builtin:scalar_sequential, and undefined behaviour where there are three keys.
std::unique_ptr<Kernel> make_planted_undefined();

}  // namespace attest::fuzz
