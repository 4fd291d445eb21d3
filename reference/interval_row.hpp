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

#include "reference/interval.hpp"
#include "reference/oracle.hpp"

namespace attest::reference {

/// The numbers beside q, k and v, of which a row may be made by hand.
inline bool has_finite_terms(const Row& row) {
  return std::isfinite(row.scale) && std::isfinite(row.softcap) &&
         std::isfinite(row.sink.value_or(0)) &&
         std::all_of(row.bias.begin(), row.bias.end(), [](double b) { return std::isfinite(b); });
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
    if (row.softcap != 0) score = softcap * tanh(score / softcap);
    if (!row.bias.empty()) score += row.bias[j];
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
Weights<Bits, Rounding> weigh(std::vector<Interval<Bits, Rounding>> scores, double shift) {
  Weights<Bits, Rounding> weights{std::move(scores), {}};
  const Interval<Bits, Rounding> point = shift;
  for (auto& weight : weights.weight) {
    weight -= point;
    weight = exp(std::move(weight));
    weights.sum += weight;
  }
  return weights;
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

/// Upper bound of a sum of `terms` non-negative products that was formed in double: each rounding
/// is a factor of at most 1 + 2^-53, or loses at most the smallest subnormal.
template <class Rounding>
double upper_sum(double sum, std::size_t terms) {
  const auto count = static_cast<double>(terms);
  const double factor = 1 + outward<Rounding>(Site::double_sum) * 0x1p-51 * (count + 1);
  const double lost = outward<Rounding>(Site::double_underflow) * 2 * count;
  return sum * factor + lost * std::numeric_limits<double>::denorm_min();
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

/// What a row says except for the values, which are those of the row; nothing when a number of it
/// is not finite. Precondition: the row is not empty.
template <int Bits, class Rounding>
std::optional<RowFacts> evaluate_row(const Row& row) {
  using Number = Interval<Bits, Rounding>;
  const auto finite = [](double value) { return std::isfinite(value); };
  RowFacts facts = empty_row_facts(row);
  facts.keys = row.keys;
  facts.bias = row.bias;
  if (row.sink) facts.keys.push_back(RowFacts::kSinkKey);
  if (row.sink && !row.bias.empty()) facts.bias.push_back(0);
  enclose_magnitudes<Rounding>(row, facts);

  std::vector<Number> scores = enclose_scores<Bits, Rounding>(row);
  for (const Number& score : scores) {
    const Enclosure nearest = to_enclosure<Bits>(score);
    facts.score.push_back(nearest.high);
    facts.score_radius.push_back((std::abs(nearest.low) + nearest.radius) *
                                 (1 + outward<Rounding>(Site::score_radius) * 0x1p-50));
  }
  for (const auto* list : {&facts.score, &facts.score_radius, &facts.score_magnitude})
    if (!std::all_of(list->begin(), list->end(), finite)) return std::nullopt;
  facts.score_max = *std::max_element(facts.score.begin(), facts.score.end());

  const Weights<Bits, Rounding> weights = weigh<Bits, Rounding>(std::move(scores), facts.score_max);
  for (const Number& weight : weights.weight)
    facts.probability.push_back(upper_double<Bits>(weight / weights.sum));
  const Number log_sum = log(weights.sum);
  facts.log_sum = std::max(0.0, upper_double<Bits>(log_sum));
  facts.lse = to_enclosure<Bits>(log_sum + Number(facts.score_max));

  ProductSum<Bits, Rounding> sums;
  for (std::size_t c = 0; c < facts.output.size(); ++c) {
    facts.output[c] =
        to_enclosure<Bits>(numerator<Bits, Rounding>(row, weights, c, sums) / weights.sum);
    if (!finite(facts.output[c].radius)) return std::nullopt;
  }
  return facts;
}

}  // namespace attest::reference
