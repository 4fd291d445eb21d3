// Kernels in shared objects that export a table of functions (attest/kernel_abi.h).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "attest/kernel.hpp"
#include "foreign/plugin_calls.hpp"

namespace attest::foreign {

/// Whether a kernel's name means a shared object: it ends in .so, has ".so:" in it, or a '/' before
/// its first ':'.
bool names_plugin(std::string_view name);

/// `why` with the name of the kernel that cannot be used in front.
Status cannot_use(std::string_view name, const Status& why);

/// A kernel of this name that calls these functions.
std::unique_ptr<Kernel> make_foreign_kernel(std::string name, std::unique_ptr<ForeignCalls> calls,
                                            Described described);

/// PATH or PATH:SYMBOL as open_plugin takes it, with its errors, which do not name the kernel.
Result<LoadedPlugin> load_plugin(const std::string& path_and_symbol);

/// PATH or PATH:SYMBOL; without a symbol `attest_kernel`. A path without '/' is a file of this
/// folder. The kernel's name is the text as given. It runs in this process: what it breaks is
/// broken. Errors: io_error for what is no shared object or lacks the symbol, invalid_argument for
/// what it says about itself; one line each.
Result<std::unique_ptr<Kernel>> open_plugin(const std::string& path_and_symbol);

}  // namespace attest::foreign
