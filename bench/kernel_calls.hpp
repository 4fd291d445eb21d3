// The kernels of this repository as competitors.
#pragma once

#include "attest/kernel.hpp"
#include "bench/call.hpp"

namespace attest::bench {

/// The kernel must outlive the competitor. `threads` above 1 is said in its name.
Competitor kernel_competitor(const Kernel& kernel, int threads);

/// The same kernel, with this after its name, on the workload without its mask.
inline constexpr const char* kWithoutMask = "no mask";
Competitor dense_kernel_competitor(const Kernel& kernel);

/// Whether this build can set how many threads a kernel uses.
bool can_set_threads();

}  // namespace attest::bench
