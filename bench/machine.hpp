// Where and with what a run was made.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace attest::bench {

/// Processor, clock, caches, load, compiler, commit.
std::vector<std::pair<std::string, std::string>> machine();

/// Starts the program again where the environment would change what other libraries do: OpenBLAS
/// with OPENBLAS_CORETYPE or OPENBLAS_L2_SIZE set is held to an older machine, and OpenMP (oneDNN)
/// must use one thread. Returns where nothing has to change, or the program cannot be started.
void start_with_clean_environment(char** arguments);

}  // namespace attest::bench
