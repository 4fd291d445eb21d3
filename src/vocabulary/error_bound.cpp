#include "attest/error_bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attest {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Covers the rounding of every formula below: sums of at most 2^20 non-negative terms, and one
/// difference 1 - x with x <= 1 - kSmallestGap.
constexpr double kEvaluationSlack = 1 + 0x1p-30;
constexpr double kSmallestGap = 0x1p-12;
constexpr double kSmallest = std::numeric_limits<double>::denorm_min();

/// Sums are formed in the widest type, so that a bound of subnormal values does not underflow.
using Wide = long double;
static_assert(std::numeric_limits<Wide>::min_exponent < -4000);

/// Upper bound of the magnitude of an exact value.
double magnitude_upper(const Enclosure& enclosure) {
  return (std::abs(enclosure.high) + std::abs(enclosure.low)) * kEvaluationSlack + enclosure.radius;
}

/// The quantities of Theorem 1 that do not depend on the output column.
struct RowTerms {
  std::vector<double> z;          ///< Z_j: log-domain error shared by numerator and denominator
  std::vector<double> na;         ///< Na_j: log-domain error of the numerator's accumulation
  std::vector<double> nl;         ///< Nl_j: log-domain error of the denominator's accumulation
  std::vector<double> centred;    ///< p_j (e^{Z_j} - 1), the weight of |v_jc - o_c|
  std::vector<double> summed;     ///< p_j (1 + W_j) (e^{Na_j} - 1), the weight of |v_jc|
  std::vector<double> underflow;  ///< g_j
  double delta_max = 0;           ///< Delta
  double g_lower_gap = 0;         ///< 1 - G_lo
  double kappa_gap = 0;           ///< kap - 1, kept apart so that it does not cancel
  double growth = 1;              ///< e^G: later roundings act on what underflowed earlier
  double sum_underflow = 0;       ///< U_l
  double sum_lower = 1;           ///< l_lo, Lemma 5
  double rescales_max = 0;
};

double largest_value(const RowFacts& facts) {
  double largest = 0;
  for (const double value : facts.value) largest = std::max(largest, std::abs(value));
  return largest;
}

std::string precondition_failure(const DeclaredAccuracy& accuracy, const RowFacts& facts) {
  const double u = accuracy.format.unit_roundoff;
  const double growth = std::exp(static_cast<double>(accuracy.dot_roundings) * u);
  const double largest_score =
      *std::max_element(facts.score_magnitude.begin(), facts.score_magnitude.end());
  if (!(std::max(largest_score, facts.dot_magnitude_max) * growth < accuracy.format.max_finite / 2))
    return "a score may overflow (assumption A6)";
  const double largest = largest_value(facts) * static_cast<double>(facts.visible_keys());
  if (!(largest < accuracy.format.max_finite / 2))
    return "the numerator may overflow (assumption A6)";
  return {};
}

RowTerms row_terms(const DeclaredAccuracy& accuracy, const RowFacts& facts,
                   std::span<const PathCounts> paths) {
  const std::size_t n = facts.keys.size();
  const double u = accuracy.format.unit_roundoff;
  const double eps = -std::log1p(-accuracy.exp_relative_error);
  RowTerms terms;
  std::vector<double> delta(n);
  for (std::size_t j = 0; j < n; ++j) {
    delta[j] = score_error_bound(accuracy, facts.scale, facts.head_dim, facts.score_magnitude[j]);
    terms.delta_max = std::max(terms.delta_max, delta[j]);
  }
  const double reading_error =
      *std::max_element(facts.score_radius.begin(), facts.score_radius.end());
  Wide g_lower_gap = 0;
  Wide g_upper_gap = 0;
  double worst_growth = 0;
  for (std::size_t j = 0; j < n; ++j) {
    const double additions = static_cast<double>(paths[j].additions);
    const double rescales = static_cast<double>(paths[j].rescales);
    const double argument = std::max(0.0, facts.score_max - facts.score[j]) + 2 * reading_error +
                            delta[j] + terms.delta_max;
    terms.z.push_back(delta[j] + u * argument + (1 + rescales) * eps);
    terms.na.push_back((additions + rescales + 1) * u);  // + 1: the product weight * value
    terms.nl.push_back((additions + rescales) * u);
    terms.underflow.push_back((1 + rescales) * accuracy.exp_absolute_error);
    terms.rescales_max = std::max(terms.rescales_max, rescales);
    terms.sum_underflow += terms.underflow[j];
    worst_growth = std::max(worst_growth, terms.na[j]);
    g_lower_gap += Wide{facts.probability[j]} * -std::expm1(-terms.z[j]);
    g_upper_gap += Wide{facts.probability[j]} * std::expm1(terms.z[j]);
  }
  terms.g_lower_gap = static_cast<double>(g_lower_gap);
  double eta_denominator = 0;
  double worst_log = 0;
  for (std::size_t j = 0; j < n; ++j) {
    const double w =
        std::max((std::expm1(terms.z[j]) + terms.g_lower_gap) / (1 - terms.g_lower_gap),
                 static_cast<double>((g_upper_gap - std::expm1(-terms.z[j])) / (1 + g_upper_gap)));
    const double weighted = facts.probability[j] * (1 + w);
    terms.centred.push_back(facts.probability[j] * std::expm1(terms.z[j]) + kSmallest);
    terms.summed.push_back(weighted * std::expm1(terms.na[j]) + kSmallest);
    eta_denominator += weighted * std::expm1(terms.nl[j]);
    worst_log = std::max(worst_log, terms.z[j] + terms.nl[j]);
  }
  const double division = std::expm1(static_cast<double>(accuracy.division_roundings) * u);
  terms.kappa_gap = eta_denominator < 1 - kSmallestGap && terms.g_lower_gap < 1 - kSmallestGap
                        ? (division + eta_denominator) / (1 - eta_denominator)
                        : kInfinity;
  terms.growth = std::exp(worst_growth);
  terms.sum_underflow =
      terms.growth * (terms.sum_underflow + static_cast<double>(n) * terms.rescales_max *
                                                accuracy.format.rounding_underflow);
  // The second Delta covers the rounding of score_max, to which log_sum is relative.
  const double by_weights =
      std::exp(facts.log_sum - 2 * terms.delta_max - worst_log) * (1 - 0x1p-30) -
      terms.sum_underflow;
  terms.sum_lower = std::max(1.0, by_weights);
  return terms;
}

/// The sums over keys that Theorem 1 needs, per output column.
struct ColumnSums {
  std::vector<double> centred;    ///< sum p_j (e^{Z_j} - 1) |v_jc - o_c|
  std::vector<double> summed;     ///< sum p_j (1 + W_j) (e^{Na_j} - 1) |v_jc|
  std::vector<double> underflow;  ///< sum g_j |v_jc|
};

/// Key by key, because the values lie row by row; this loop is where a bound spends its time.
ColumnSums column_sums(const RowFacts& facts, const RowTerms& terms) {
  const std::size_t n = facts.keys.size();
  const std::size_t columns = facts.output.size();
  // Each product below rounds by at most half the smallest subnormal where it underflows.
  const std::vector<double> lost(columns, static_cast<double>(n) * kSmallest);
  ColumnSums sums{lost, lost, lost};
  std::vector<double> output(columns);
  double centred_weight = 0;
  for (std::size_t c = 0; c < columns; ++c) output[c] = facts.output[c].high;
  for (std::size_t j = 0; j < n; ++j) {
    const double* const value = &facts.value[j * columns];
    centred_weight += terms.centred[j];
    for (std::size_t c = 0; c < columns; ++c) {
      sums.centred[c] += terms.centred[j] * std::abs(value[c] - output[c]);
      sums.summed[c] += terms.summed[j] * std::abs(value[c]);
      sums.underflow[c] += terms.underflow[j] * std::abs(value[c]);
    }
  }
  for (std::size_t c = 0; c < columns; ++c)
    sums.centred[c] += centred_weight * (std::abs(facts.output[c].low) + facts.output[c].radius);
  return sums;
}

double output_bound(const DeclaredAccuracy& accuracy, const RowFacts& facts, const RowTerms& terms,
                    const ColumnSums& sums, std::size_t column) {
  const double om = accuracy.format.rounding_underflow;
  const Wide output = magnitude_upper(facts.output[column]);
  const Wide b1 = Wide{sums.centred[column]} / (1 - terms.g_lower_gap);
  const Wide b2 =
      (1 + terms.kappa_gap) * Wide{sums.summed[column]} + terms.kappa_gap * (output + b1);
  const double operations = static_cast<double>(facts.keys.size()) * (1 + terms.rescales_max);
  const Wide underflow = terms.growth * (Wide{sums.underflow[column]} + Wide{operations} * om) +
                         Wide{terms.sum_underflow} * (output + b1 + b2);
  const Wide b3 = (1 + terms.kappa_gap) * underflow / terms.sum_lower;
  return static_cast<double>((b1 + b2 + b3 + om) * kEvaluationSlack) + kSmallest;
}

/// Theorem 2.
double lse_bound(const DeclaredAccuracy& accuracy, const RowFacts& facts, const RowTerms& terms) {
  const double u = accuracy.format.unit_roundoff;
  const double om = accuracy.format.rounding_underflow;
  Wide upper = 0;
  Wide lower = 0;
  for (std::size_t j = 0; j < facts.keys.size(); ++j) {
    const double lambda = terms.z[j] + terms.nl[j];
    upper += Wide{facts.probability[j]} * std::expm1(lambda);
    lower += Wide{facts.probability[j]} * -std::expm1(-lambda);
  }
  const double x = terms.sum_underflow / terms.sum_lower;
  if (!(lower < 1 - kSmallestGap) || !(x < 1)) return kInfinity;
  const double xi =
      static_cast<double>(std::max(std::log1p(upper), -std::log1p(-lower))) - std::log1p(-x);
  const double log_error =
      accuracy.log_relative_error * (std::abs(facts.log_sum) + xi + 2 * terms.delta_max);
  return (xi + log_error + u * (magnitude_upper(facts.lse) + xi + log_error) + om) *
         kEvaluationSlack;
}

RowBound unproven_bound(std::string reason, std::size_t columns) {
  return {std::vector<double>(columns, kInfinity), kInfinity, std::move(reason)};
}

/// An infinite bound would accept everything.
RowBound finite_or_unproven(RowBound bound) {
  const bool finite =
      std::isfinite(bound.lse) && std::all_of(bound.output.begin(), bound.output.end(),
                                              [](double limit) { return std::isfinite(limit); });
  return finite ? bound : unproven_bound("the bound is not finite", bound.output.size());
}

}  // namespace

double score_error_bound(const DeclaredAccuracy& accuracy, double scale, Index head_dim,
                         double score_magnitude) {
  if (accuracy.dot_roundings == 0) return 0;
  const double om = accuracy.format.rounding_underflow;
  const double growth =
      std::expm1(static_cast<double>(accuracy.dot_roundings) * accuracy.format.unit_roundoff);
  return (score_magnitude * growth +
          std::abs(scale) * static_cast<double>(head_dim) * om * (1 + growth) + om) *
         kEvaluationSlack;
}

RowBound error_bound(const DeclaredAccuracy& accuracy, const RowFacts& facts,
                     std::span<const PathCounts> paths) {
  if (std::string reason = precondition_failure(accuracy, facts); !reason.empty())
    return unproven_bound(std::move(reason), facts.output.size());
  const RowTerms terms = row_terms(accuracy, facts, paths);
  if (!std::isfinite(terms.kappa_gap))
    return unproven_bound("the error of row_sum may reach row_sum (etaD >= 1)",
                          facts.output.size());
  const ColumnSums sums = column_sums(facts, terms);
  RowBound bound;
  for (std::size_t c = 0; c < facts.output.size(); ++c)
    bound.output.push_back(output_bound(accuracy, facts, terms, sums, c));
  bound.lse = lse_bound(accuracy, facts, terms);
  return finite_or_unproven(std::move(bound));
}

RowBound error_bound(const DeclaredAccuracy& accuracy, const RowFacts& facts, const Tiling& tiling,
                     Index seq_kv) {
  std::vector<ScoredKey> keys(facts.keys.size());
  for (std::size_t j = 0; j < keys.size(); ++j)
    keys[j] = {facts.keys[j], facts.score[j],
               facts.score_radius[j] + score_error_bound(accuracy, facts.scale, facts.head_dim,
                                                         facts.score_magnitude[j])};
  return error_bound(accuracy, facts, count_paths(accuracy, tiling, seq_kv, keys));
}

RowBound normalised_merge_bound(const DeclaredAccuracy& accuracy, const RowFacts& whole,
                                std::span<const NormalisedPart> parts) {
  const double u = accuracy.format.unit_roundoff;
  const double om = accuracy.format.rounding_underflow;
  const double eps = -std::log1p(-accuracy.exp_relative_error);
  const double s = static_cast<double>(parts.size());
  const double additions = (2 * s + 2) * u;  // sums, product and division on one part's path
  double lse_max = -kInfinity;
  double child_error = 0;
  for (const NormalisedPart& part : parts) {
    if (!part.bound->proven()) return unproven_bound(part.bound->unproven, whole.output.size());
    lse_max = std::max(lse_max, part.facts->lse.high);
    child_error = std::max(child_error, part.bound->lse);
  }
  if (!(largest_value(whole) * s < accuracy.format.max_finite / 2))
    return unproven_bound("the merged numerator may overflow (assumption A6)", whole.output.size());
  std::vector<double> z;
  std::vector<double> share;
  Wide gap = 0;
  Wide upper = 0;
  Wide lower = 0;
  for (const NormalisedPart& part : parts) {
    const double own = part.bound->lse;
    // The double rounding of both lse values enters the share and is covered by 2^-50.
    const double reading = 0x1p-50 * (std::abs(part.facts->lse.high) + std::abs(lse_max));
    z.push_back(own + u * (lse_max - part.facts->lse.high + own + child_error + reading) + eps);
    share.push_back(std::exp(part.facts->lse.high - whole.lse.high + reading) * (1 + 0x1p-40));
    gap += Wide{share.back()} * -std::expm1(-z.back());
    upper += Wide{share.back()} * std::expm1(z.back() + additions);
    lower += Wide{share.back()} * -std::expm1(-z.back() - additions);
  }
  if (!(gap < 1 - kSmallestGap) || !(lower < 1 - kSmallestGap))
    return unproven_bound("the error of the weights may reach the weights", whole.output.size());
  RowBound bound;
  for (std::size_t c = 0; c < whole.output.size(); ++c) {
    Wide error = 0;
    Wide magnitudes = 0;
    double largest = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const Enclosure& own = parts[i].facts->output[c];
      const double own_bound = parts[i].bound->output[c];
      const double magnitude = magnitude_upper(own) + own_bound;
      magnitudes += magnitude;
      largest = std::max(largest, magnitude);
      const double apart =
          whole.output[c].distance_upper(own.high) + std::abs(own.low) + own.radius;
      error += Wide{share[i]} * std::expm1(z[i]) * apart / (1 - gap);
      error += Wide{share[i]} * std::exp(z[i]) / (1 - gap) *
               (own_bound * std::exp(additions) + std::expm1(additions) * Wide{magnitude});
    }
    // Weights that underflow, products that underflow; the sum of the weights is at least 1.
    error += std::exp(2 * additions) *
             (Wide{accuracy.exp_absolute_error} * (magnitudes + s * largest) + s * om);
    bound.output.push_back(static_cast<double>((error + om) * kEvaluationSlack) + kSmallest);
  }
  const double xi = static_cast<double>(std::max(std::log1p(upper), -std::log1p(-lower))) +
                    2 * s * (accuracy.exp_absolute_error + om);
  const double log_error = accuracy.log_relative_error * (std::log(s) + xi + child_error);
  bound.lse =
      (xi + log_error + u * (magnitude_upper(whole.lse) + xi + log_error + std::log(s)) + om) *
      kEvaluationSlack;
  return finite_or_unproven(std::move(bound));
}

}  // namespace attest
