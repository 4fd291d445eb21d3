// Rows and declarations that earlier forms of the bounds got wrong: each a kernel that does what it
// declares, with what it may return.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "test_error_bound.hpp"

namespace attest {
namespace {

DeclaredAccuracy f32() {
  DeclaredAccuracy accuracy;
  accuracy.exp_relative_error = 0x1p-23;
  accuracy.exp_absolute_error = 0x1p-149;
  accuracy.log_relative_error = 0x1p-23;
  return accuracy;
}

double output_bound(const DeclaredAccuracy& accuracy, const RowFacts& facts) {
  const RowBound bound = error_bound(accuracy, facts, Tiling{}, facts.visible_keys());
  EXPECT_TRUE(bound.proven()) << bound.unproven;
  return bound.output[0];
}

TEST(BoundWitness, AFlushedCastLosesTheSmallestNormalNumberOfItsFormat) {
  DeclaredAccuracy accuracy = f32();
  accuracy.underflow = Underflow::flush_results;
  accuracy.exp_absolute_error = 0x1p-126;
  const RowFacts facts = facts_of(row_of_scores({0, -9.75}, {0, 1}));
  DeclaredAccuracy narrow = accuracy;
  narrow.weight_cast = WeightCast{kF16, 0, false};
  // The weight 5.8e-5 lies below the normal range of f16: the kernel returns 0.
  EXPECT_GE(output_bound(narrow, facts), facts.output[0].high);
  EXPECT_LT(output_bound(accuracy, facts), facts.output[0].high);
}

TEST(BoundWitness, AFlushedOutputLosesTheSmallestNormalNumberOfItsFormat) {
  DeclaredAccuracy accuracy = f32();
  accuracy.underflow = Underflow::flush_results;
  accuracy.output_format = kF16;
  const RowFacts facts = facts_of(row_of_scores({0}, {0x1p-20}));
  EXPECT_GE(output_bound(accuracy, facts), 0x1p-20);
}

TEST(BoundWitness, ARescaleFactorThatIsReadAsZeroLosesWeightsAboveOne) {
  DeclaredAccuracy accuracy = f32();
  accuracy.underflow = Underflow::flush_results_and_inputs;
  accuracy.lag_log2 = 8;
  accuracy.scope = SummaryScope::split;
  Tiling tiling;
  tiling.tile_kv = 1;
  const RowFacts facts = facts_of(row_of_scores({0, 5.5L, 88}, {0, 0x1p100, 0}));
  const RowBound bound = error_bound(accuracy, facts, tiling, 3);
  ASSERT_TRUE(bound.proven());
  EXPECT_GE(bound.output[0], facts.output[0].high);
}

TEST(BoundWitness, TermsThatAreMovedToAGridMoveBothSums) {
  // Two weights of 1 and two values of 1: each term moves by 2 * 2^-20, down above and up below.
  DeclaredAccuracy accuracy = f32();
  const RowFacts facts = facts_of(row_of_scores({0, 0}, {1, 1}));
  const double error = 1 - (2 - 0x1p-18) / (2 + 0x1p-18);
  EXPECT_LT(output_bound(accuracy, facts), error);
  accuracy.grid_bits = 20;
  EXPECT_GE(output_bound(accuracy, facts), error);
  EXPECT_LT(output_bound(accuracy, facts), 1.25 * error);
  accuracy.grid_bits = 3;
  EXPECT_FALSE(error_bound(accuracy, facts, Tiling{}, 2).proven());
}

TEST(BoundWitness, AKernelWithATilingOfItsOwnIsJudgedByThat) {
  DeclaredAccuracy accuracy = f32();
  accuracy.scope = SummaryScope::split;
  Tiling tiling;
  tiling.tile_kv = 4;
  const RowFacts facts = facts_of(row_of_scores({0, 1, 2, 3}, {1, 1, 1, 1}));
  const auto lse_bound = [&] { return error_bound(accuracy, facts, tiling, 4).lse; };
  const double given = lse_bound();
  accuracy.own_tiling = tiling;
  EXPECT_EQ(lse_bound(), given);
  accuracy.own_tiling->tile_kv = 1;
  EXPECT_GT(lse_bound(), given);
}

TEST(BoundWitness, EveryAdditionToAScoreMayRound) {
  // The score is 0 + 2^24 + 1 - 2^24 = 1; the kernel's is 0, as 2^24 + 1 is a tie.
  RowFacts facts = facts_of(row_of_scores({1}, {1}));
  facts.score_magnitude = {0};
  const auto lse_bound = [&] {
    return error_bound(f32(), facts, Tiling{}, facts.visible_keys()).lse;
  };
  facts.addends = {{{0x1p24}, false, false}, {{1}, false, false}, {{-0x1p24}, false, false}};
  EXPECT_GE(lse_bound(), 1);
  facts.softcap = 0x1p30;  // nearly no softcap, which all addends precede
  for (ScoreAddend& addend : facts.addends) addend.before_softcap = true;
  EXPECT_GE(lse_bound(), 1);
  facts.addends = {{{1}, false, false}};
  facts.softcap = 0;
  EXPECT_LT(lse_bound(), 0x1p-20);
}

TEST(BoundWitness, ValuesThatAreReadAsZeroAreMissingInTheSummary) {
  DeclaredAccuracy accuracy = f32();
  accuracy.underflow = Underflow::flush_results_and_inputs;
  accuracy.lag_log2 = 8;
  accuracy.scope = SummaryScope::split;
  Tiling tiling;
  tiling.tile_kv = 1;
  const double value = 0.97 * 0x1p-126;
  const RowFacts facts = facts_of(row_of_scores({0, 5.5L}, {0, value}));
  // The maximum stays 0: row_sum is 1 + e^5.5, the exact numerator e^5.5 times the value.
  const SummaryBound bound = summary_bound(accuracy, facts, tiling, 2, 1 + std::exp(5.5));
  ASSERT_TRUE(bound.proven());
  EXPECT_GE(bound.numerator[0], std::exp(5.5) * value);
}

TEST(BoundWitness, AScaledQueryUnderflowsBeforeItMeetsALargeKey) {
  DeclaredAccuracy accuracy = f32();
  accuracy.dot_roundings = 1;
  accuracy.scaled_query_error = 0x1p-24;
  ExactRow row = row_of_scores({48 * 0x1p-149L * 0x1p-5L * 0x1p127L, 0}, {1, 0});
  RowFacts facts = facts_of(row);
  facts.scale = 0x1p-5;
  facts.input_magnitude_max = 0x1p127;
  // fl(48 2^-149 2^-5) is 2^-149 and not 1.5 2^-149.
  EXPECT_GE(score_error_bound(accuracy, facts, 0), 0.5 * 0x1p-149 * 0x1p127);
}

TEST(BoundWitness, TheSinkIsAboveTheUnitThatHoldsItEvenIfTheRowRisesAboveTheSink) {
  DeclaredAccuracy accuracy = f32();
  accuracy.scope = SummaryScope::split;
  Tiling tiling;
  tiling.splits.cuts = {1, 2};
  const std::vector<ScoredKey> keys{{0, 0, 0}, {1, 2, 0}, {2, 10, 0}, {RowFacts::kSinkKey, 3, 0}};
  const std::vector<PathCounts> paths = count_paths(accuracy, tiling, 3, keys);
  // Split 1 (maximum 2) meets the sink (3) with split 0, and then split 2 (10).
  EXPECT_EQ(paths[1].rescales, 2);
  EXPECT_EQ(paths[2].rescales, 0);
}

TEST(BoundWitness, WhatHasNoBoundIsUnproven) {
  const RowFacts facts = facts_of(row_of_scores({0, 1}, {1, 2}));
  const auto expect = [&](const std::string& reason, auto&& declare) {
    DeclaredAccuracy accuracy = f32();
    RowFacts changed = facts;
    declare(accuracy, changed);
    expect_unproven(error_bound(accuracy, changed, Tiling{}, 2), reason, 1);
  };
  expect("weights with a negative offset have no bound", [](DeclaredAccuracy& accuracy, RowFacts&) {
    accuracy.weight_cast = WeightCast{kBf16, -70, false};
  });
  expect("the folded scale may be subnormal", [](DeclaredAccuracy& accuracy, RowFacts& row) {
    accuracy.exp_form = ExpForm::folded_base_two;
    row.scale = 0x1p-127;
  });
  expect("the folded scale may overflow", [](DeclaredAccuracy& accuracy, RowFacts& row) {
    accuracy.exp_form = ExpForm::folded_base_two;
    row.scale = 0x1.8p127;
  });
  const std::string folded_terms = "a softcap or a bias in the base-two form has no bound";
  expect(folded_terms, [](DeclaredAccuracy& accuracy, RowFacts& row) {
    accuracy.exp_form = ExpForm::folded_base_two;
    row.softcap = 30;
  });
  expect(folded_terms, [](DeclaredAccuracy& accuracy, RowFacts& row) {
    accuracy.exp_form = ExpForm::folded_base_two;
    row.addends = {{{0, 1}, false, false}};
  });
  expect("the scale or the softcap may be flushed to zero",
         [](DeclaredAccuracy& accuracy, RowFacts& row) {
           accuracy.underflow = Underflow::flush_results_and_inputs;
           row.scale = 0x1p-127;
         });
  expect("the numerator may overflow (assumption A6)",
         [](DeclaredAccuracy& accuracy, RowFacts&) { accuracy.lag_log2 = 126; });
}

TEST(BoundWitness, AMaskWithoutNumbersIsNoBiasInTheBaseTwoForm) {
  RowFacts facts = facts_of(row_of_scores({0, 1}, {1, 2}));
  DeclaredAccuracy accuracy = f32();
  accuracy.exp_form = ExpForm::folded_base_two;
  facts.addends = {{{0, 0}, false, false}};
  EXPECT_TRUE(error_bound(accuracy, facts, Tiling{}, 2).proven());
}

TEST(BoundWitness, ASubnormalSinkIsReadAsZero) {
  RowFacts facts = facts_of(row_of_scores({0x1p-127, 0x1p-127}, {1, 0}));
  facts.keys.back() = RowFacts::kSinkKey;
  DeclaredAccuracy accuracy = f32();
  EXPECT_EQ(score_error_bound(accuracy, facts, 1), 0);
  accuracy.underflow = Underflow::flush_results_and_inputs;
  EXPECT_GE(score_error_bound(accuracy, facts, 1), 0x1p-127);
  // A normal one is read as it is.
  facts.score.back() = 0x1p-126;
  facts.score_radius.back() = 0;
  EXPECT_EQ(score_error_bound(accuracy, facts, 1), 0);
}

TEST(BoundWitness, AMergeThatIsRoundedToANarrowFormatMayOverflowIt) {
  DeclaredAccuracy accuracy = f32();
  accuracy.output_format = kF16;
  const RowFacts left = facts_of(row_of_scores({0}, {65519.99}));
  const RowFacts whole = facts_of(row_of_scores({0, 0}, {65519.99, 65519.99}));
  const RowBound part = error_bound(f32(), left, Tiling{}, 1);
  const std::array<NormalisedPart, 2> parts{NormalisedPart{&left, &part},
                                            NormalisedPart{&left, &part}};
  expect_unproven(normalised_merge_bound(accuracy, whole, parts),
                  "an output may overflow its format (assumption A6)", 1);
}

}  // namespace
}  // namespace attest
