// Foreign kernels that this process has opened.
#pragma once

#include <string>

#include "attest/kernel.hpp"

namespace attest::foreign {

/// The kernel of a name that names_plugin accepts: opened when it is first asked for, and kept
/// until the program ends. May be called by several threads. Errors: those of open_plugin.
Result<const Kernel*> loaded_kernel(const std::string& name);

}  // namespace attest::foreign
