// Compares what a kernel computed with the truth, row by row, under the derived bound.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "attest/kernel.hpp"
#include "properties/case.hpp"
#include "properties/run_kernel.hpp"
#include "properties/tally.hpp"
#include "reference/oracle.hpp"

namespace attest::properties {

/// The exact rows of a case with the bound of one kernel (or of one declared accuracy).
class Truth {
 public:
  /// Both arguments are kept by reference.
  Truth(const Kernel& kernel, const Case& of) : Truth(kernel.accuracy(of.problem), of) {}
  Truth(const DeclaredAccuracy& accuracy, const Case& of) : accuracy_(accuracy), of_(of) {}

  /// Nothing when a visible input is not finite.
  std::optional<reference::CertifiedRow> row(const RowIndex& row) const;

  /// Per output column of a row (tier 3). Precondition: the row has a visible key.
  std::vector<double> probable_errors(const reference::CertifiedRow& exact) const;

  /// Outputs of a row that are beyond the probable error, though perhaps within the bound.
  Index beyond_probable(const reference::CertifiedRow& exact, const RowIndex& row,
                        const Outputs& outputs) const;

 private:
  DeclaredAccuracy accuracy_;
  const Case& of_;
};

/// One way of computing a problem: what it declares, and how it cuts the work.
struct Computation {
  DeclaredAccuracy accuracy;
  Tiling tiling;
};

/// An exact row with the bound of each of several computations.
struct SharedRow {
  reference::CertifiedRow exact;  ///< narrow enough for the tightest of the bounds
  std::vector<RowBound> bounds;   ///< in the order of the computations
};

/// Encloses a row once for all computations of it. Nothing when a visible input is not finite.
std::optional<SharedRow> certify_for_all(const Case& of, const RowIndex& row,
                                         std::span<const Computation> computations);

enum class Part { out, lse };

/// Largest |value| of a column that the row's softmax weighs: sum_j p_j |v_jc|.
double value_magnitude(const RowFacts& facts, std::size_t column);

/// Whether the bound of an element is smaller than what it limits.
bool informative_output(const reference::CertifiedRow& row, std::size_t column);
bool informative_lse(const reference::CertifiedRow& row);

/// Largest error of a row of outputs as a share of its bound; lse too where it was asked for.
double share_of_bound(const RowFacts& facts, const RowBound& bound, const RowIndex& row,
                      const Outputs& outputs);

/// From this share of its bound on an element counts as near it.
inline constexpr double kNearBound = 0.5;

inline bool decided_fast(const reference::CertifiedRow& row) {
  return row.arithmetic == reference::Arithmetic::double_double && !row.facts.keys.empty();
}
inline bool decided_fast(const SharedRow& row) {
  return decided_fast(row.exact);
}

/// certify(), and once more by both oracles if the fast one decided a row that has something near
/// its bound: share(certified) is the largest share of a bound in it.
template <class Certify, class Share>
auto certify_and_audit(Certify&& certify, Share&& share) {
  auto row = certify();
  if (!row || !decided_fast(*row) || share(*row) < kNearBound) return row;
  const reference::BothOracles both;
  return certify();
}
/// One row against its enclosure.
void judge_row(Tally& tally, const reference::CertifiedRow& truth, const RowIndex& row, Part part,
               const Outputs& outputs);

/// Every row of the case against its enclosure.
Verdict judge_outputs(const Kernel& kernel, const Case& of, const Outputs& outputs, Part part);

/// One row of two runs, which must have the same bits; `reason` says what should not have mattered.
void same_row_bits(Tally& tally, const RowIndex& row, const Outputs& got, const Outputs& want,
                   std::string_view reason);

/// One computed row with its truth.
struct JudgedRow {
  const Outputs& outputs;
  RowIndex row;
  const reference::CertifiedRow& truth;
};

/// Two computed rows that are equal in exact arithmetic, lse apart by `lse_offset` (right - left):
/// they differ at most by the sum of their bounds.
void agree_rows(Tally& tally, const JudgedRow& left, const JudgedRow& right, double lse_offset = 0);

/// Runs body(row) for every output row of a problem.
template <class Body>
void for_each_row(const Problem& problem, Body&& body) {
  for (Index b = 0; b < problem.batch; ++b)
    for (Index h = 0; h < problem.heads_q; ++h)
      for (Index query = 0; query < problem.seq_q; ++query) body(RowIndex{b, h, query});
}

}  // namespace attest::properties
