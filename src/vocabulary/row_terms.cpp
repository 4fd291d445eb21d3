#include "row_terms.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace attest {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// A rounded weight in the log domain.
double cast_error(const DeclaredAccuracy& accuracy) {
  return accuracy.weight_cast ? std::log1p(accuracy.weight_cast->format.unit_roundoff) : 0;
}

/// Fills z, na, nl and numerator_underflow, key by key.
class KeyErrors {
 public:
  KeyErrors(const DeclaredAccuracy& accuracy, const RowFacts& facts, RowTerms& terms)
      : accuracy_(accuracy),
        facts_(facts),
        terms_(terms),
        u_(accuracy.format.unit_roundoff),
        eps_(log_domain(accuracy.exp_relative_error) + argument_underflow(accuracy, facts)),
        cast_(cast_error(accuracy)) {
    for (std::size_t j = 0; j < facts.keys.size(); ++j) {
      delta_.push_back(score_error_bound(accuracy, facts, j));
      max_radius_ = std::max(max_radius_, facts.score_radius[j] - distance_to_max(j));
      terms.score_size = std::max(terms.score_size,
                                  std::abs(facts.score[j]) + facts.score_radius[j] + delta_.back());
    }
    // A key far below the maximum cannot move it, however large its own error is.
    for (std::size_t j = 0; j < facts.keys.size(); ++j) {
      const double below = distance_to_max(j) - max_radius_ - facts.score_radius[j];
      terms.delta_max = std::max(terms.delta_max, delta_[j] - std::max(0.0, below));
    }
    terms.lag = accuracy.lag_log2 * std::numbers::ln2 * kEvaluationSlack;
    if (accuracy.exp_form == ExpForm::folded_base_two)
      terms.shift_error = u_ * (1 + 4 * u_) * terms.score_size;
    terms.largest_weight = std::exp(terms.lag + terms.shift_error + eps_ + cast_);
  }

  void add(std::size_t j, const PathCounts& path) {
    // On a grid only the sum with a sink is rounded.
    const double additions = accuracy_.grid_bits > 0 ? 1 : static_cast<double>(path.additions);
    const double rescales = static_cast<double>(path.rescales);
    const bool sums_rounded = accuracy_.weight_cast && accuracy_.weight_cast->sum_of_rounded;
    terms_.z.push_back(delta_[j] + argument_error(j, path) + (1 + rescales) * eps_ +
                       (sums_rounded ? cast_ : 0));
    // + 1: the product weight * value
    terms_.na.push_back((additions + rescales + 1) * u_ + (sums_rounded ? 0 : cast_) +
                        log_domain(accuracy_.value_relative_error));
    terms_.nl.push_back((additions + rescales) * u_);
    double common =
        (1 + rescales) * accuracy_.exp_absolute_error * terms_.largest_weight + vanishing_weight(j);
    const double by_cast = cast_underflow(j, path);
    if (sums_rounded) common += by_cast;
    terms_.sum_underflow += common;
    // A subnormal weight that is read as 0 is lost to the product alone or to both.
    const double unread = accuracy_.underflow == Underflow::flush_results_and_inputs
                              ? accuracy_.format.min_normal * terms_.largest_weight
                              : 0;
    terms_.sum_underflow += unread;
    terms_.numerator_underflow.push_back(common + unread + (sums_rounded ? 0 : by_cast));
  }

 private:
  /// score_max - s_j, rounded down.
  double distance_to_max(std::size_t j) const {
    return (facts_.score_max - facts_.score[j]) * (1 - 0x1p-50);
  }

  /// A weight that is nothing beside the largest one, while its relative error is large: it is
  /// charged with all of its size, exact and computed, and counts as without error otherwise.
  double vanishing_weight(std::size_t j) {
    constexpr double kLargeError = 0.5;
    constexpr double kSmallWeight = -100;
    double& z = terms_.z.back();
    const Wide exact = Wide{-distance_to_max(j)} + max_radius_ + facts_.score_radius[j] +
                       terms_.delta_max + terms_.lag + terms_.shift_error;
    if (!(z > kLargeError && exact + z < kSmallWeight)) return 0;
    const Wide size = 2 * std::exp((exact + z) * (1 - 0x1p-40L));
    z = 0;
    return static_cast<double>(size) + kSmallestNumber;
  }

  /// An argument of exp that is flushed to 0; in the base-two form the product with the maximum,
  /// and a difference of unscaled scores, may be.
  static double argument_underflow(const DeclaredAccuracy& accuracy, const RowFacts& facts) {
    const bool folded = accuracy.exp_form == ExpForm::folded_base_two;
    return addition_underflow(accuracy) * (folded ? 1 + std::abs(facts.scale) : 1);
  }

  /// E_j: rounded arguments of exp on the whole path (Lemma 2).
  double argument_error(std::size_t j, const PathCounts& path) const {
    // A stand-in for a mask may be the most negative double.
    const Wide distance = std::max<Wide>(0, Wide{facts_.score_max} - facts_.score[j]) +
                          max_radius_ + facts_.score_radius[j] + delta_[j] + terms_.delta_max;
    const Wide travelled = distance + 2 * terms_.lag;
    if (accuracy_.exp_form == ExpForm::natural) return static_cast<double>(u_ * travelled);
    const double apart = path.rescales > 0 ? 2 : 2 * u_;
    return static_cast<double>(4 * u_ * (1 + 2 * u_) * travelled + apart * terms_.shift_error);
  }

  /// Absolute error of the rounded weight below the normal range of its format, as it arrives in
  /// the finished sums: later rescales make it smaller.
  double cast_underflow(std::size_t j, const PathCounts& path) const {
    if (!accuracy_.weight_cast) return 0;
    const WeightCast& cast = *accuracy_.weight_cast;
    const double offset = std::ldexp(1.0, cast.offset_log2);
    const double slack = delta_[j] + terms_.delta_max + max_radius_ + facts_.score_radius[j] +
                         terms_.shift_error + terms_.z.back();
    const double row_max_upper =
        std::min(path.row_max_upper, facts_.score_max + terms_.delta_max + max_radius_);
    const double smallest_weight = std::exp(facts_.score[j] - row_max_upper - slack);
    if (smallest_weight * offset * 0.99 >= cast.format.min_normal) return 0;
    const double shrink = row_max_upper - facts_.score_max + slack + terms_.lag;
    return underflow_of(accuracy_, cast.format) / offset * std::exp(std::min(0.0, shrink)) *
           kEvaluationSlack;
  }

  const DeclaredAccuracy& accuracy_;
  const RowFacts& facts_;
  RowTerms& terms_;
  double u_;
  double eps_;
  double cast_;
  std::vector<double> delta_;
  double max_radius_ = 0;  ///< |M - score_max|
};

void relative_errors(const DeclaredAccuracy& accuracy, const RowFacts& facts, RowTerms& terms) {
  const std::size_t n = facts.keys.size();
  Wide g_lower_gap = 0;
  Wide g_upper_gap = 0;
  for (std::size_t j = 0; j < n; ++j) {
    g_lower_gap += Wide{facts.probability[j]} * -std::expm1(-terms.z[j]);
    g_upper_gap += Wide{facts.probability[j]} * std::expm1(terms.z[j]);
  }
  terms.g_lower_gap = static_cast<double>(g_lower_gap);
  double eta_denominator = 0;
  for (std::size_t j = 0; j < n; ++j) {
    terms.w.push_back(
        std::max((std::expm1(terms.z[j]) + terms.g_lower_gap) / (1 - terms.g_lower_gap),
                 static_cast<double>((g_upper_gap - std::expm1(-terms.z[j])) / (1 + g_upper_gap))));
    eta_denominator += facts.probability[j] * (1 + terms.w[j]) * std::expm1(terms.nl[j]);
  }
  const double division =
      std::expm1(static_cast<double>(accuracy.division_roundings) * accuracy.format.unit_roundoff +
                 log_domain(accuracy.reciprocal_relative_error));
  terms.kappa_gap = eta_denominator < 1 - kSmallestGap && terms.g_lower_gap < 1 - kSmallestGap
                        ? (division + eta_denominator) / (1 - eta_denominator)
                        : kInfinity;
}

/// U_l and l_lo.
void mass_bounds(const DeclaredAccuracy& accuracy, const RowFacts& facts, RowTerms& terms) {
  const auto n = static_cast<double>(facts.keys.size());
  double worst_log = 0;
  for (std::size_t j = 0; j < facts.keys.size(); ++j)
    worst_log = std::max(worst_log, terms.z[j] + terms.nl[j]);
  terms.sum_underflow =
      terms.growth * (terms.sum_underflow + (terms.operations - n) * product_underflow(accuracy) +
                      terms.additions * addition_underflow(accuracy)) +
      grid_error(accuracy, facts);
  // The second Delta covers the rounding of score_max, to which log_sum is relative.
  const double by_weights =
      std::exp(facts.log_sum - 2 * terms.delta_max - worst_log - terms.shift_error) *
          (1 - 0x1p-30) -
      terms.sum_underflow;
  // In the base-two form the largest weight is exp2 of a rounding error, not exp(0).
  const double by_largest =
      accuracy.exp_form == ExpForm::natural
          ? 1.0 - grid_error(accuracy, facts)
          : std::exp(-terms.shift_error - log_domain(accuracy.exp_relative_error) -
                     cast_error(accuracy)) *
                    (1 - 0x1p-30) -
                grid_error(accuracy, facts);
  terms.sum_lower = std::max(by_largest, by_weights);
}

}  // namespace

double grid_error(const DeclaredAccuracy& accuracy, const RowFacts& facts) {
  if (accuracy.grid_bits == 0) return 0;
  const auto n = static_cast<double>(facts.keys.size());
  return std::ldexp(n * n, static_cast<int>(-accuracy.grid_bits));
}

RowTerms row_terms(const DeclaredAccuracy& accuracy, const RowFacts& facts,
                   std::span<const PathCounts> paths) {
  RowTerms terms;
  KeyErrors errors(accuracy, facts, terms);
  double worst_growth = 0;
  Index rescales_max = 0;
  for (std::size_t j = 0; j < facts.keys.size(); ++j) {
    errors.add(j, paths[j]);
    worst_growth = std::max(worst_growth, terms.na[j]);
    rescales_max = std::max(rescales_max, paths[j].rescales);
  }
  terms.growth = std::exp(worst_growth);
  const auto n = static_cast<double>(facts.keys.size());
  terms.operations = n * (1 + static_cast<double>(rescales_max));
  terms.additions = 2 * n;
  relative_errors(accuracy, facts, terms);
  mass_bounds(accuracy, facts, terms);
  return terms;
}

std::vector<ScoredKey> scored_keys(const DeclaredAccuracy& accuracy, const RowFacts& facts) {
  std::vector<ScoredKey> keys(facts.keys.size());
  for (std::size_t j = 0; j < keys.size(); ++j)
    keys[j] = {facts.keys[j], facts.score[j],
               facts.score_radius[j] + score_error_bound(accuracy, facts, j)};
  return keys;
}

double base_two_lse_bound(const DeclaredAccuracy& accuracy, const Enclosure& lse, std::size_t keys,
                          double lse_bound) {
  const Wide u = accuracy.format.unit_roundoff;
  // Of the lse, and of the maximum that is converted where the logarithm is taken in base two.
  const Wide size = magnitude_upper(lse) + lse_bound + std::log(static_cast<double>(keys)) +
                    accuracy.lag_log2 * std::numbers::ln2 + 1;
  const Wide natural = lse_bound + std::expm1(3 * u) * size;
  const Wide underflow = 3 * product_underflow(accuracy) + 2 * addition_underflow(accuracy);
  return static_cast<double>((natural * std::numbers::log2e + underflow) * kEvaluationSlack);
}

RowBound unproven_bound(std::string reason, std::size_t columns) {
  return {std::vector<double>(columns, kInfinity), kInfinity, std::move(reason), kInfinity};
}

bool output_may_overflow(const DeclaredAccuracy& accuracy, const RowFacts& facts,
                         const RowBound& bound) {
  if (!accuracy.output_format) return false;
  // With the last rounding the bound is at least B + u (|o| + B); below half a step above the
  // largest number nothing rounds to infinity.
  const Wide u = accuracy.output_format->unit_roundoff;
  const Wide limit = Wide{accuracy.output_format->max_finite} * (1 + u / (2 - 2 * u)) * (1 + u);
  for (std::size_t c = 0; c < facts.output.size(); ++c)
    if (!(magnitude_upper(facts.output[c]) + bound.output[c] < limit)) return true;
  return false;
}

RowBound finite_or_unproven(RowBound bound) {
  const bool finite = std::isfinite(bound.lse) && std::isfinite(bound.lse_base_two) &&
                      std::all_of(bound.output.begin(), bound.output.end(),
                                  [](double limit) { return std::isfinite(limit); });
  return finite ? bound : unproven_bound(kNotFinite, bound.output.size());
}

}  // namespace attest
