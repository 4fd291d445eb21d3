// Baselines of the oracle benchmark: the row evaluated the plain way, without any error bound.
//
// Both compute scores, weights exp(s_j - max s), their sum, every output and lse at 256 bits, and
// convert the results to double at the end.
#pragma once

#include <vector>

#include "reference/row.hpp"

namespace attest::bench {

struct PointRow {
  std::vector<double> output;
  double lse = 0;
};

/// MPFR called directly; memory is allocated once, operands are kept at 53 bits.
PointRow point_raw_mpfr_256(const reference::Row& row);

/// Boost's mpfr_float_backend<77>, dynamic allocation, as one writes it first.
PointRow point_boost_mpfr_256(const reference::Row& row);

}  // namespace attest::bench
