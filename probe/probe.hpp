// Finds out the conventions of a kernel by experiments through its interface.
//
// Nothing that a kernel declares is believed beyond what is needed to call it: its types and its
// features. Of every experiment several candidates are computed, by the oracle or in exact
// arithmetic, and one is told only if it alone fits within its bound, for two inputs, and the
// others are refused by a clear margin. docs/probe.md describes the experiments.
#pragma once

#include <optional>

#include "attest/kernel.hpp"
#include "probe/finding.hpp"

namespace attest::probe {

/// Deterministic, if the kernel is. What a kernel throws is taken as an error of that call. `dtype`
/// is the type of q, k and v; none: f32 where the kernel takes it, else f64, bf16, f16 or fp8.
Findings probe_kernel(const Kernel& kernel, std::optional<Dtype> dtype = {});

}  // namespace attest::probe
