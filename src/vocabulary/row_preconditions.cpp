// For which rows a bound can be given: assumptions A5 and A6 of docs/numerics.md.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "late_addends.hpp"
#include "row_terms.hpp"

namespace attest {
namespace {

/// kEvaluationSlack covers sums of as many terms.
constexpr Index kMostKeys = Index{1} << 20;

/// Of the argument of tanh, and of a score and what is added to it after that, in any order. A key
/// that a finite number masks does not count with what comes after the softcap.
Wide largest_partial_score(const DeclaredAccuracy& accuracy, const RowFacts& facts) {
  const bool capped = facts.softcap != 0;
  const Wide cap = std::abs(Wide{facts.softcap});
  const Wide growth =
      std::exp(static_cast<Wide>(accuracy.softcap_roundings) * Wide{accuracy.format.unit_roundoff} +
               Wide{log_domain(accuracy.tanh_relative_error)});
  Wide largest = facts.has_sink() ? std::abs(facts.score.back()) : 0;
  for (std::size_t j = 0; j < facts.keys.size(); ++j) {
    Wide size = facts.score_magnitude[j];
    if (capped) {
      for (const ScoreAddend& addend : facts.addends)
        if (addend.before_softcap) size += std::abs(Wide{addend.value[j]});
      largest = std::max({largest, size, size / cap});
      size = std::min(cap, size) * growth;
    }
    const LateAddends late = late_addends(facts.addends, j, capped);
    if (!stands_for_a_mask(late.stand_in, size + late.others, facts.score_max, accuracy.format))
      largest = std::max(largest, size + late.magnitude());
  }
  return largest;
}

/// An additive mask of nothing but 0 and -inf adds none.
bool adds_numbers(const RowFacts& facts) {
  return std::any_of(facts.addends.begin(), facts.addends.end(), [](const ScoreAddend& addend) {
    return std::any_of(addend.value.begin(), addend.value.end(), [](double x) { return x != 0; });
  });
}

/// Factors that every weight meets must be numbers with full precision.
std::string factor_failure(const DeclaredAccuracy& accuracy, const RowFacts& facts) {
  const Format& format = accuracy.format;
  const bool folds = accuracy.exp_form == ExpForm::folded_base_two;
  if (folds && (facts.softcap != 0 || adds_numbers(facts)))
    return "a softcap or a bias in the base-two form has no bound";
  if (folds && facts.scale != 0) {
    const double folded = std::abs(facts.scale) * std::numbers::log2e;
    if (folded < 2 * format.min_normal) return "the folded scale may be subnormal";
    if (!(folded < format.max_finite / 2)) return "the folded scale may overflow";
  }
  const bool unread = accuracy.underflow == Underflow::flush_results_and_inputs;
  const auto lost = [&](double factor) {
    return unread && factor != 0 && std::abs(factor) < format.min_normal;
  };
  if (lost(facts.scale) || lost(facts.softcap))
    return "the scale or the softcap may be flushed to zero";
  return {};
}

}  // namespace

double largest_value(const RowFacts& facts) {
  double largest = 0;
  for (const double value : facts.value) largest = std::max(largest, std::abs(value));
  return largest;
}

std::string precondition_failure(const DeclaredAccuracy& accuracy, const RowFacts& facts) {
  const Format& dot_format = accuracy.dot_format.value_or(accuracy.format);
  const double growth =
      std::exp(static_cast<double>(accuracy.dot_roundings) * dot_format.unit_roundoff +
               log_domain(accuracy.scaled_query_error));
  Wide largest_score =
      *std::max_element(facts.score_magnitude.begin(), facts.score_magnitude.end());
  largest_score = std::max(
      {largest_score, std::abs(Wide{facts.score_max}), largest_partial_score(accuracy, facts)});
  if (accuracy.scaled_query_error > 0)
    largest_score = std::max(largest_score,
                             std::max<Wide>(1, std::abs(facts.scale)) * facts.input_magnitude_max);
  const double max_finite = std::min(accuracy.format.max_finite, dot_format.max_finite);
  if (!(std::max(largest_score, Wide{facts.dot_magnitude_max}) * growth < max_finite / 2))
    return "a score may overflow (assumption A6)";
  if (std::string reason = factor_failure(accuracy, facts); !reason.empty()) return reason;
  if (static_cast<Index>(facts.keys.size()) > kMostKeys) return "more than 2^20 keys";
  if (!(grid_error(accuracy, facts) < 0.5)) return "the grid may hold no sum of so many keys";
  const int offset = accuracy.weight_cast ? accuracy.weight_cast->offset_log2 : 0;
  if (offset < 0) return "weights with a negative offset have no bound";
  // row_sum is such a sum too, of values 1.
  const double largest = std::max(1.0, largest_value(facts) * (1 + accuracy.value_relative_error)) *
                         static_cast<double>(facts.keys.size()) *
                         std::exp2(accuracy.lag_log2 + offset);
  if (!(largest < accuracy.format.max_finite / 2))
    return "the numerator may overflow (assumption A6)";
  return {};
}

}  // namespace attest
