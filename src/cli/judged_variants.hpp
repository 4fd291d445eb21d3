// Runs of kernels on one case, or on the same numbers in other types, with every row held against
// one enclosure.
#pragma once

#include <string>
#include <vector>

#include "properties/judge.hpp"
#include "properties/output_errors.hpp"

namespace attest::cli {

/// What was found about the outputs of one run, or of several.
struct VariantFindings {
  std::int64_t outputs = 0;  ///< rows times columns, of out
  std::int64_t violations = 0;
  double worst_error = 0;    ///< absolute, upper bound
  double largest_error = 0;  ///< absolute, of the middle of the enclosure
  double worst_ratio = 0;    ///< error / bound
  double worst_lse_error = 0;
  double worst_lse_ratio = 0;
  RowIndex worst_row;  ///< of worst_ratio
  Index worst_column = -1;
  double twin_error = 0;    ///< largest_error of properties/twin.hpp
  double sum_squares = 0;   ///< of absolute errors, of what `errors` has measured
  ErrorStatistics errors;   ///< of out
  SampleMeans bias;         ///< of absolute signed errors
  std::vector<float> ulps;  ///< |error|, one an output element, infinite for a NaN

  void add(const VariantFindings& other);
  /// largest_error over that of the twin: 0 where there is no error, infinite where only the twin
  /// has none.
  double twin_ratio() const;
  std::string worst_element() const;  ///< "out[b,h,i,c]"; empty if no element has an error
};

/// A kernel's run on one case under one tiling.
struct Variant {
  const Kernel* kernel = nullptr;
  const properties::Case* on = nullptr;
  Tiling tiling;
  DeclaredAccuracy accuracy;
  properties::Outputs outputs;
  VariantFindings found;
};

/// Rows that one oracle has decided, and that have something near its bound, may be decided by
/// both.
enum class Audit { near_bounds, none };

/// Judges every row of all variants, whose cases have the numbers of `on`. Rows are shared by
/// threads and added in their order: the findings do not depend on `jobs`. Fails where a row has no
/// narrow enclosure or no proven bound.
Status judge_rows(const properties::Case& on, std::vector<Variant>& variants, int jobs,
                  Audit audit = Audit::near_bounds);

}  // namespace attest::cli
