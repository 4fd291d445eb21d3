// What Theorems 1 to 3 share: the errors of one row that do not depend on the output column.
// Symbols in brackets are those of docs/numerics.md.
#pragma once

#include <limits>
#include <span>
#include <string>
#include <vector>

#include "attest/error_bound.hpp"
#include "computed.hpp"

namespace attest {

/// Absolute error of a rounding to `format` below its normal range; casts flush where operations
/// do.
double underflow_of(const DeclaredAccuracy& accuracy, const Format& format);
/// [om'] absolute error of a product, a quotient or an FMA below the normal range.
double product_underflow(const DeclaredAccuracy& accuracy);
/// The same of an addition: 0 unless results are flushed.
double addition_underflow(const DeclaredAccuracy& accuracy);
/// -ln(1 - e): how far a factor 1 + t with |t| <= e can be from 1 in the log domain.
double log_domain(double relative_error);

double largest_value(const RowFacts& facts);

/// What the terms of a sum on a grid are moved by, all together: n^2 2^-b, in the units of a
/// weight.
double grid_error(const DeclaredAccuracy& accuracy, const RowFacts& facts);

struct RowTerms {
  std::vector<double> z;   ///< Z_j: log-domain error shared by numerator and row_sum
  std::vector<double> na;  ///< Na_j: log-domain error of the numerator's accumulation
  std::vector<double> nl;  ///< Nl_j: log-domain error of row_sum's accumulation
  std::vector<double> w;   ///< W_j: |p~_j - p_j| <= p_j W_j
  std::vector<double> numerator_underflow;  ///< g_j, in the units of a weight
  double delta_max = 0;                     ///< Delta: |m_T - M|
  double score_size = 0;                    ///< largest |s_j| + delta_j
  double shift_error = 0;  ///< theta: error that all weights share, folded base two only
  double lag = 0;          ///< tau ln 2
  double largest_weight = 1;
  double g_lower_gap = 0;    ///< 1 - G_lo
  double kappa_gap = 0;      ///< kap - 1, kept apart so that it does not cancel
  double growth = 1;         ///< e^Gr: later roundings act on what underflowed earlier
  double sum_underflow = 0;  ///< U_l
  double sum_lower = 1;      ///< l_lo, Lemma 5
  double operations = 0;     ///< products and rescaling products of one column
  double additions = 0;      ///< additions of one column
};

/// Why no bound can be given for this row, or nothing.
std::string precondition_failure(const DeclaredAccuracy& accuracy, const RowFacts& facts);

/// Precondition: at least one key, one entry of paths a key. kappa_gap is infinite where the error
/// of row_sum may reach row_sum.
RowTerms row_terms(const DeclaredAccuracy& accuracy, const RowFacts& facts,
                   std::span<const PathCounts> paths);

/// The keys of a row as count_paths wants them.
std::vector<ScoredKey> scored_keys(const DeclaredAccuracy& accuracy, const RowFacts& facts);

/// RowBound::lse_base_two for a row of `keys` keys whose natural lse is known to `lse_bound`.
double base_two_lse_bound(const DeclaredAccuracy& accuracy, const Enclosure& lse, std::size_t keys,
                          double lse_bound);

/// A bound that says why there is none.
RowBound unproven_bound(std::string reason, std::size_t columns);

/// Whether a result within the bound may exceed the format that it is rounded to last.
bool output_may_overflow(const DeclaredAccuracy& accuracy, const RowFacts& facts,
                         const RowBound& bound);

inline constexpr const char* kNotFinite = "the bound is not finite";
/// An infinite bound would accept everything.
RowBound finite_or_unproven(RowBound bound);

}  // namespace attest
