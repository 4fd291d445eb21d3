// What the bounds know of single forms: the base of the exponent, narrow outputs, the order of
// sums, probable errors.
#include <gtest/gtest.h>

#include <vector>

#include "test_bound_variants.hpp"

namespace attest {
namespace {

/// Base two loses the invariance under a common shift of the scores: max * log2 e is rounded.
TEST(BoundOfFoldedBaseTwo, GrowsWithACommonShiftOfExactScores) {
  VariantRow row;
  row.inputs = {1, {1}, {4096, 4097, 4098, 4100}, {1, -1, 1, -1}, 1};
  DeclaredAccuracy accuracy = declared(row.inputs, SummaryScope::split);
  accuracy.dot_roundings = 0;
  accuracy.exp_form = ExpForm::folded_base_two;
  Tiling tiling;
  tiling.tile_kv = 1;
  const RowFacts facts = facts_of(row);
  const NormalisedRow<float> got = VariantKernel(row, accuracy, tiling.tile_kv).run();
  EXPECT_LE(worst_ratio(error_bound(accuracy, facts, tiling, 4), facts, got), 1);
  accuracy.exp_form = ExpForm::natural;
  EXPECT_GT(worst_ratio(error_bound(accuracy, facts, tiling, 4), facts, got), 1);
}

/// 65504 is the largest number of f16, and what is below 65520 is rounded to it.
TEST(BoundOfNarrowOutputs, IsProvenUpToTheLargestNumber) {
  VariantRow row;
  row.inputs = {1, {1}, {1, 2}, {65504, 65504}, 1};
  DeclaredAccuracy accuracy = declared(row.inputs, SummaryScope::row);
  accuracy.output_format = kF16;
  EXPECT_TRUE(error_bound(accuracy, facts_of(row), Tiling{}, 2).proven());
  row.inputs.v = {65519.99F, 65519.99F};
  EXPECT_FALSE(error_bound(accuracy, facts_of(row), Tiling{}, 2).proven());
}

TEST(BoundOfNarrowOutputs, IsUnprovenWhereTheFormatOverflows) {
  VariantRow row;
  row.inputs = {1, {1}, {1, 2}, {70000, 70000}, 1};
  DeclaredAccuracy accuracy = declared(row.inputs, SummaryScope::row);
  accuracy.output_format = kF16;
  expect_unproven(error_bound(accuracy, facts_of(row), Tiling{}, 2),
                  "an output may overflow its format (assumption A6)", 1);
}

/// Alternating signs: the partial sums stay small, and tier 2 knows it.
TEST(OrderAwareBound, IsSharperWhereValuesCancel) {
  VariantRow row;
  row.inputs.q = {0};
  row.inputs.k.assign(256, 1);
  for (int j = 0; j < 256; ++j) row.inputs.v.push_back(j % 2 == 0 ? 1.0F : -1.0F);
  DeclaredAccuracy accuracy = declared(row.inputs, SummaryScope::split);
  Tiling tiling;
  tiling.tile_kv = 16;
  const RowFacts facts = facts_of(row);
  const double tier_1 =
      error_bound(accuracy, facts, tiling, 256, BoundTier::component_wise).output[0];
  const double tier_2 = error_bound(accuracy, facts, tiling, 256, BoundTier::order_aware).output[0];
  // p = 1/256, o = 0, and all scores are 0. Tier 1 charges the addend of key j, counted from the
  // end, with j roundings: 128.5 u in the mean. Tier 2 charges every addition with the partial sum,
  // which is 0 or p: 128 times. Both have the product, and exp once and for every later tile: a
  // score may underflow, so that each of the 16 may raise the maximum, 7.5 in the mean. The factor
  // is for what is of second order.
  const double u = accuracy.format.unit_roundoff;
  EXPECT_GE(tier_1, 128.5 * u);
  EXPECT_LE(tier_2, 2 * (1.5 * u + 8.5 * accuracy.exp_relative_error));
  EXPECT_GT(tier_2, 0.5 * u);
}

TEST(ProbableError, LiesBetweenTypicalErrorsAndTheBoundOfLongRows) {
  SplitMix64 random(43);
  VariantRow row;
  row.inputs.q = {1, -0.5F};
  for (int j = 0; j < 4000; ++j) {
    for (int c = 0; c < 2; ++c) row.inputs.k.push_back(static_cast<float>(random_unit(random)));
    row.inputs.v.push_back(static_cast<float>(random_unit(random)));
  }
  DeclaredAccuracy accuracy = declared(row.inputs, SummaryScope::split);
  Tiling tiling;
  tiling.tile_kv = 64;
  const RowFacts facts = facts_of(row);
  const double limit = error_bound(accuracy, facts, tiling, 4000).output[0];
  const double probable = probable_error(accuracy, facts, tiling, 4000)[0];
  const NormalisedRow<float> got = VariantKernel(row, accuracy, tiling.tile_kv).run();
  EXPECT_LT(probable, limit);
  EXPECT_LT(facts.output[0].distance_upper(static_cast<double>(got.output[0])), probable);
}

}  // namespace
}  // namespace attest
