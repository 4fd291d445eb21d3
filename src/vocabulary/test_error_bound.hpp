// Rows whose exact results are known, for the tests of the error bounds.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "attest/error_bound.hpp"

namespace attest {

using Wide = long double;
inline constexpr Wide kWideUlp = std::numeric_limits<Wide>::epsilon();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kSmallest = std::numeric_limits<double>::denorm_min();

/// A row whose scores are known to within `score_error`; keys are 0, 1, 2 ...
struct ExactRow {
  std::vector<Wide> scores;
  std::vector<Wide> magnitudes;  ///< of the scores
  Wide score_error = 0;
  std::vector<double> values;  ///< row-major, keys x columns
  std::size_t columns = 1;
  double scale = 1;
  Index head_dim = 1;
  Wide dot_magnitude_max = 0;
};

inline double rounded_up(Wide value) {
  const auto nearest = static_cast<double>(value);
  return Wide{nearest} < value ? std::nextafter(nearest, kInfinity) : nearest;
}

inline Enclosure enclosure_of(Wide value, Wide radius) {
  const auto high = static_cast<double>(value);
  const auto low = static_cast<double>(value - high);
  return {high, low, rounded_up(radius + std::abs(value - high - low))};
}

inline bool all_equal(const ExactRow& row, std::size_t column) {
  for (std::size_t at = column; at < row.values.size(); at += row.columns)
    if (row.values[at] != row.values[column]) return false;
  return true;
}

/// Every rounding of the wide type is counted: n terms a sum, and the exponentials of scores that
/// are off by score_error.
inline RowFacts facts_of(const ExactRow& row) {
  const std::size_t n = row.scores.size();
  RowFacts facts;
  facts.scale = row.scale;
  facts.head_dim = row.head_dim;
  facts.dot_magnitude_max = rounded_up(row.dot_magnitude_max);
  const Wide score_max = *std::max_element(row.scores.begin(), row.scores.end());
  std::vector<Wide> probability;
  Wide sum = 0;
  for (const Wide score : row.scores) sum += probability.emplace_back(std::exp(score - score_max));
  for (Wide& weight : probability) weight /= sum;
  Wide spread = 0;
  // Further down the weight is below every double, whatever the error.
  for (const Wide score : row.scores)
    spread = std::max(spread, std::min(score_max - score, Wide{2000}));
  const Wide relative =
      std::expm1(4 * row.score_error) + (spread + static_cast<Wide>(n) + 4) * kWideUlp;
  for (std::size_t j = 0; j < n; ++j) {
    facts.keys.push_back(static_cast<Index>(j));
    facts.score.push_back(static_cast<double>(row.scores[j]));
    facts.score_radius.push_back(
        rounded_up(std::abs(row.scores[j] - facts.score[j]) + row.score_error));
    facts.score_magnitude.push_back(rounded_up(row.magnitudes[j]));
    facts.probability.push_back(std::max(rounded_up(probability[j] * (1 + relative)), kSmallest));
  }
  facts.value = row.values;
  for (std::size_t column = 0; column < row.columns; ++column) {
    Wide output = 0;
    Wide size = 0;
    for (std::size_t j = 0; j < n; ++j) {
      const Wide value = row.values[j * row.columns + column];
      output += probability[j] * value;
      size += probability[j] * std::abs(value);
    }
    facts.output.push_back(all_equal(row, column)
                               ? Enclosure{row.values[column], 0, 0}
                               : enclosure_of(output, size * (2 * relative + kWideUlp)));
  }
  facts.score_max = static_cast<double>(score_max);
  facts.log_sum = static_cast<double>(std::log(sum));
  const Wide lse = score_max + std::log(sum);
  facts.lse = enclosure_of(lse, row.score_error + relative + 2 * kWideUlp * (1 + std::abs(lse)));
  return facts;
}

/// A row of given exact scores, each its own magnitude.
inline ExactRow row_of_scores(const std::vector<Wide>& scores, std::vector<double> values) {
  ExactRow row;
  row.scores = scores;
  for (const Wide score : scores) row.magnitudes.push_back(std::abs(score));
  row.values = std::move(values);
  row.columns = row.values.size() / scores.size();
  row.dot_magnitude_max = *std::max_element(row.magnitudes.begin(), row.magnitudes.end());
  return row;
}

inline RowFacts ordinary_facts() {
  return facts_of(row_of_scores({-2, 0, 0.5, 3, 3, 2.25}, {1, 5, 5, 5, -3, 5, 2, 5, 0, 5, 7, 5}));
}

/// An arithmetic without errors but for those that a test adds.
inline DeclaredAccuracy errorless() {
  DeclaredAccuracy accuracy;
  accuracy.format.unit_roundoff = 0x1p-53;
  accuracy.format.rounding_underflow = kSmallest;
  accuracy.division_roundings = 0;
  return accuracy;
}

inline void expect_unproven(const RowBound& bound, const std::string& reason, std::size_t columns) {
  EXPECT_FALSE(bound.proven());
  EXPECT_EQ(bound.unproven, reason);
  EXPECT_EQ(bound.output, std::vector<double>(columns, kInfinity));
  EXPECT_EQ(bound.lse, kInfinity);
}

}  // namespace attest
