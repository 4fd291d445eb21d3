// The fast path of the oracle: certified double-double on the machine's vectors.
//
// Computes the facts of a row (attest/error_bound.hpp) with the same guarantees as enclose_row of
// oracle.hpp. Radius of an output: about 2^-95 (1 + M) sum_j p_j |v_jc| for M = largest |score|.
// Method: compensated dot products, exp in double-double from own tables, double-double sums over
// keys; every error term is proven in docs/numerics.md ("Fast oracle") and bounded at run time.
// Special: nothing when it cannot certify the row (a number is not finite or overflows, scores
// above about 2^45, numerators below 2^-800, no visible key but a sink); MPFR decides then.
#pragma once

#include <optional>

#include "attest/error_bound.hpp"
#include "reference/row.hpp"

namespace attest::reference {

/// The row as an enclosure per element, or nothing: "cannot decide".
std::optional<RowFacts> enclose_row_fast(const Row& row);

}  // namespace attest::reference
