// Ctrl-C and SIGTERM: the first one asks the run to end in order, the second one ends the program.
#pragma once

#include <atomic>

namespace attest::cli {

/// Installs the handlers and returns the flag that they set.
const std::atomic<bool>& watch_for_interruption();

}  // namespace attest::cli
