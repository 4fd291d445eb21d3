// The exact output rounded once, to nearest with ties to even, in any format: what a perfect kernel
// would return, and the unit of errors in ulp.
//
// Method: the enclosure at rising precision, until both ends round to the same number. Where that
// never comes, because the output is a rational number that lies on a boundary of
// roundings, the keys are put into classes of equal exact score, which decides (proof:
// docs/numerics.md, section 12).
#pragma once

#include <vector>

#include "attest/dtype.hpp"
#include "reference/row.hpp"

namespace attest::reference {

struct RoundedOutput {
  /// A number of the format; infinite beyond its largest, also where the format has no infinity
  /// (e4m3). An exact 0 is +0; a negative number that rounds to 0 is -0. NaN when undecided.
  double value = 0;
  bool decided = false;
  /// The output is rational: all values are the same, the first enclosure is a point, or the
  /// classes were needed and say so. False says nothing where the first enclosure was enough.
  bool exact = false;
  int bits = 0;  ///< highest working precision that was tried; 0: none was needed
};

/// One entry a column. Undecided is a column that needs more than the end of kPrecisionLadder, and
/// every column of a row with a number that is not finite. Preconditions: the format has at most 53
/// bits, and its range is that of double at most.
std::vector<RoundedOutput> correctly_rounded(const Row& row, const Format& format);

/// The same for one column.
RoundedOutput correctly_rounded(const Row& row, Index column, const Format& format);

/// The number x itself, rounded like that.
double round_to_format(double x, const Format& format);

}  // namespace attest::reference
