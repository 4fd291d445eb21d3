// The other end of the pipe where the kernel is a shared object: a process that does nothing but
// load it and call it, and looks after each call at what no kernel may do.
#pragma once

#include <string>

#include "foreign/pipe_calls.hpp"

namespace attest::foreign {

/// Takes over standard input and output of this process, loads the shared object and answers
/// requests until the input ends. Returns the exit code.
int run_worker(const std::string& plugin, const CallLimits& limits);

}  // namespace attest::foreign
