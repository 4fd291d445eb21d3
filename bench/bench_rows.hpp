// Rows of the oracle benchmark, and what must hold of them before a time means anything.
#pragma once

#include <string>

#include "reference/row.hpp"

namespace attest::bench {

inline constexpr Index kHeadDim = 64;

/// n keys, head_dim = head_dim_v = 64, standard normal f32 inputs, scale 1/8; the same at any call.
const reference::Row& bench_row(Index n);

/// Empty when the methods agree on bench_row(n): the enclosures of the fast path and of MPFR
/// overlap, they give the same verdicts on values around an f32 kernel's bound, and the point
/// evaluations are the same numbers. Otherwise what differs.
std::string disagreement(Index n);

}  // namespace attest::bench
