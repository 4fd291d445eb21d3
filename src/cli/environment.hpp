// Where and with what a run was made; an attention result depends on more than the sources.
#pragma once

#include "reports/report.hpp"

namespace attest::cli {

/// Program, commit, compiler, machine, rounding and flush-to-zero state, libraries.
reports::Environment environment();

}  // namespace attest::cli
