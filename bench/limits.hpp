// What the machine can do at most: fused multiply-adds on registers, and reading memory.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "bench/call.hpp"

namespace attest::bench {

/// Runs so many rounds of a loop that touches no memory, and returns their flops.
using FmaFunction = double(long rounds);

struct FmaLoop {
  std::string target;
  FmaFunction* run;
};
/// One an instruction set, the best one first.
std::vector<FmaLoop> fma_loops();

/// Reads `bytes` bytes once, all of it used; `bytes` is a multiple of 4096.
float read_all(const float* data, std::size_t bytes);

/// The best loop, on so many threads at once.
Competitor fma_peak(int threads);
/// Reads k and v of the workload once.
Competitor read_peak();

/// Rates of the machine before anything else runs: name and value with unit.
std::vector<std::pair<std::string, std::string>> measured_limits();

}  // namespace attest::bench
