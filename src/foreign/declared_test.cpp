// What silence means: never less than what a kernel of the usual kind can state.
#include "foreign/declared.hpp"

#include <gtest/gtest.h>

namespace attest::foreign {
namespace {

attest_accuracy nothing() {
  attest_accuracy accuracy{};
  accuracy.size = sizeof accuracy;
  return accuracy;
}

attest_accuracy careful() {
  attest_accuracy accuracy = nothing();
  accuracy.rounding = ATTEST_ROUNDING_NEAREST;
  accuracy.weights = ATTEST_F64;
  accuracy.underflow = ATTEST_UNDERFLOW_GRADUAL;
  accuracy.exp_form = ATTEST_EXP_NATURAL;
  accuracy.scope = ATTEST_SCOPE_SPLIT;
  accuracy.ordered_sums = ATTEST_SUMS_ORDERED;
  accuracy.exp_ulp = 1;
  accuracy.division_ulp = 0.5;
  return accuracy;
}

Problem of(Dtype dtype) {
  Problem problem;
  problem.dtype = dtype;
  problem.head_dim = 64;
  return problem;
}

TEST(DeclaredAccuracy, OfNothingIsThatOfAnOrdinaryKernel) {
  const DeclaredAccuracy bf16 = declared_accuracy(nothing(), of(Dtype::bf16), false);
  EXPECT_EQ(bf16.format.unit_roundoff, 2 * kF32.unit_roundoff);
  EXPECT_EQ(bf16.underflow, Underflow::flush_results_and_inputs);
  EXPECT_EQ(bf16.dot_roundings, 67);
  EXPECT_EQ(bf16.exp_form, ExpForm::folded_base_two);
  EXPECT_EQ(bf16.exp_relative_error, 8 * kF32.unit_roundoff);
  EXPECT_EQ(bf16.exp_absolute_error, kF32.min_normal);
  ASSERT_TRUE(bf16.weight_cast.has_value());
  EXPECT_EQ(bf16.weight_cast->format, kBf16);
  EXPECT_EQ(bf16.output_format, kBf16);
  EXPECT_EQ(bf16.scope, SummaryScope::any);
  EXPECT_FALSE(bf16.ordered_sums);

  const DeclaredAccuracy f64 = declared_accuracy(nothing(), of(Dtype::f64), false);
  EXPECT_EQ(f64.format.unit_roundoff, 2 * kF64.unit_roundoff);
  EXPECT_FALSE(f64.weight_cast.has_value());
}

TEST(DeclaredAccuracy, FoldedFormIsNotAssumedWhereItHasNoBound) {
  Problem capped = of(Dtype::f32);
  capped.softcap = 20;
  EXPECT_EQ(declared_accuracy(nothing(), capped, false).exp_form, ExpForm::natural);
  EXPECT_EQ(declared_accuracy(nothing(), capped, false).tanh_relative_error, 0x1p-10);
}

TEST(DeclaredAccuracy, IsWhatWasStated) {
  const DeclaredAccuracy accuracy = declared_accuracy(careful(), of(Dtype::f32), true);
  EXPECT_EQ(accuracy.format, kF32);
  EXPECT_EQ(accuracy.underflow, Underflow::gradual);
  EXPECT_EQ(accuracy.exp_form, ExpForm::natural);
  EXPECT_EQ(accuracy.exp_relative_error, 2 * kF32.unit_roundoff);
  EXPECT_EQ(accuracy.reciprocal_relative_error, kF32.unit_roundoff);
  EXPECT_FALSE(accuracy.weight_cast.has_value());
  EXPECT_EQ(accuracy.scope, SummaryScope::split);
  EXPECT_TRUE(accuracy.ordered_sums);
  EXPECT_FALSE(accuracy.own_tiling.has_value());
}

TEST(DeclaredAccuracy, ATilingOfItsOwnIsOneSplitOfItsTiles) {
  attest_accuracy stated = careful();
  stated.own_tile_kv = 64;
  const DeclaredAccuracy own = declared_accuracy(stated, of(Dtype::f32), false);
  ASSERT_TRUE(own.own_tiling.has_value());
  EXPECT_EQ(own.own_tiling->tile_kv, 64);
  EXPECT_EQ(own.own_tiling->splits.count, 1);
  EXPECT_EQ(declared_accuracy(stated, of(Dtype::f32), true).longest_tile, 64);
  stated.own_tile_kv = 0;
  EXPECT_EQ(declared_accuracy(stated, of(Dtype::f32), false).own_tiling->tile_kv, 1);
  stated.scope = ATTEST_SCOPE_TILE;
  EXPECT_EQ(declared_accuracy(stated, of(Dtype::f32), false).scope, SummaryScope::any);
}

TEST(DeclaredAccuracy, SumsWiderThanTheResultsAreRoundedToThem) {
  attest_accuracy stated = careful();
  stated.accumulators = ATTEST_F64;
  const DeclaredAccuracy accuracy = declared_accuracy(stated, of(Dtype::f32), false);
  EXPECT_EQ(accuracy.format, kF32);
  EXPECT_EQ(accuracy.dot_format, kF64);
  stated.accumulators = ATTEST_BF16;
  EXPECT_EQ(declared_accuracy(stated, of(Dtype::f32), false).format, kBf16);
}

TEST(DeclaredGradientAccuracy, OfNothingRoundsWeightsToTheTypeOfQ) {
  const DeclaredGradientAccuracy bf16 = declared_gradient_accuracy(nothing(), of(Dtype::bf16));
  EXPECT_EQ(bf16.weight_cast, kBf16);
  EXPECT_EQ(bf16.gradient_cast, kBf16);
  EXPECT_FALSE(bf16.key_additions.has_value());
  attest_accuracy stated = careful();
  stated.gradient_weights = stated.score_gradients = ATTEST_F32;
  EXPECT_FALSE(declared_gradient_accuracy(stated, of(Dtype::bf16)).weight_cast.has_value());
}

}  // namespace
}  // namespace attest::foreign
