// What a run measures beside its verdicts: collected from the checked cases as they come, and from
// runs of its own in the end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "properties/check.hpp"
#include "reports/report.hpp"

namespace attest::cli {

/// A case whose error is shown tile by tile.
struct CaseToMap {
  properties::Case on;
  std::string law;
  RowIndex row;      ///< where it is worst
  double ratio = 0;  ///< error / bound
};

/// The heat map of a case: properties/heat_map.hpp with names.
reports::HeatMap heat_map(const Kernel& kernel, const CaseToMap& worst);

/// The errors and the stand-ins of one verdict.
reports::Measurements measured(const std::string& kernel, const properties::Law& law,
                               const Problem& problem, const Verdict& verdict);

class Measuring {
 public:
  explicit Measuring(const Kernel& kernel) : kernel_(kernel) {}

  /// In the order of the run.
  void take(const properties::CheckedCase& checked);

  /// Runs the worst case tile by tile.
  void map_worst();
  /// Runs `cases` drawn cases a dtype in several ways.
  void count_bits(const properties::CheckPlan& plan, Index cases);
  /// What was found since the last such call.
  reports::Measurements take_found() { return std::exchange(found_, {}); }

 private:
  /// A violation of bound.out outranks one of another law about out, and that the largest ratio.
  enum Rank { nothing, ratio, other_violation, bound_violation };

  void take_worst(const properties::CheckedCase& checked);

  const Kernel& kernel_;
  reports::Measurements found_;
  Rank rank_ = nothing;
  CaseToMap worst_;
};

}  // namespace attest::cli
