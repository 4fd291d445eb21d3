#include <algorithm>
#include <cmath>

#include "row_terms.hpp"

namespace attest {
namespace {

/// What Theorem 4 needs of every part: its weight and the error of that.
struct PartWeights {
  std::vector<double> share;  ///< pi_i, upper bound
  std::vector<double> z;      ///< Z_i
  double child_error = 0;     ///< largest Bl_i
  double accumulation = 0;    ///< N
  Wide gap = 0;               ///< 1 - G_lo
  Wide upper = 0;             ///< sum pi_i (e^{Z_i + N} - 1)
  Wide lower = 0;             ///< sum pi_i (1 - e^{-Z_i - N})
};

PartWeights weigh_parts(const DeclaredAccuracy& accuracy, const RowFacts& whole,
                        std::span<const NormalisedPart> parts) {
  const double u = accuracy.format.unit_roundoff;
  const double eps = log_domain(accuracy.exp_relative_error) + addition_underflow(accuracy);
  PartWeights weights;
  // Sums, product, and the division on one part's path.
  weights.accumulation = (2 * static_cast<double>(parts.size()) + 1 +
                          static_cast<double>(std::max<Index>(1, accuracy.division_roundings))) *
                             u +
                         log_domain(accuracy.reciprocal_relative_error);
  double lse_max = -std::numeric_limits<double>::infinity();
  for (const NormalisedPart& part : parts) {
    lse_max = std::max(lse_max, part.facts->lse.high);
    weights.child_error = std::max(weights.child_error, part.bound->lse);
  }
  for (const NormalisedPart& part : parts) {
    const double own = part.bound->lse;
    const double lse = part.facts->lse.high;
    // The double rounding of both lse values enters the share and is covered by 2^-50.
    const double reading =
        0x1p-50 * (std::abs(lse) + std::abs(lse_max)) + part.facts->lse.radius + whole.lse.radius;
    const double z = own + u * (lse_max - lse + own + weights.child_error + reading) + eps;
    const double share = std::exp(lse - whole.lse.high + reading) * (1 + 0x1p-40);
    weights.z.push_back(z);
    weights.share.push_back(share);
    weights.gap += Wide{share} * -std::expm1(-z);
    weights.upper += Wide{share} * std::expm1(z + weights.accumulation);
    weights.lower += Wide{share} * -std::expm1(-z - weights.accumulation);
  }
  return weights;
}

double merged_output_bound(const DeclaredAccuracy& accuracy, const Enclosure& whole,
                           std::span<const NormalisedPart> parts, const PartWeights& weights,
                           std::size_t c) {
  const double n = weights.accumulation;
  const auto s = static_cast<double>(parts.size());
  const double om = product_underflow(accuracy);
  Wide error = 0;
  Wide magnitudes = 0;
  double largest = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Enclosure& own = parts[i].facts->output[c];
    const double own_bound = parts[i].bound->output[c];
    const auto magnitude =
        static_cast<double>((magnitude_upper(own) + own_bound) * kEvaluationSlack);
    magnitudes += magnitude;
    largest = std::max(largest, magnitude);
    const double apart = whole.distance_upper(own.high) + std::abs(own.low) + own.radius;
    const Wide share = Wide{weights.share[i]} / (1 - weights.gap);
    error += share * std::expm1(weights.z[i]) * apart;
    error += share * std::exp(weights.z[i]) *
             (own_bound * std::exp(n) + std::expm1(n) * Wide{magnitude});
  }
  // Weights that underflow, products that underflow; the sum of the weights is at least 1.
  const Wide lost = Wide{accuracy.exp_absolute_error} * (magnitudes + s * largest) + s * om +
                    2 * s * addition_underflow(accuracy) * (1 + largest);
  Wide bound = error + std::exp(2 * n) * lost + om;
  if (accuracy.output_format)
    bound += accuracy.output_format->unit_roundoff * (magnitude_upper(whole) + bound) +
             underflow_of(accuracy, *accuracy.output_format);
  return static_cast<double>(bound * kEvaluationSlack) + kSmallestNumber;
}

double merged_lse_bound(const DeclaredAccuracy& accuracy, const RowFacts& whole,
                        const PartWeights& weights) {
  const double u = accuracy.format.unit_roundoff;
  const double om = product_underflow(accuracy);
  const auto s = static_cast<double>(weights.share.size());
  const double xi =
      static_cast<double>(std::max(std::log1p(weights.upper), -std::log1p(-weights.lower))) +
      2 * s * (accuracy.exp_absolute_error + om + addition_underflow(accuracy));
  const double log_error = accuracy.log_relative_error * (std::log(s) + xi + weights.child_error) +
                           accuracy.log_absolute_error;
  return static_cast<double>((xi + log_error +
                              u * (magnitude_upper(whole.lse) + xi + log_error + std::log(s)) + om +
                              addition_underflow(accuracy)) *
                             kEvaluationSlack);
}

}  // namespace

RowBound normalised_merge_bound(const DeclaredAccuracy& accuracy, const RowFacts& whole,
                                std::span<const NormalisedPart> parts) {
  for (const NormalisedPart& part : parts)
    if (!part.bound->proven()) return unproven_bound(part.bound->unproven, whole.output.size());
  if (!(largest_value(whole) * static_cast<double>(parts.size()) < accuracy.format.max_finite / 2))
    return unproven_bound("the merged numerator may overflow (assumption A6)", whole.output.size());
  const PartWeights weights = weigh_parts(accuracy, whole, parts);
  if (!(weights.gap < 1 - kSmallestGap) || !(weights.lower < 1 - kSmallestGap))
    return unproven_bound("the error of the weights may reach the weights", whole.output.size());
  RowBound bound;
  for (std::size_t c = 0; c < whole.output.size(); ++c)
    bound.output.push_back(merged_output_bound(accuracy, whole.output[c], parts, weights, c));
  bound.lse = merged_lse_bound(accuracy, whole, weights);
  bound.lse_base_two = base_two_lse_bound(accuracy, whole.lse, whole.keys.size(), bound.lse);
  if (output_may_overflow(accuracy, whole, bound))
    return unproven_bound("an output may overflow its format (assumption A6)", whole.output.size());
  return finite_or_unproven(std::move(bound));
}

}  // namespace attest
