// The error bounds of rows that were made to be hard or easy.
#include <gtest/gtest.h>

#include <cmath>

#include "test_row_kernels.hpp"

namespace attest {
namespace {

TEST(ErrorBound, HoldsWhereScoreErrorsTakeAwayMostOfTheRowSum) {
  // Scores differ by 2^-22 exactly and by 4 as computed; every value is 27 subnormals.
  const std::size_t keys = 1000;
  Inputs<float> inputs;
  inputs.q = {1, 1, 1};
  for (std::size_t j = 0; j < keys; ++j) {
    const float last = j == 0 ? 1 + 0x1p-23F : 1.0F;
    inputs.k.insert(inputs.k.end(), {0x1p24F, last, last});
  }
  inputs.v.assign(keys, 27 * 0x1p-149F);
  DeclaredAccuracy accuracy = declared(inputs, SummaryScope::row);
  accuracy.dot_roundings = 3;  // a scale of 1 rounds nothing
  ExactRow exact = exact_row(inputs);
  exact.score_error = 0;  // 47 bits hold every partial sum
  const RowFacts facts = facts_of(exact);
  const RowBound bound = error_bound(accuracy, facts, Tiling{}, static_cast<Index>(keys));
  const RowSummary<float> summary = summarise(inputs, SummaryScope::row, Tiling{});
  ASSERT_TRUE(bound.proven()) << bound.unproven;
  expect_within(bound, facts, normalise(summary));
  // The row is as nasty as it should be: one Delta alone would not bound row_sum from below.
  const double delta =
      score_error_bound(accuracy, facts.scale, facts.head_dim, facts.score_magnitude[0]);
  EXPECT_LT(std::log(static_cast<double>(summary.row_sum)), facts.log_sum - delta);
}

TEST(ErrorBound, OfSubnormalF64ValuesDoesNotUnderflowItself) {
  // Half of the values are the smallest normal and 127 subnormals, half minus the smallest normal.
  const std::size_t keys = 1000;
  Inputs<double> inputs;
  inputs.q = {0};
  inputs.k.assign(keys, 0);
  for (std::size_t j = 0; j < keys; ++j)
    inputs.v.push_back(j < keys / 2 ? 0x1p-1022 + 127 * kSmallest : -0x1p-1022);
  RowFacts facts = facts_of(exact_row(inputs));
  facts.output[0] = {64 * kSmallest, 0, kSmallest};  // 63.5 subnormals, which no double holds
  const RowBound bound =
      error_bound(declared(inputs, SummaryScope::row), facts, Tiling{}, static_cast<Index>(keys));
  ASSERT_TRUE(bound.proven()) << bound.unproven;
  const NormalisedRow<double> row = textbook(inputs);
  EXPECT_GT(facts.output[0].distance_lower(row.output[0]), 0);  // the kernel does err
  expect_within(bound, facts, row);
}

TEST(ErrorBound, OfScoresThatLieFarApartIsFiniteOrUnproven) {
  for (int exponent = 0; exponent < 126; ++exponent) {
    Inputs<float> inputs;
    inputs.q = {1};
    inputs.k = {0, -std::ldexp(1.0F, exponent)};
    inputs.v = {1, 2};
    const RowFacts facts = facts_of(exact_row(inputs));
    const RowBound bound = error_bound(declared(inputs, SummaryScope::row), facts, Tiling{}, 2);
    if (!bound.proven()) {
      expect_unproven(bound, bound.unproven, 1);
      continue;
    }
    EXPECT_TRUE(std::isfinite(bound.output[0])) << exponent;
    EXPECT_TRUE(std::isfinite(bound.lse)) << exponent;
    expect_within(bound, facts, textbook(inputs));
  }
}

TEST(ErrorBound, RefusesAKernelThatForgetsToRescale) {
  const RowFacts facts = facts_of(row_of_scores({0, 3}, {1, -1}));
  DeclaredAccuracy accuracy;
  accuracy.scope = SummaryScope::tile;
  Tiling tiling;
  tiling.tile_kv = 1;
  const RowBound bound = error_bound(accuracy, facts, tiling, 2);
  ASSERT_TRUE(bound.proven());
  EXPECT_GT(facts.output[0].distance_lower((1.0 - 1.0) / 2), bound.output[0]);
  EXPECT_GT(facts.lse.distance_lower(3 + std::log(2.0)), bound.lse);
}

TEST(ErrorBound, OfValuesThatAreZeroIsUnderflowOnly) {
  DeclaredAccuracy accuracy;
  accuracy.dot_roundings = 8;
  accuracy.exp_relative_error = 2 * accuracy.format.unit_roundoff;
  accuracy.exp_absolute_error = 2 * accuracy.format.rounding_underflow;
  for (const Wide spread : {0.0L, 1.0L, 100.0L, 1000.0L}) {
    const RowFacts facts = facts_of(row_of_scores({0, spread, -spread}, {0, 0, 0}));
    const RowBound bound = error_bound(accuracy, facts, Tiling{}, 3);
    ASSERT_TRUE(bound.proven());
    EXPECT_GT(bound.output[0], 0);
    EXPECT_LT(bound.output[0], accuracy.format.min_normal);
  }
}

TEST(ErrorBound, OfEqualValuesDoesNotContainTheErrorOfTheScores) {
  // Scores of zero by cancellation: every probability is uncertain by a factor exp(delta).
  ExactRow row = row_of_scores({0, 0, 0, 0}, {1, 1, 1, -1, 1, 1, 1, -1});
  row.magnitudes.assign(4, 0x1p16L);
  const RowFacts facts = facts_of(row);
  DeclaredAccuracy accuracy;
  accuracy.dot_roundings = 16;
  const double delta = score_error_bound(accuracy, 1, 1, facts.score_magnitude[0]);
  const RowBound bound = error_bound(accuracy, facts, Tiling{}, 4);
  ASSERT_TRUE(bound.proven());
  EXPECT_LT(bound.output[0], delta);              // 1 1 1 1
  EXPECT_GT(bound.output[1], std::expm1(delta));  // 1 -1 1 -1
}

TEST(ErrorBound, OfOneKeyContainsTheErrorOfTheScoreInTheLseOnly) {
  ExactRow row = row_of_scores({1}, {3, -5});
  row.magnitudes = {0x1p16L};
  const RowFacts facts = facts_of(row);
  DeclaredAccuracy accuracy;
  accuracy.dot_roundings = 16;
  const double delta = score_error_bound(accuracy, 1, 1, facts.score_magnitude[0]);
  const RowBound bound = error_bound(accuracy, facts, Tiling{}, 1);
  ASSERT_TRUE(bound.proven());
  for (std::size_t c = 0; c < 2; ++c) {
    const double size = std::abs(facts.value[c]);
    EXPECT_GE(bound.output[c], accuracy.format.unit_roundoff * size);  // the division may round
    EXPECT_LT(bound.output[c], delta * size);
  }
  EXPECT_GE(bound.lse, delta);
}

TEST(ErrorBound, OfOneKeyAcceptsTheValueItself) {
  Inputs<float> inputs;
  inputs.q = {0.3F, -0.7F};
  inputs.k = {1.1F, 0.9F};
  inputs.v = {0.1F};
  const RowFacts facts = facts_of(exact_row(inputs));
  const RowBound bound = error_bound(declared(inputs, SummaryScope::row), facts, Tiling{}, 1);
  ASSERT_TRUE(bound.proven());
  const NormalisedRow<float> row = textbook(inputs);
  EXPECT_EQ(row.output[0], 0.1F);
  expect_within(bound, facts, row);
}

}  // namespace
}  // namespace attest
