// Where and with what a run was made; an attention result depends on more than the sources.
#pragma once

#include <string>

#include "reports/report.hpp"

namespace attest::cli {

/// Program, commit, compiler, machine, rounding and flush-to-zero state, libraries.
reports::Environment environment();

/// The words of this process as a shell reads them back, the program without its folder; empty
/// where the system does not tell.
std::string command_line();

}  // namespace attest::cli
