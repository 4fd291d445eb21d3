// Exact attention as an enclosure per element: the truth that kernels are judged by.
//
// Computes: the definitions of attest/problem.hpp and reference/row.hpp in real arithmetic on the
// stored inputs.
// Method: interval arithmetic over MPFR, every operation rounded outward, over the visible keys of
// a row at once; no tiles, no running maximum, no merges, and none of the kernels' code.
// Special: a row without visible keys gives output exactly 0 and lse exactly -inf; with a sink it
// gives output exactly 0 and lse exactly the sink. docs/reference-notes.md has the rest.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attest/error_bound.hpp"
#include "attest/problem.hpp"
#include "attest/tensor_view.hpp"
#include "reference/row.hpp"
#include "reference/visibility.hpp"

namespace attest::reference {

/// Working precisions in bits, tried in this order.
inline constexpr std::array<int, 4> kPrecisionLadder{128, 192, 384, 768};

/// An enclosure is narrow enough when its radius is at most this share of the bound that it is
/// compared with: the verdict then misjudges at most 1/1024 of the admissible error, and only by
/// answering "cannot tell".
inline constexpr double kWidthShare = 0x1p-10;

/// The exact row at one precision; nothing when a visible input or a score is not finite.
/// Precondition: `bits` is in kPrecisionLadder.
std::optional<RowFacts> enclose_row(const Inputs& inputs, const RowIndex& index, int bits);

/// The same for a gathered row; nothing when a number of it or a score is not finite.
std::optional<RowFacts> enclose_row(const Row& row, int bits);

/// What an error bound says about an exact row.
using BoundRule = std::function<RowBound(const RowFacts&)>;

struct CertifiedRow {
  RowFacts facts;
  RowBound bound;
  int bits = 0;         ///< precision that was enough
  bool narrow = false;  ///< every radius is within kWidthShare of its bound
};

/// Raises the precision until the enclosures are narrow against the bound, at most to the end of
/// the ladder. A row without visible keys (it may have a sink) has an exact value and bound 0.
std::optional<CertifiedRow> certify_row(const Inputs& inputs, const RowIndex& index,
                                        const BoundRule& rule);

/// The same for a gathered row.
std::optional<CertifiedRow> certify_row(const Row& row, const BoundRule& rule);

/// The exact summary of a row relative to a given maximum, as a kernel holds it before the
/// division.
struct SummaryFacts {
  Enclosure row_max;                 ///< max_j s_j, whatever `row_max` was given
  Enclosure row_sum;                 ///< sum_j exp(s_j - row_max), for the given one
  std::vector<Enclosure> numerator;  ///< sum_j exp(s_j - row_max) v_jc, per output column
};

/// The sink counts as a key of value 0. An empty row has row_max -inf and sums of exactly 0,
/// whatever was given. Nothing when the row has no exact RowFacts, when `row_max` is not finite,
/// or when a sum exceeds the doubles (`row_max` is more than about 709 below the largest score).
/// Precondition: `bits` is in kPrecisionLadder.
std::optional<SummaryFacts> enclose_summary(const Row& row, double row_max, int bits);

/// Names and versions of the libraries that the oracle runs on, for reports.
std::vector<std::pair<std::string, std::string>> oracle_versions();

}  // namespace attest::reference
