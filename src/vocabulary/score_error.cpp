#include <algorithm>
#include <cmath>

#include "attest/error_bound.hpp"
#include "row_terms.hpp"

namespace attest {
namespace {

/// Largest error of q and k together that reading subnormal numbers as 0 can make in one row.
double lost_inputs(const DeclaredAccuracy& accuracy, const Format& format, double scale,
                   const RowFacts& facts) {
  if (accuracy.underflow != Underflow::flush_results_and_inputs) return 0;
  return std::abs(scale) * format.min_normal * facts.input_magnitude_max;
}

/// What is added before the softcap, or after it. Without one, everything is added after it.
Additions additions(const DeclaredAccuracy& accuracy, const RowFacts& facts, std::size_t j,
                    bool before) {
  const bool unread = accuracy.underflow == Underflow::flush_results_and_inputs;
  Additions found;
  for (const ScoreAddend& addend : facts.addends)
    if ((facts.softcap != 0 && addend.before_softcap) == before)
      found.add(addend, j, accuracy.bias_relative_error, product_underflow(accuracy),
                unread ? accuracy.format.min_normal : 0);
  return found;
}

}  // namespace

double underflow_of(const DeclaredAccuracy& accuracy, const Format& format) {
  return accuracy.underflow == Underflow::gradual ? format.rounding_underflow : format.min_normal;
}

double product_underflow(const DeclaredAccuracy& accuracy) {
  return underflow_of(accuracy, accuracy.format);
}

double addition_underflow(const DeclaredAccuracy& accuracy) {
  return accuracy.underflow == Underflow::gradual ? 0 : accuracy.format.min_normal;
}

double log_domain(double relative_error) {
  return -std::log1p(-relative_error);
}

double score_error_bound(const DeclaredAccuracy& accuracy, double scale, Index head_dim,
                         double score_magnitude) {
  if (accuracy.dot_roundings == 0) return 0;
  const Format& format = accuracy.dot_format.value_or(accuracy.format);
  const double om = underflow_of(accuracy, format);
  const double operations =  // a sum underflows only where results are flushed
      static_cast<double>(head_dim) * (accuracy.underflow == Underflow::gradual ? 1 : 2);
  const double growth =
      std::expm1(static_cast<double>(accuracy.dot_roundings) * format.unit_roundoff +
                 log_domain(accuracy.scaled_query_error));
  return (score_magnitude * growth + std::abs(scale) * operations * om * (1 + growth) + om) *
         kEvaluationSlack;
}

double score_error_bound(const DeclaredAccuracy& accuracy, const RowFacts& facts, std::size_t j) {
  const double u = accuracy.format.unit_roundoff;
  const double om = product_underflow(accuracy);
  const double score = std::abs(facts.score[j]) + facts.score_radius[j];
  if (facts.keys[j] ==
      RowFacts::kSinkKey) {  // given, but read, and multiplied in the base-two form
    const bool unread = accuracy.underflow == Underflow::flush_results_and_inputs && score != 0 &&
                        score < accuracy.format.min_normal;
    return ((unread ? accuracy.format.min_normal : 0) +
            (accuracy.exp_form == ExpForm::natural ? 0 : 3 * u * score)) *
           kEvaluationSlack;
  }
  const Format& dot_format = accuracy.dot_format.value_or(accuracy.format);
  // A query that is scaled first leaves no scale behind that would shrink what underflows.
  const bool scaled_first = accuracy.scaled_query_error > 0;
  const double scale = scaled_first ? std::max(1.0, std::abs(facts.scale)) : facts.scale;
  double error = score_error_bound(accuracy, scale, facts.head_dim, facts.score_magnitude[j]) +
                 2 * lost_inputs(accuracy, dot_format, scale, facts);
  if (scaled_first)
    error += 2 * underflow_of(accuracy, accuracy.format) * facts.input_magnitude_max;
  const Additions before = additions(accuracy, facts, j, true);
  const Additions after = additions(accuracy, facts, j, false);
  const Wide flush = addition_underflow(accuracy);
  Wide base = facts.score_magnitude[j];
  if (facts.softcap != 0) {
    const Wide uncapped = base + before.magnitude;
    error = static_cast<double>(error_after(before, base, error, uncapped, u, flush));
    const double growth = std::expm1(static_cast<double>(accuracy.softcap_roundings) * u +
                                     log_domain(accuracy.tanh_relative_error));
    const Wide capped =
        std::min({score + after.magnitude, std::abs(Wide{facts.softcap}), uncapped});
    error = static_cast<double>((error + (2 * std::abs(facts.softcap) + 1) * om) * (1 + growth) +
                                capped * growth);
    base = capped;
  }
  base = std::min(base, score + after.magnitude);
  return static_cast<double>(error_after(after, base, error, score, u, flush)) * kEvaluationSlack;
}

}  // namespace attest
