// What `attest bound` computes: the error of one kernel on one problem beside what is admissible,
// and what a tolerance would accept that is wrong.
#pragma once

#include <string>
#include <vector>

#include "attest/kernel.hpp"
#include "cli/acceptance.hpp"
#include "properties/case.hpp"

namespace attest::cli {

struct BoundJob {
  const Kernel* kernel = nullptr;
  const properties::Case* on = nullptr;
  std::vector<Tolerance> tolerances;
  Index rows = -1;  ///< rows to look at; 0: all; -1: by the size of the problem
  int jobs = 1;
};

/// Observed errors beside the certified limit of the same elements.
struct ErrorSummary {
  double typical = 0;        ///< root mean square of the observed; of ulps the median
  double worst = 0;          ///< largest observed
  double limit_median = 0;   ///< of the certified bounds
  double limit_largest = 0;  ///< of the certified bounds
};

/// A rule of acceptance: the certified bound, or a tolerance.
struct RuleFindings {
  bool certified = false;
  Tolerance tolerance;                ///< read only when not certified
  Acceptance kernel;                  ///< the kernel's own output
  std::vector<Acceptance> stand_ins;  ///< in the order of properties::stand_ins()
  /// Largest x for which scores times 1 + x are accepted in every row; kScaleNever if any is.
  double scale_error = 0;
};

struct BoundFindings {
  Index rows = 0;  ///< of the problem, below its query lengths
  Index rows_looked_at = 0;
  Index rows_empty = 0;  ///< of those looked at; they see no key and are in no number below
  Index columns = 0;
  double output_rms = 0;
  ErrorSummary absolute;
  ErrorSummary ulp;
  ErrorSummary relative;  ///< to output_rms
  bool has_lse = false;
  ErrorSummary lse;
  double worst_ratio = 0;  ///< error / bound
  std::string worst_element;
  double worst_lse_ratio = 0;
  bool violated = false;            ///< something is certainly beyond its bound
  double probable_median = 0;       ///< of the probable errors (tier 3), absolute
  Index beyond_probable = 0;        ///< outputs beyond theirs
  std::vector<RuleFindings> rules;  ///< the certified bound first, then the tolerances
};

/// Errors: the kernel refuses the problem, no row sees a key, an input is not finite, a bound is
/// not proven (code undecided).
Result<BoundFindings> run_bound(const BoundJob& job);

/// The rows that are looked at, ascending and without repetition; the same for the same numbers.
std::vector<Index> sampled_rows(Index rows, Index wanted);

}  // namespace attest::cli
