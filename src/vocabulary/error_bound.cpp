#include "attest/error_bound.hpp"

#include <algorithm>
#include <cmath>

#include "order_aware.hpp"
#include "row_terms.hpp"

namespace attest {
namespace {

/// The sums over keys that Theorem 1 needs, per output column.
struct ColumnSums {
  std::vector<double> centred;    ///< sum p_j (e^{Z_j} - 1) |v_jc - o_c|
  std::vector<double> summed;     ///< sum p_j (1 + W_j) (e^{Na_j} - 1) |v_jc|
  std::vector<double> underflow;  ///< sum g_j |v_jc|
  std::vector<double> largest;    ///< largest |v_jc|
};

/// What underflows in f64 is a sum of subnormal numbers, which many processors add a hundred times
/// slower than others; scaled by this they are normal.
constexpr double kOutOfSubnormals = 0x1p200;

/// Key by key, because the values lie row by row; this loop is where a bound spends its time.
ColumnSums column_sums(const RowFacts& facts, const RowTerms& terms) {
  const std::size_t n = facts.keys.size();
  const std::size_t columns = facts.output.size();
  // Each product below rounds by at most half the smallest subnormal where it underflows.
  const std::vector<double> lost(columns, static_cast<double>(n) * kSmallestNumber);
  ColumnSums sums{lost, lost, std::vector<double>(columns), std::vector<double>(columns)};
  std::vector<double> output(columns);
  double centred_weight = 0;
  for (std::size_t c = 0; c < columns; ++c) output[c] = facts.output[c].high;
  for (std::size_t j = 0; j < n; ++j) {
    const double* const value = &facts.value[j * columns];
    const double p = facts.probability[j];
    const double centred = p * std::expm1(terms.z[j]) + kSmallestNumber;
    const double summed = p * (1 + terms.w[j]) * std::expm1(terms.na[j]) + kSmallestNumber;
    const double underflow = terms.numerator_underflow[j] * kOutOfSubnormals;
    centred_weight += centred;
    for (std::size_t c = 0; c < columns; ++c) {
      sums.centred[c] += centred * std::abs(value[c] - output[c]);
      sums.summed[c] += summed * std::abs(value[c]);
      sums.underflow[c] += underflow * std::abs(value[c]);
      sums.largest[c] = std::max(sums.largest[c], std::abs(value[c]));
    }
  }
  for (std::size_t c = 0; c < columns; ++c) {
    sums.centred[c] += centred_weight * (std::abs(facts.output[c].low) + facts.output[c].radius);
    sums.underflow[c] = sums.underflow[c] / kOutOfSubnormals + lost[c] + kSmallestNumber;
  }
  return sums;
}

/// What values below the normal range add up to that are read as 0, or that underflow when the
/// kernel descales them, with the largest weights.
double unread_values(const DeclaredAccuracy& accuracy, const RowFacts& facts,
                     const RowTerms& terms) {
  double lost =
      accuracy.underflow == Underflow::flush_results_and_inputs ? accuracy.format.min_normal : 0;
  if (accuracy.value_relative_error > 0) lost += product_underflow(accuracy);
  return static_cast<double>(facts.keys.size()) * terms.largest_weight * lost;
}

/// Theorem 1 for one column.
double output_bound(const DeclaredAccuracy& accuracy, const RowFacts& facts, const RowTerms& terms,
                    const ColumnSums& sums, std::size_t column) {
  const double om = product_underflow(accuracy);
  const Wide output = magnitude_upper(facts.output[column]);
  const Wide b1 = Wide{sums.centred[column]} / (1 - terms.g_lower_gap);
  const Wide b2 =
      (1 + terms.kappa_gap) * Wide{sums.summed[column]} + terms.kappa_gap * (output + b1);
  const double unread = unread_values(accuracy, facts, terms);
  const Wide underflow =
      terms.growth * (Wide{sums.underflow[column]} + Wide{terms.operations} * om +
                      Wide{terms.additions} * addition_underflow(accuracy) + unread +
                      Wide{grid_error(accuracy, facts)} * sums.largest[column]) +
      Wide{terms.sum_underflow} * (output + b1 + b2);
  const Wide b3 = (1 + terms.kappa_gap) * underflow / terms.sum_lower;
  Wide bound = b1 + b2 + b3 + om;
  if (accuracy.output_format)
    bound += accuracy.output_format->unit_roundoff * (output + bound) +
             underflow_of(accuracy, *accuracy.output_format);
  return static_cast<double>(bound * kEvaluationSlack) + kSmallestNumber;
}

/// Theorem 2.
double lse_bound(const DeclaredAccuracy& accuracy, const RowFacts& facts, const RowTerms& terms) {
  const double u = accuracy.format.unit_roundoff;
  const double om = product_underflow(accuracy);
  Wide upper = 0;
  Wide lower = 0;
  for (std::size_t j = 0; j < facts.keys.size(); ++j) {
    const double lambda = terms.z[j] + terms.nl[j];
    upper += Wide{facts.probability[j]} * std::expm1(lambda);
    lower += Wide{facts.probability[j]} * -std::expm1(-lambda);
  }
  const double x = terms.sum_underflow / terms.sum_lower;
  if (!(lower < 1 - kSmallestGap) || !(x < 1)) return std::numeric_limits<double>::infinity();
  const double xi =
      static_cast<double>(std::max(std::log1p(upper), -std::log1p(-lower))) - std::log1p(-x);
  const double log_error =
      accuracy.log_relative_error *
          (std::abs(facts.log_sum) + xi + 2 * terms.delta_max + terms.lag + terms.shift_error) +
      accuracy.log_absolute_error;
  // row_max times the folded factor, twice rounded; the common shift of the weights; then ln 2, its
  // product and the sum. In the natural form there is only the sum.
  const bool folded = accuracy.exp_form == ExpForm::folded_base_two;
  const double maximum_error =
      folded ? terms.shift_error + 3 * u * (1 + 3 * u) * terms.score_size : 0;
  const double roundings = folded ? std::expm1(3 * u) : u;
  const double before = xi + log_error + maximum_error;
  return static_cast<double>((before + roundings * (magnitude_upper(facts.lse) + before) + 4 * om +
                              addition_underflow(accuracy)) *
                             kEvaluationSlack);
}

RowBound theorems_1_and_2(const DeclaredAccuracy& accuracy, const RowFacts& facts,
                          const RowTerms& terms, const ColumnSums& sums) {
  RowBound bound;
  for (std::size_t c = 0; c < facts.output.size(); ++c)
    bound.output.push_back(output_bound(accuracy, facts, terms, sums, c));
  bound.lse = lse_bound(accuracy, facts, terms);
  bound.lse_base_two = base_two_lse_bound(accuracy, facts.lse, facts.keys.size(), bound.lse);
  if (output_may_overflow(accuracy, facts, bound))
    return unproven_bound("an output may overflow its format (assumption A6)", facts.output.size());
  return finite_or_unproven(std::move(bound));
}

/// Tier 1, and tier 2 where an order is given.
RowBound bound_of_order(const DeclaredAccuracy& accuracy, const RowFacts& facts,
                        std::span<const PathCounts> paths, const EvaluationOrder* order) {
  if (std::string reason = precondition_failure(accuracy, facts); !reason.empty())
    return unproven_bound(std::move(reason), facts.output.size());
  const RowTerms terms = row_terms(accuracy, facts, paths);
  if (!std::isfinite(terms.kappa_gap))
    return unproven_bound("the error of row_sum may reach row_sum (etaD >= 1)",
                          facts.output.size());
  ColumnSums sums = column_sums(facts, terms);
  if (order != nullptr) {
    const std::vector<double> by_order = order_aware_sums(accuracy, facts, terms, *order);
    for (std::size_t c = 0; c < by_order.size(); ++c)
      sums.summed[c] = std::min(sums.summed[c], by_order[c]);
  }
  return theorems_1_and_2(accuracy, facts, terms, sums);
}

}  // namespace

RowBound error_bound(const DeclaredAccuracy& accuracy, const RowFacts& facts,
                     std::span<const PathCounts> paths) {
  return bound_of_order(accuracy, facts, paths, nullptr);
}

RowBound error_bound(const DeclaredAccuracy& accuracy, const RowFacts& facts, const Tiling& tiling,
                     Index seq_kv, BoundTier tier) {
  if (!merge_tree_fits(accuracy, tiling, seq_kv))
    return unproven_bound(kTreeDoesNotFit, facts.output.size());
  std::vector<ScoredKey> keys = scored_keys(accuracy, facts);
  const std::vector<PathCounts> paths = count_paths(accuracy, tiling, seq_kv, keys);
  if (tier == BoundTier::component_wise || !accuracy.ordered_sums ||
      accuracy.scope == SummaryScope::any)
    return bound_of_order(accuracy, facts, paths, nullptr);
  if (facts.has_sink()) keys.pop_back();
  const EvaluationOrder order = evaluation_order(accuracy, tiling, seq_kv, keys);
  return bound_of_order(accuracy, facts, paths, &order);
}

SummaryBound summary_bound(const DeclaredAccuracy& accuracy, const RowFacts& facts,
                           std::span<const PathCounts> paths, double row_sum_upper) {
  SummaryBound bound;
  bound.unproven = precondition_failure(accuracy, facts);
  if (!bound.proven()) return bound;
  const RowTerms terms = row_terms(accuracy, facts, paths);
  const std::size_t columns = facts.output.size();
  bound.row_max = (terms.delta_max + terms.lag) * kEvaluationSlack;
  const double shift = terms.shift_error;
  Wide row_sum = 0;
  std::vector<Wide> numerator(columns);
  std::vector<Wide> lost(columns, Wide{terms.operations} * product_underflow(accuracy) +
                                      Wide{terms.additions} * addition_underflow(accuracy) +
                                      unread_values(accuracy, facts, terms) +
                                      grid_error(accuracy, facts) * largest_value(facts));
  for (std::size_t j = 0; j < facts.keys.size(); ++j) {
    const Wide p = facts.probability[j];
    row_sum += p * std::expm1(terms.z[j] + terms.nl[j] + shift);
    const Wide weight = p * std::expm1(terms.z[j] + terms.na[j] + shift);
    for (std::size_t c = 0; c < columns; ++c) {
      const double value = std::abs(facts.value[j * columns + c]);
      numerator[c] += weight * value;
      lost[c] += Wide{terms.numerator_underflow[j]} * value;
    }
  }
  bound.row_sum =
      static_cast<double>((row_sum * row_sum_upper + terms.sum_underflow) * kEvaluationSlack) +
      kSmallestNumber;
  for (std::size_t c = 0; c < columns; ++c)
    bound.numerator.push_back(
        static_cast<double>((numerator[c] * row_sum_upper + terms.growth * lost[c]) *
                            kEvaluationSlack) +
        kSmallestNumber);
  const bool finite = std::isfinite(bound.row_max) && std::isfinite(bound.row_sum) &&
                      std::all_of(bound.numerator.begin(), bound.numerator.end(),
                                  [](double limit) { return std::isfinite(limit); });
  if (!finite) bound.unproven = kNotFinite;
  return bound;
}

SummaryBound summary_bound(const DeclaredAccuracy& accuracy, const RowFacts& facts,
                           const Tiling& tiling, Index seq_kv, double row_sum_upper) {
  if (!merge_tree_fits(accuracy, tiling, seq_kv)) return {0, 0, {}, kTreeDoesNotFit};
  return summary_bound(accuracy, facts,
                       count_paths(accuracy, tiling, seq_kv, scored_keys(accuracy, facts)),
                       row_sum_upper);
}

}  // namespace attest
