#include "properties/stand_ins.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "properties/judge.hpp"
#include "properties/stand_in_reader.hpp"

namespace attest::properties {
namespace {

using Output = std::vector<double>;

/// sum_j w_j v_j / sum_j w_j over all keys, the sink behind them, with w_j = weight(j).
template <class Weight>
Output weighted(const RowFacts& facts, const Weight& weight) {
  const std::size_t columns = facts.output.size();
  Output output(columns, 0.0);
  double sum = 0;
  for (std::size_t j = 0; j < facts.keys.size(); ++j) {
    const double w = weight(j);
    sum += w;
    for (std::size_t c = 0; c < columns; ++c) output[c] += w * facts.value[j * columns + c];
  }
  if (sum == 0) return Output(columns, 0.0);
  for (double& value : output) value /= sum;
  return output;
}

/// The row with score(j) as the score of key j, and with the sink if `with_sink`.
template <class Score>
Output with_scores(const RowFacts& facts, bool with_sink, const Score& score) {
  const auto visible = static_cast<std::size_t>(facts.visible_keys());
  const std::size_t count = with_sink ? facts.keys.size() : visible;
  std::vector<double> scores;
  for (std::size_t j = 0; j < count; ++j) scores.push_back(j < visible ? score(j) : facts.score[j]);
  const double largest = *std::max_element(scores.begin(), scores.end());
  return weighted(facts,
                  [&](std::size_t j) { return j < count ? std::exp(scores[j] - largest) : 0; });
}

double sum_of(const std::vector<ScoreAddend>& addends, std::size_t j, bool before_softcap) {
  double sum = 0;
  for (const ScoreAddend& addend : addends)
    if (addend.before_softcap == before_softcap) sum += addend.value[j];
  return sum;
}

/// Nothing where every key is visible: it is then that of uniform weights.
std::optional<Output> mean_of_all(const Case& of, const RowIndex& row, const RowFacts& facts) {
  const Index keys = of.problem.key_length(row.batch);
  if (facts.visible_keys() == keys) return std::nullopt;
  const StandInReader reader(of, row);
  Output mean(facts.output.size(), 0.0);
  for (Index key = 0; key < keys; ++key) {
    const Output value = reader.value(key);
    for (std::size_t c = 0; c < mean.size(); ++c) mean[c] += value[c];
  }
  for (double& value : mean) value /= static_cast<double>(keys);
  return mean;
}

/// The row with the key behind the last visible one.
std::optional<Output> one_key_more(const Case& of, const RowIndex& row, const RowFacts& facts) {
  const Index next = facts.keys[static_cast<std::size_t>(facts.visible_keys()) - 1] + 1;
  if (next >= of.problem.key_length(row.batch)) return std::nullopt;
  const StandInReader reader(of, row);
  const double score = reader.score(next);
  if (!std::isfinite(score)) return std::nullopt;
  const double largest = std::max(facts.score_max, score);
  const double weight = std::exp(score - largest);
  double sum = weight;
  for (const double other : facts.score) sum += std::exp(other - largest);
  Output output = output_with_scores_times(facts, 1);
  const Output added = reader.value(next);
  for (std::size_t c = 0; c < output.size(); ++c)
    output[c] += (added[c] - output[c]) * (weight / sum);
  return output;
}

Output without_last_key(const RowFacts& facts) {
  const auto last = static_cast<std::size_t>(facts.visible_keys()) - 1;
  double largest = -std::numeric_limits<double>::infinity();
  for (std::size_t j = 0; j < facts.keys.size(); ++j)
    if (j != last) largest = std::max(largest, facts.score[j]);
  return weighted(
      facts, [&](std::size_t j) { return j == last ? 0.0 : std::exp(facts.score[j] - largest); });
}

std::optional<Output> without_softcap(const Case& of, const RowIndex& row, const RowFacts& facts) {
  if (facts.softcap == 0) return std::nullopt;
  const ScoreParts parts = score_parts(of, row, facts);
  return with_scores(facts, true, [&](std::size_t j) {
    return parts.product[j] + parts.before[j] + sum_of(facts.addends, j, false);
  });
}

std::optional<Output> without_additions(const Case& of, const RowIndex& row,
                                        const RowFacts& facts) {
  if (facts.addends.empty()) return std::nullopt;
  const ScoreParts parts = score_parts(of, row, facts);
  return with_scores(facts, true,
                     [&](std::size_t j) { return capped(parts.product[j], facts.softcap); });
}

std::optional<Output> without_sink(const RowFacts& facts) {
  if (!facts.has_sink()) return std::nullopt;
  return with_scores(facts, false, [&](std::size_t j) { return facts.score[j]; });
}

Output uniform(const RowFacts& facts) {
  const auto visible = static_cast<std::size_t>(facts.visible_keys());
  return weighted(facts, [&](std::size_t j) { return j < visible ? 1.0 : 0.0; });
}

Output last_value(const RowFacts& facts) {
  const auto columns = static_cast<std::ptrdiff_t>(facts.output.size());
  const auto last = facts.value.begin() + (facts.visible_keys() - 1) * columns;
  return {last, last + columns};
}

using MadeOf = std::optional<Output> (*)(const Case&, const RowIndex&, const RowFacts&);

/// A mistake that shows in the facts of a row alone.
template <auto kOutput>
std::optional<Output> of_facts(const Case&, const RowIndex&, const RowFacts& facts) {
  return kOutput(facts);
}

std::optional<Output> zeros(const Case&, const RowIndex&, const RowFacts& facts) {
  return Output(facts.output.size(), 0.0);
}

constexpr std::array<StandIn, 22> kStandIns{{
    {"all zeros", "nothing was computed"},
    {"mean of all V", "every key counts the same, also a masked one"},
    {"uniform weights", "every visible key counts the same"},
    {"V of the last key", "the last visible key alone"},
    {"last key dropped", "a mask or a loop that ends one key too early"},
    {"one key too many", "a mask or a loop that ends one key too late"},
    {"softcap forgotten", "the score is not capped"},
    {"additions forgotten", "bias, ALiBi and additive mask add nothing"},
    {"sink forgotten", "the weights of the keys sum to 1"},
    {"V of the key of largest score", "the key of largest score alone"},
    {"alignment +1", "the causal diagonal lies one key too far"},
    {"alignment -1", "the causal diagonal lies one key too near"},
    {"window +1", "every limit of the window is one key too wide"},
    {"window -1", "every limit of the window is one key too narrow"},
    {"wrong head map", "query head h reads key/value head h mod heads_kv"},
    {"scale + 1/64", "the scale is larger by a factor of 1 + 1/64"},
    {"scale - 1/64", "the scale is smaller by a factor of 1 - 1/64"},
    {"tile skipped", "the last tile that has a visible key is left out"},
    {"rescale forgotten", "the first rise of the maximum does not rescale the numerator"},
    {"P in a lower type", "weights are rounded to f32 (of f64), bf16 (of f32) or e4m3"},
    {"one row zeroed", "one row in the middle of the last head is zeros"},
    {"two rows swapped", "the first two rows have what belongs to the other"},
}};

/// In the same order.
constexpr std::array<MadeOf, kStandIns.size()> kOutputs{zeros,
                                                        mean_of_all,
                                                        of_facts<uniform>,
                                                        of_facts<last_value>,
                                                        of_facts<without_last_key>,
                                                        one_key_more,
                                                        without_softcap,
                                                        without_additions,
                                                        of_facts<without_sink>,
                                                        value_of_largest,
                                                        alignment_plus_one,
                                                        alignment_minus_one,
                                                        window_plus_one,
                                                        window_minus_one,
                                                        wrong_head_map,
                                                        scale_too_large,
                                                        scale_too_small,
                                                        tile_skipped,
                                                        rescale_forgotten,
                                                        weights_in_lower_type,
                                                        one_row_zeroed,
                                                        two_rows_swapped};

}  // namespace

std::span<const StandIn> stand_ins() {
  return kStandIns;
}

std::optional<Output> stand_in_output(std::size_t which, const Case& of, const RowIndex& row,
                                      const RowFacts& facts) {
  return kOutputs[which](of, row, facts);
}

std::vector<std::optional<Output>> stand_in_outputs(const Case& of, const RowIndex& row,
                                                    const RowFacts& facts) {
  std::vector<std::optional<Output>> outputs;
  for (std::size_t which = 0; which < kStandIns.size(); ++which)
    outputs.push_back(stand_in_output(which, of, row, facts));
  return outputs;
}

ScoreParts score_parts(const Case& of, const RowIndex& row, const RowFacts& facts) {
  const StandInReader reader(of, row);
  ScoreParts parts;
  for (std::size_t j = 0; j < static_cast<std::size_t>(facts.visible_keys()); ++j) {
    parts.product.push_back(reader.product(facts.keys[j]));
    parts.before.push_back(sum_of(facts.addends, j, true));
  }
  return parts;
}

std::vector<double> output_with_scale_times(const ScoreParts& parts, const RowFacts& facts,
                                            double factor) {
  // Only the difference is computed: the right score is known to the last bit.
  return with_scores(facts, true, [&](std::size_t j) {
    const double product = parts.product[j];
    if (facts.softcap == 0) return facts.score[j] + (factor - 1) * product;
    return facts.score[j] + capped(factor * product + parts.before[j], facts.softcap) -
           capped(product + parts.before[j], facts.softcap);
  });
}

std::vector<double> output_with_scores_times(const RowFacts& facts, double factor) {
  // Relative to the largest product, which is at the other end for a negative factor.
  double largest = factor * facts.score.front();
  for (const double score : facts.score) largest = std::max(largest, factor * score);
  return weighted(facts,
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
