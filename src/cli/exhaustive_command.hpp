// attest bench --exhaustive: an elementary function of the SIMD kernels on every float.
#pragma once

#include <string>
#include <vector>

namespace attest::cli {

struct ExhaustiveOptions {
  std::string function;
  std::vector<std::string> targets;  ///< empty: every one that this machine has
  int threads = 0;                   ///< 0: one a core
  std::string state;                 ///< empty: nothing is kept
};

/// Returns the exit code: a violation is an error beyond the declared one, or a wrong special
/// value.
int exhaustive_command(const ExhaustiveOptions& options);

}  // namespace attest::cli
