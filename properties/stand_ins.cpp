#include "properties/stand_ins.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "properties/judge.hpp"

namespace attest::properties {
namespace {

constexpr std::array<StandIn, 6> kStandIns{{
    {"all zeros", "nothing was computed"},
    {"mean of all V", "every key counts the same, also a masked one"},
    {"uniform weights", "every visible key counts the same"},
    {"V of the last key", "the last visible key alone"},
    {"last key dropped", "a mask or a loop that ends one key too early"},
    {"one key too many", "a mask or a loop that ends one key too late"},
}};

/// sum_j w_j v_j / sum_j w_j over the first `count` visible keys, with w_j = weight(j).
template <class Weight>
std::vector<double> weighted(const RowFacts& facts, std::size_t count, const Weight& weight) {
  const std::size_t columns = facts.output.size();
  std::vector<double> output(columns, 0.0);
  double sum = 0;
  for (std::size_t j = 0; j < count; ++j) {
    const double w = weight(j);
    sum += w;
    for (std::size_t c = 0; c < columns; ++c) output[c] += w * facts.value[j * columns + c];
  }
  for (double& value : output) value /= sum;
  return output;
}

double score_of(const Case& of, const RowIndex& row, Index key) {
  double dot = 0;
  for (Index c = 0; c < of.problem.head_dim; ++c)
    dot += of.q.get(row.batch, row.head, row.query, c) *
           of.k.get(row.batch, of.problem.kv_head(row.head), key, c);
  return dot * scale_value(of.problem);
}

std::vector<double> mean_of_all(const Case& of, const RowIndex& row) {
  std::vector<double> mean;
  for (Index c = 0; c < of.problem.head_dim_v; ++c) {
    double sum = 0;
    for (Index key = 0; key < of.problem.seq_kv; ++key)
      sum += of.v.get(row.batch, of.problem.kv_head(row.head), key, c);
    mean.push_back(sum / static_cast<double>(of.problem.seq_kv));
  }
  return mean;
}

/// The row with the key behind the last visible one.
std::optional<std::vector<double>> one_key_more(const Case& of, const RowIndex& row,
                                                const RowFacts& facts) {
  const Index last = facts.keys[static_cast<std::size_t>(facts.visible_keys()) - 1];
  if (last + 1 >= of.problem.seq_kv) return std::nullopt;
  const double score = score_of(of, row, last + 1);
  const double largest = std::max(facts.score_max, score);
  const double weight = std::exp(score - largest);
  double sum = weight;
  for (const double other : facts.score) sum += std::exp(other - largest);
  std::vector<double> output = output_with_scores_times(facts, 1);
  for (Index c = 0; c < of.problem.head_dim_v; ++c) {
    double& value = output[static_cast<std::size_t>(c)];
    const double added = of.v.get(row.batch, of.problem.kv_head(row.head), last + 1, c);
    value += (added - value) * (weight / sum);
  }
  return output;
}

}  // namespace

std::span<const StandIn> stand_ins() {
  return kStandIns;
}

std::vector<std::optional<std::vector<double>>> stand_in_outputs(const Case& of,
                                                                 const RowIndex& row,
                                                                 const RowFacts& facts) {
  const auto visible = static_cast<std::size_t>(facts.visible_keys());
  const std::size_t columns = facts.output.size();
  const auto equal = [](std::size_t) { return 1.0; };
  const auto exact = [&](std::size_t j) { return std::exp(facts.score[j] - facts.score_max); };
  const auto last = facts.value.begin() + static_cast<std::ptrdiff_t>((visible - 1) * columns);
  std::vector<std::optional<std::vector<double>>> outputs;
  outputs.emplace_back(std::vector<double>(columns, 0.0));
  // Without a hidden key it is the next stand-in.
  if (static_cast<Index>(visible) < of.problem.seq_kv)
    outputs.emplace_back(mean_of_all(of, row));
  else
    outputs.emplace_back(std::nullopt);
  outputs.emplace_back(weighted(facts, visible, equal));
  outputs.emplace_back(std::vector<double>(last, last + static_cast<std::ptrdiff_t>(columns)));
  if (visible > 1)
    outputs.emplace_back(weighted(facts, visible - 1, exact));
  else
    outputs.emplace_back(std::vector<double>(columns, 0.0));
  outputs.push_back(one_key_more(of, row, facts));
  return outputs;
}

std::vector<double> output_with_scores_times(const RowFacts& facts, double factor) {
  // Relative to the largest product, which is at the other end for a negative factor.
  double largest = factor * facts.score.front();
  for (const double score : facts.score) largest = std::max(largest, factor * score);
  return weighted(facts, facts.keys.size(),
                  [&](std::size_t j) { return std::exp(factor * facts.score[j] - largest); });
}

bool differs(const RowFacts& facts, std::size_t column, double output) {
  // Sums of n terms of weights exp(x), |x| up to twice the largest score, in double.
  double largest_score = 0;
  for (const double score : facts.score) largest_score = std::max(largest_score, std::abs(score));
  const double roundings = 2 * static_cast<double>(facts.keys.size()) + 8 + 8 * largest_score;
  const double noise = roundings * 0x1p-53 * value_magnitude(facts, column);
  return !(facts.output[column].distance_lower(output) <= noise);
}

}  // namespace attest::properties
