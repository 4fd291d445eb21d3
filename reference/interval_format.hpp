// The numbers of a format as MPFR meets them: rounding to nearest, neighbours, boundaries.
#pragma once

#include <mpfr.h>

#include "attest/dtype.hpp"
#include "reference/interval_rounding.hpp"

namespace attest::reference {

/// x to the nearest number of the format, ties to even, subnormal numbers included; infinite from
/// half a step above the largest. The sign of 0 is that of x.
double round_to_format(mpfr_srcptr x, const Format& format);

/// The neighbour above a number of the format (of -0 it is +0, of the largest it is infinity), and
/// where the roundings to the two meet. Precondition: `value` is not +infinity.
struct Neighbour {
  double value = 0;
  Scratch boundary{64};  ///< exact: one bit more than the format
};
Neighbour neighbour_above(double value, const Format& format);
Neighbour neighbour_below(double value, const Format& format);

}  // namespace attest::reference
