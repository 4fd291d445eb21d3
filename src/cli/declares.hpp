// What a kernel says that it can do, in one line.
#pragma once

#include <string>

#include "attest/kernel.hpp"

namespace attest::cli {

/// Groups of a kernel's capabilities, joined by " | ": a group that is complete is one word.
std::string declares_text(const Kernel& kernel);

}  // namespace attest::cli
