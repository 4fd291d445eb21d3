// The error bounds cover kernels that err the worst way.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "test_error_bound.hpp"

namespace attest {
namespace {

TEST(ErrorBound, CoversOppositeErrorsOfEveryExpOnAPath) {
  DeclaredAccuracy accuracy = errorless();
  accuracy.exp_relative_error = 0x1p-10;
  const RowFacts facts = facts_of(row_of_scores({0, 0}, {1, -1}));
  for (Index rescales = 0; rescales <= 5; ++rescales) {
    const std::vector<PathCounts> paths(2, {1, rescales});
    const RowBound bound = error_bound(accuracy, facts, paths);
    const auto results = static_cast<double>(1 + rescales);  // of exp, on each path
    const double larger = std::pow(1 + accuracy.exp_relative_error, results);
    const double smaller = std::pow(1 - accuracy.exp_relative_error, results);
    EXPECT_GE(bound.output[0], (larger - smaller) / (larger + smaller)) << rescales;
    EXPECT_GE(bound.lse, -std::log(smaller)) << rescales;
  }
}

TEST(ErrorBound, CoversEveryRoundingUpwardsInTheNumeratorAndDownwardsInTheRowSum) {
  DeclaredAccuracy accuracy = errorless();
  const double u = accuracy.format.unit_roundoff = 0x1p-10;
  const double up = 1 + u / (1 + u);
  const double down = 1 / (1 + u);
  for (const Index additions : {1, 4})
    for (const Index rescales : {0, 5})
      for (const Index divisions : {0, 1, 3}) {
        accuracy.division_roundings = divisions;
        const std::vector<PathCounts> paths{{additions, rescales}};
        const RowBound bound = error_bound(accuracy, facts_of(row_of_scores({0}, {1})), paths);
        const double numerator = std::pow(up, additions + rescales + 1);
        const double row_sum = std::pow(down, additions + rescales);
        const double output = numerator / row_sum * std::pow(up, divisions);
        EXPECT_GE(bound.output[0], output - 1) << additions << ", " << rescales;
        EXPECT_GE(bound.lse, -std::log(row_sum)) << additions << ", " << rescales;
      }
}

TEST(ErrorBound, CoversTheRoundingOfALargeArgumentOfExp) {
  DeclaredAccuracy accuracy = errorless();
  const double u = accuracy.format.unit_roundoff = 0x1p-10;
  const RowFacts facts = facts_of(row_of_scores({0, -30}, {0, 1}));
  const RowBound bound = error_bound(accuracy, facts, std::vector<PathCounts>(2, {1, 0}));
  const double weight = std::exp(-30 + 30 * u / (1 + u));
  EXPECT_GE(bound.output[0], facts.output[0].distance_lower(weight / (1 + weight)));
}

TEST(ErrorBound, CoversOppositeErrorsOfTheScores) {
  DeclaredAccuracy accuracy = errorless();
  accuracy.format.unit_roundoff = 0x1p-10;
  accuracy.dot_roundings = 8;
  ExactRow row = row_of_scores({0, 0}, {1, -1});
  row.magnitudes = {4, 4};
  const RowFacts facts = facts_of(row);
  const RowBound bound = error_bound(accuracy, facts, std::vector<PathCounts>(2, {1, 0}));
  const double delta = score_error_bound(accuracy, 1, 1, facts.score_magnitude[0]);
  EXPECT_GE(bound.output[0], std::tanh(delta));
  EXPECT_GE(bound.lse, delta);
}

TEST(ErrorBound, CoversTheUnderflowOfEveryExp) {
  DeclaredAccuracy accuracy = errorless();
  accuracy.exp_absolute_error = 0x1p-10;
  const RowFacts facts = facts_of(row_of_scores({0, -1000}, {0, 1}));
  for (Index rescales = 0; rescales <= 5; ++rescales) {
    const std::vector<PathCounts> paths{{1, 0}, {1, rescales}};
    const RowBound bound = error_bound(accuracy, facts, paths);
    const double weight = static_cast<double>(1 + rescales) * accuracy.exp_absolute_error;
    EXPECT_GE(bound.output[0], weight / (1 + weight)) << rescales;
    EXPECT_GE(bound.lse, std::log1p(weight)) << rescales;
  }
}

TEST(ErrorBound, CoversTheUnderflowOfEveryProductAndTheDivision) {
  DeclaredAccuracy accuracy = errorless();
  accuracy.format.rounding_underflow = 0x1p-10;
  const RowFacts facts = facts_of(row_of_scores({0}, {0}));
  for (Index rescales = 0; rescales <= 5; ++rescales) {
    const RowBound bound = error_bound(accuracy, facts, std::vector<PathCounts>{{1, rescales}});
    const auto operations = static_cast<double>(1 + rescales + 1);
    EXPECT_GE(bound.output[0], operations * accuracy.format.rounding_underflow) << rescales;
  }
}

TEST(ErrorBound, CoversTheErrorOfTheLogarithmAndOfTheAdditionAfterIt) {
  DeclaredAccuracy accuracy = errorless();
  accuracy.log_relative_error = 0x1p-10;
  const double u = accuracy.format.unit_roundoff = 0x1p-12;
  const RowFacts facts = facts_of(row_of_scores({8, 8, 8, 8}, {1, 1, 1, 1}));
  const RowBound bound = error_bound(accuracy, facts, std::vector<PathCounts>(4, {0, 0}));
  const double lse = (8 + std::log(4.0) * (1 + accuracy.log_relative_error)) * (1 + u / (1 + u));
  EXPECT_GE(bound.lse, facts.lse.distance_lower(lse));
}

}  // namespace
}  // namespace attest
