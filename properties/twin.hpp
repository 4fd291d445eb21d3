// The twin of a kernel: the plain evaluation in the dtype of the output, with materialised scores.
// Users of FlashAttention know the rule: the error of a kernel, against a reference of high
// precision, may be twice that of a plain implementation in the same dtype.
//
// R rounds to the dtype of the output, + and * are of the compute dtype (f32; f64 for f64), one
// after the other in the order of the keys:
//
//   x_j = R(scale * R(sum_c q_c k_jc)),  then R after each addition and after the softcap
//   p_j = R(exp(x_j - max) / sum_j exp(x_j - max))            a sink counts in max and sum
//   o_c = R(sum_j p_j v_jc)
//
// For f32 and f64 R rounds nothing away. The twin is no truth and no limit: only a measure.
#pragma once

#include <optional>
#include <vector>

#include "properties/case.hpp"

namespace attest::properties {

/// One output row of the twin; nothing where it sees no key, or something that is not finite.
std::optional<std::vector<double>> twin_row(const Case& of, const RowIndex& row);

}  // namespace attest::properties
