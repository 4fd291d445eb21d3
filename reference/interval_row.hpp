// A row in interval arithmetic, step by step: scores, weights, sums, and what RowFacts says of
// them.
//
// Templates over the rounding, so that the tests can run them with one rounding turned inward.
// Formulas: reference/row.hpp. The sink is a last key of score `sink` and value 0.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "reference/finite.hpp"
#include "reference/interval.hpp"
#include "reference/oracle.hpp"

namespace attest::reference {

/// All numbers but q and k, which show in the scores.
inline bool has_finite_terms(const Row& row) {
  return std::isfinite(row.scale) && std::isfinite(row.softcap) &&
         std::isfinite(row.sink.value_or(0)) && all_finite(row.v) &&
         std::all_of(row.addends.begin(), row.addends.end(),
                     [](const ScoreAddend& addend) { return all_finite(addend.value); });
}

/// s_j of the visible keys, then of the sink.
template <int Bits, class Rounding>
std::vector<Interval<Bits, Rounding>> enclose_scores(const Row& row) {
  using Number = Interval<Bits, Rounding>;
  const auto d = static_cast<std::size_t>(row.head_dim);
  const std::size_t n = row.keys.size();
  const Number scale = row.scale;
  const Number softcap = row.softcap;
  ProductSum<Bits, Rounding> sums;
  std::vector<Number> scores;
  scores.reserve(n + 1);
  for (std::size_t j = 0; j < n; ++j) {
    Number& score = scores.emplace_back();
    const double* const k = row.k.data() + j * d;
    if (row.exact_products)
      for (std::size_t c = 0; c < d; ++c) sums.add_exact(score, row.q[c], k[c]);
    else
      for (std::size_t c = 0; c < d; ++c) sums.add(score, row.q[c], k[c]);
    score *= scale;
    if (row.softcap != 0) {
      for (const ScoreAddend& addend : row.addends)
        if (addend.before_softcap) score += addend.value[j];
      score = softcap * tanh(score / softcap);
    }
    for (const ScoreAddend& addend : row.addends)
      if (row.softcap == 0 || !addend.before_softcap) score += addend.value[j];
  }
  if (row.sink) scores.emplace_back(*row.sink);
  return scores;
}

template <int Bits, class Rounding>
struct Weights {
  std::vector<Interval<Bits, Rounding>> weight;  ///< exp(s_j - shift)
  Interval<Bits, Rounding> sum;
};

template <int Bits, class Rounding>
Weights<Bits, Rounding> weigh(std::vector<Interval<Bits, Rounding>> scores,
                              const Interval<Bits, Rounding>& shift) {
  Weights<Bits, Rounding> weights{std::move(scores), {}};
  for (auto& weight : weights.weight) {
    weight -= shift;
    weight = exp(std::move(weight));
    weights.sum += weight;
  }
  return weights;
}

/// Encloses the largest score. Precondition: there is one.
template <int Bits, class Rounding>
Interval<Bits, Rounding> largest(const std::vector<Interval<Bits, Rounding>>& scores) {
  Interval<Bits, Rounding> found = scores.front();
  for (const auto& score : scores) {  // exact: each end is one of the ends
    mpfr_max(found.lower(), found.lower(), score.lower(), MPFR_RNDN);
    mpfr_max(found.upper(), found.upper(), score.upper(), MPFR_RNDN);
  }
  return found;
}

/// The shift of weights that are divided by their sum, at most the largest score: one weight is at
/// least 1, however large the scores are and however wide their intervals.
template <int Bits, class Rounding>
Interval<Bits, Rounding> shift_below(const Interval<Bits, Rounding>& largest_score) {
  Interval<Bits, Rounding> shift = largest_score;
  mpfr_set(shift.upper(), shift.lower(), MPFR_RNDN);
  return shift;
}

/// The part of an enclosure that lies in [lower, upper], which also holds the exact number. An
/// undefined end is replaced.
template <int Bits, class Rounding>
void intersect(Interval<Bits, Rounding>& enclosure, mpfr_srcptr lower, mpfr_srcptr upper) {
  if (mpfr_nan_p(enclosure.lower()) != 0 || mpfr_less_p(enclosure.lower(), lower) != 0)
    mpfr_set(enclosure.lower(), lower, MPFR_RNDN);
  if (mpfr_nan_p(enclosure.upper()) != 0 || mpfr_greater_p(enclosure.upper(), upper) != 0)
    mpfr_set(enclosure.upper(), upper, MPFR_RNDN);
}

/// sum_j exp(s_j - shift) v_jc; the sink adds nothing.
template <int Bits, class Rounding>
Interval<Bits, Rounding> numerator(const Row& row, const Weights<Bits, Rounding>& weights,
                                   std::size_t column, ProductSum<Bits, Rounding>& sums) {
  const auto columns = static_cast<std::size_t>(row.head_dim_v);
  Interval<Bits, Rounding> sum;
  for (std::size_t j = 0; j < row.keys.size(); ++j)
    sums.add(sum, weights.weight[j], row.v[j * columns + column]);
  return sum;
}

/// The mean of a column under weights: between its smallest and its largest value (0 for the sink).
/// So a constant column is exact.
template <int Bits, class Rounding>
Interval<Bits, Rounding> weighted_mean(const Row& row, const Weights<Bits, Rounding>& weights,
                                       std::size_t column, ProductSum<Bits, Rounding>& sums) {
  Interval<Bits, Rounding> mean =
      numerator<Bits, Rounding>(row, weights, column, sums) / weights.sum;
  const auto columns = static_cast<std::size_t>(row.head_dim_v);
  double lowest = row.sink ? 0.0 : std::numeric_limits<double>::infinity();
  double highest = row.sink ? 0.0 : -lowest;
  for (std::size_t j = 0; j < row.keys.size(); ++j) {
    lowest = std::min(lowest, row.v[j * columns + column]);
    highest = std::max(highest, row.v[j * columns + column]);
  }
  intersect(mean, Interval<Bits, Rounding>(lowest).lower(),
            Interval<Bits, Rounding>(highest).upper());
  return mean;
}

/// The magnitudes of RowFacts.
template <class Rounding>
void enclose_magnitudes(const Row& row, RowFacts& facts) {
  const auto d = static_cast<std::size_t>(row.head_dim);
  double query = 0;
  for (std::size_t c = 0; c < d && !row.q.empty(); ++c) query += std::abs(row.q[c]);
  for (std::size_t j = 0; j < row.keys.size(); ++j) {
    double dot = 0;
    double input = query;
    for (std::size_t c = 0; c < d; ++c) {
      const double k = row.k[j * d + c];
      dot += std::abs(row.q[c] * k);
      input += std::abs(k);
    }
    dot = upper_sum<Rounding>(dot, d);
    facts.dot_magnitude_max = std::max(facts.dot_magnitude_max, dot);
    facts.input_magnitude_max =
        std::max(facts.input_magnitude_max, upper_sum<Rounding>(input, 2 * d));
    facts.score_magnitude.push_back(upper_sum<Rounding>(dot * std::abs(row.scale), 1));
  }
  if (row.sink) facts.score_magnitude.push_back(0);
}

template <int Bits, class Rounding>
struct ScoredRow {
  RowFacts facts;
  std::vector<Interval<Bits, Rounding>> scores;
};

/// What a row says of its keys and scores, and which scores it was; nothing when a score or a
/// magnitude is beyond the doubles. Precondition: the row is not empty.
template <int Bits, class Rounding>
std::optional<ScoredRow<Bits, Rounding>> score_row(const Row& row) {
  ScoredRow<Bits, Rounding> scored{empty_row_facts(row), enclose_scores<Bits, Rounding>(row)};
  RowFacts& facts = scored.facts;
  facts.keys = row.keys;
  facts.addends = addends_with_sink(row);
  if (row.sink) facts.keys.push_back(RowFacts::kSinkKey);
  enclose_magnitudes<Rounding>(row, facts);
  for (const auto& score : scored.scores) {
    const Enclosure nearest = to_enclosure<Bits>(score);
    facts.score.push_back(nearest.high);
    facts.score_radius.push_back((std::abs(nearest.low) + nearest.radius) *
                                 (1 + outward<Rounding>(Site::score_radius) * 0x1p-50));
  }
  for (const auto* list : {&facts.score, &facts.score_radius, &facts.score_magnitude})
    if (!std::all_of(list->begin(), list->end(), [](double value) { return std::isfinite(value); }))
      return std::nullopt;
  facts.score_max = *std::max_element(facts.score.begin(), facts.score.end());
  return scored;
}

/// What a row says except for the values, which are those of the row; nothing when a number of it
/// is not finite. Precondition: the row is not empty.
template <int Bits, class Rounding>
std::optional<RowFacts> evaluate_row(const Row& row) {
  using Number = Interval<Bits, Rounding>;
  auto scored = score_row<Bits, Rounding>(row);
  if (!scored) return std::nullopt;
  RowFacts& facts = scored->facts;
  const Number score_max = largest(scored->scores);
  const Number shift = shift_below(score_max);
  const Weights<Bits, Rounding> weights = weigh(std::move(scored->scores), shift);
  for (const Number& weight : weights.weight)
    facts.probability.push_back(std::min(1.0, upper_double<Bits>(weight / weights.sum)));
  // L is in [1, n]: the intervals of very large scores are too wide to say so.
  const Number log_size = log(Number(static_cast<double>(facts.keys.size())));
  Number log_sum = log(weights.sum);
  Number lse = log_sum + shift;
  intersect(log_sum, Number().lower(), log_size.upper());
  intersect(lse, score_max.lower(), (score_max + log_size).upper());
  log_sum += shift - Number(facts.score_max);  // relative to the double, as RowFacts has it
  facts.log_sum = std::max(0.0, upper_double<Bits>(log_sum));
  facts.lse = to_enclosure<Bits>(lse);

  ProductSum<Bits, Rounding> sums;
  for (std::size_t c = 0; c < facts.output.size(); ++c) {
    facts.output[c] = to_enclosure<Bits>(weighted_mean(row, weights, c, sums));
    if (!std::isfinite(facts.output[c].radius)) return std::nullopt;
  }
  return std::move(facts);
}

}  // namespace attest::reference
