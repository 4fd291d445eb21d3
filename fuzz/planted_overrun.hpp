// A kernel that reads behind its scratch, to see that what AddressSanitizer stops is saved.
#pragma once

#include <memory>

#include "attest/kernel.hpp"

namespace attest::fuzz {

/// builtin:scalar_sequential, and a read behind the end of an array where there are three keys.
std::unique_ptr<Kernel> make_planted_overrun();

}  // namespace attest::fuzz
