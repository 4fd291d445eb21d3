// Compares what a kernel computed with the truth, row by row, under the derived bound.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "attest/kernel.hpp"
#include "properties/case.hpp"
#include "properties/run_kernel.hpp"
#include "properties/tally.hpp"
#include "reference/oracle.hpp"

namespace attest::properties {

/// What the oracle reads of a case.
inline reference::Inputs inputs_of(const Case& of) {
  return {&of.problem,      of.q.ref(),       of.k.ref(),    of.v.ref(),
          view_of(of.bias), view_of(of.sink), view_of(of.qv)};
}

/// The exact rows of a case with the bound of one kernel (or of one declared accuracy).
class Truth {
 public:
  /// Both arguments are kept by reference.
  Truth(const Kernel& kernel, const Case& of) : Truth(kernel.accuracy(of.problem), of) {}
  Truth(const DeclaredAccuracy& accuracy, const Case& of) : accuracy_(accuracy), of_(of) {}

  /// Nothing when a visible input is not finite.
  std::optional<reference::CertifiedRow> row(const RowIndex& row) const;

  /// The same by both oracles, where the fast one alone would decide a row of `outputs` that has
  /// something near its bound.
  std::optional<reference::CertifiedRow> row(const RowIndex& row, const Outputs& outputs) const;

  /// Per output column of a row (tier 3). Precondition: the row has a visible key.
  std::vector<double> probable_errors(const reference::CertifiedRow& exact) const;

 private:
  DeclaredAccuracy accuracy_;
  const Case& of_;
};

/// One way of computing a problem: what it declares, how it cuts the work, and, to be audited where
/// it is near a bound, what it gave.
struct Computation {
  DeclaredAccuracy accuracy;
  Tiling tiling;
  const Outputs* outputs = nullptr;
};

/// An exact row with the bound of each of several computations.
struct SharedRow {
  reference::CertifiedRow exact;   ///< narrow enough for the tightest of the bounds
  std::vector<RowBound> bounds;    ///< in the order of the computations
  std::vector<double> lse_bounds;  ///< of the lse as the problem asks for it

  /// The row as if one of the computations had been asked for alone.
  reference::CertifiedRow of(std::size_t computation) const;
};

/// Encloses a row once for all computations of it, by both oracles if one of their outputs has
/// something near its bound. Nothing when a visible input is not finite.
std::optional<SharedRow> certify_for_all(const Case& of, const RowIndex& row,
                                         std::span<const Computation> computations);

enum class Part { out, lse };

/// Largest |value| of a column that the row's softmax weighs: sum_j p_j |v_jc|.
double value_magnitude(const RowFacts& facts, std::size_t column);

/// The row with another bound of its output and of its natural lse.
reference::CertifiedRow with_bound(reference::CertifiedRow row, RowBound bound);

/// Whether the bound of an element is smaller than what it limits.
bool informative_output(const reference::CertifiedRow& row, std::size_t column);
bool informative_lse(const reference::CertifiedRow& row);

/// From this share of its bound on an element counts as near it.
inline constexpr double kNearBound = 0.5;

/// Largest error of a row of outputs as a share of its bound; lse too where it was asked for.
double share_of_bound(const reference::CertifiedRow& exact, const RowIndex& row,
                      const Outputs& outputs);

/// Outputs of a row that are beyond `probable`, though perhaps within the bound.
Index count_beyond(std::span<const double> probable, const RowFacts& facts, const RowIndex& row,
                   const Outputs& outputs);

/// One row against its enclosure.
void judge_row(Tally& tally, const reference::CertifiedRow& truth, const RowIndex& row, Part part,
               const Outputs& outputs);

/// Every row of the case against its enclosure.
Verdict judge_outputs(const Kernel& kernel, const Case& of, const Outputs& outputs, Part part);

/// Which rows are judged, and with what effort. The verdict does not depend on the jobs.
struct RowChoice {
  std::span<const RowIndex> rows;
  int jobs = 1;
  /// Of the rows that have something near their bound, so many are asked of both oracles.
  Index audits = 0;
};
Verdict judge_outputs(const Kernel& kernel, const Case& of, const Outputs& outputs, Part part,
                      const RowChoice& choice);

/// One row of a run.
struct OutputRow {
  const Outputs& outputs;
  RowIndex row;
};

/// Rows of two runs that must have the same bits; `reason` says what should not have mattered.
void same_row_bits(Tally& tally, const OutputRow& got, const OutputRow& want,
                   std::string_view reason);
inline void same_row_bits(Tally& tally, const RowIndex& row, const Outputs& got,
                          const Outputs& want, std::string_view reason) {
  same_row_bits(tally, {got, row}, {want, row}, reason);
}

/// The rows that the problem looks at of `name` ("out" or "lse"), logical and as a kernel wrote
/// them in storage: the same bits.
void same_stored_bits(Tally& tally, std::string_view name, const Problem& problem,
                      const Tensor& want, const ConstTensorRef& stored, std::string_view reason);

/// One computed row with its truth.
struct JudgedRow {
  const Outputs& outputs;
  RowIndex row;
  const reference::CertifiedRow& truth;
};

/// Two computed rows that are equal in exact arithmetic, natural lse apart by `lse_offset` (right -
/// left) unless they see nothing: they differ at most by the sum of their bounds.
void agree_rows(Tally& tally, const JudgedRow& left, const JudgedRow& right, double lse_offset = 0);

/// What the natural lse of a row is higher by in the right one of two cases.
using LseShift = std::function<double(const RowIndex&)>;

/// Runs two cases whose rows with the same index agree in exact arithmetic, and compares them.
Verdict agree_cases(const Kernel& kernel, const Case& left, const Case& right,
                    const LseShift& lse_shift = {});

inline std::vector<RowIndex> all_rows(const Problem& problem) {
  std::vector<RowIndex> rows;
  for_each_row(problem, [&](const RowIndex& row) { rows.push_back(row); });
  return rows;
}

}  // namespace attest::properties
