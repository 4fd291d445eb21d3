// Memory that a first call takes beside its inputs and its output.
#pragma once

#include <optional>
#include <string>

#include "bench/call.hpp"

namespace attest::bench {

/// Runs a call that was never run before in this process; bytes by which the peak of the resident
/// memory rose beyond what was resident before (VmHWM, without pages of files; at least what the
/// call keeps), and the workspace that was prepared for it. Nothing where the system does not say,
/// or where the call fails.
std::optional<double> first_call_bytes(Call& call);

/// The same in a new process, so that neither scratch kept from earlier calls nor freed memory
/// hides anything: runs this program with --memory-of.
std::optional<double> first_call_bytes_apart(const std::string& workload,
                                             const std::string& competitor,
                                             const std::string& sizes_flag);

}  // namespace attest::bench
