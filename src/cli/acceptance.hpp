// Which outputs a rule accepts: the certified bound, or a tolerance as of allclose.
#pragma once

#include <vector>

#include "attest/error_bound.hpp"
#include "properties/stand_ins.hpp"

namespace attest::cli {

/// accepts(got, want) iff |got - want| <= atol + rtol |want|, as allclose of numpy and PyTorch.
struct Tolerance {
  double atol = 0;
  double rtol = 0;
};

/// What one rule accepts of one output.
struct Acceptance {
  Index accepted = 0;   ///< elements
  Index different = 0;  ///< elements where it differs from the truth beyond rounding in double
  Index accepted_different = 0;
  Index elements = 0;

  /// It is wrong somewhere, and nowhere refused.
  bool passes_everywhere() const { return different > 0 && accepted == elements; }
};

/// No factor up to this is refused.
inline constexpr double kScaleNever = 1024;

/// One row and how its outputs are judged.
struct Rule {
  const RowFacts& facts;
  const RowBound& bound;
  bool certified = false;
  Tolerance tolerance;

  bool accepts(std::size_t column, double output) const;
  bool accepts_all(const std::vector<double>& output) const;
};

/// Adds the elements of one output row.
void count(Acceptance& into, const Rule& rule, const std::vector<double>& output);

/// For each of several rules about one row: the largest x for which the output of a scale times 1 +
/// x is accepted. The boundary below the smallest power of two that is refused, to three digits; 0:
/// none above 2^-44; kScaleNever: all up to it.
std::vector<double> scale_errors(const std::vector<Rule>& rules,
                                 const properties::ScoreParts& parts);

}  // namespace attest::cli
