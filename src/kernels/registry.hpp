// The table of built-in kernels.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "attest/kernel.hpp"

namespace attest::kernels {

/// In a stable order; every name begins with "builtin:".
std::span<const std::unique_ptr<Kernel>> builtin_kernels();

/// Null when there is none of this name.
const Kernel* find_builtin(std::string_view name);

}  // namespace attest::kernels
