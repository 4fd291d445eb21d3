// Exact attention as an enclosure per element: the truth that kernels are judged by.
//
// Computes: the definitions of attest/problem.hpp and reference/row.hpp in real arithmetic on the
// stored inputs.
// Method: interval arithmetic over MPFR, every operation rounded outward, over the visible keys of
// a row at once; no tiles, no running maximum, no merges, and none of the kernels' code.
// Special: a row without visible keys gives output exactly 0 and lse exactly -inf; with a sink it
// gives output exactly 0 and lse exactly the sink. docs/numerics.md, section 12, has the rest.
#pragma once

#include <array>
#include <cstdint>
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

/// What a certified row was computed with.
enum class Arithmetic { double_double, mpfr };

struct CertifiedRow {
  RowFacts facts;
  RowBound bound;
  /// The lse as the problem asks for it: base e or two (max_sum: natural, of m + ln l), with or
  /// without its sink, as Problem::empty_lse says for an empty row. Nothing where it is not looked
  /// at.
  std::optional<Enclosure> asked_lse;
  double asked_lse_bound = 0;
  Arithmetic arithmetic = Arithmetic::mpfr;
  int bits = 0;         ///< precision that was enough; kDoubleDoubleBits for double_double
  bool narrow = false;  ///< every radius is within kWidthShare of its bound
  /// The two oracles were both asked and have no common value: a defect of attest, never a verdict
  /// about a kernel. The bound is then unproven.
  bool contradiction = false;
};

inline constexpr int kDoubleDoubleBits = 106;

/// Takes the fast path (double-double, reference/oracle_fast.hpp) where it is narrow against the
/// bound; otherwise raises the precision of MPFR until the enclosures are, at most to the end of
/// the ladder. One row in kAuditedRows that the fast path decided, chosen by its numbers, is
/// enclosed by MPFR as well. A row without visible keys (it may have a sink) has an exact value and
/// bound 0; under AllMaskedPolicy::mean an empty one is read_mean_row, bounded by the rule.
std::optional<CertifiedRow> certify_row(const Inputs& inputs, const RowIndex& index,
                                        const BoundRule& rule);

/// The same for a gathered row; asked_lse is the natural one, with the sink.
std::optional<CertifiedRow> certify_row(const Row& row, const BoundRule& rule);

/// The enclosure divided by ln 2, rounded outward. Infinities stay.
Enclosure in_base_two(const Enclosure& natural);

inline constexpr std::uint64_t kAuditedRows = 512;

/// While an object of this class lives, certify_row on its thread asks both oracles and answers
/// with MPFR: for failures, and for rows that came near their bound.
class BothOracles {
 public:
  BothOracles();
  BothOracles(const BothOracles&) = delete;
  BothOracles& operator=(const BothOracles&) = delete;
  ~BothOracles();

 private:
  bool before_;
};

/// How the rows of this process have been certified so far; for reports.
struct OracleCounts {
  std::int64_t by_double_double = 0;
  std::int64_t by_mpfr = 0;  ///< asked for, or the fast path could not decide
  std::int64_t audited = 0;  ///< of by_double_double
  std::int64_t contradictions = 0;
};
OracleCounts oracle_counts();

/// Whether two enclosures of one row have a common value in every element; for the audit.
bool consistent(const RowFacts& left, const RowFacts& right);

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
