// Foreign kernels that this process has opened.
#pragma once

#include <string>
#include <string_view>

#include "attest/kernel.hpp"
#include "foreign/pipe_calls.hpp"

namespace attest::foreign {

/// How foreign kernels run.
struct Isolation {
  bool in_workers = false;  ///< shared objects; false: in this process
  std::string program;      ///< attest itself, which is started as a worker
  CallLimits limits;
};

/// For every kernel that is opened from now on. Without it a shared object runs in this process.
void set_isolation(const Isolation& isolation);

/// "pipe:COMMAND", or a name that names_plugin accepts.
bool names_foreign_kernel(std::string_view name);

/// The kernel of such a name: opened when it is first asked for, and kept until the program ends.
/// May be called by several threads. Errors: those of open_plugin, open_in_worker and open_pipe.
Result<const Kernel*> loaded_kernel(const std::string& name);

}  // namespace attest::foreign
