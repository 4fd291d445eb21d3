// Kernels that run in processes of their own.
#pragma once

#include <memory>
#include <string>

#include "attest/kernel.hpp"
#include "foreign/pipe_calls.hpp"

namespace attest::foreign {

/// The kernel of a program that speaks docs/pipe-protocol.md; `command` is for `sh -c`. Its name is
/// "pipe:" and the command. Errors: of PipeCalls::open, and invalid_argument for what it says about
/// itself.
Result<std::unique_ptr<Kernel>> open_pipe(const std::string& command, const CallLimits& limits);

/// The kernel of a shared object, as open_plugin takes it, in workers: `program worker PLUGIN`,
/// where `program` is that of attest. Its name is the text as given. Errors: as above.
Result<std::unique_ptr<Kernel>> open_in_worker(const std::string& program,
                                               const std::string& plugin, const CallLimits& limits);

}  // namespace attest::foreign
