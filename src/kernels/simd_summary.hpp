// How the SIMD kernels summarise a row, one step at a time: the code of their forward pass on a
// strip of one row.
#pragma once

#include <cstdint>
#include <memory>

#include "attest/kernel.hpp"

namespace attest::kernels {

/// Of the code of a target of find_target(); f32 and f64.
std::unique_ptr<SummaryOps<float>> simd_summary_ops_f32(std::int64_t target);
std::unique_ptr<SummaryOps<double>> simd_summary_ops_f64(std::int64_t target);

}  // namespace attest::kernels
