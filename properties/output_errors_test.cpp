#include "properties/output_errors.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "kernels/registry.hpp"
#include "mutants/mutants.hpp"
#include "properties/judge.hpp"
#include "properties/laws.hpp"

namespace attest::properties {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::int64_t in_histogram(const ErrorStatistics& of) {
  return std::accumulate(of.histogram.begin(), of.histogram.end(), std::int64_t{0});
}

Case made(const std::string& line) {
  ProblemText text;
  TextError error;
  EXPECT_TRUE(parse_problem_text(line, text, error)) << error.message;
  return make_case(text, nullptr).value();
}

/// Of one number.
ErrorStatistics of_one(Dtype dtype, const Enclosure& exact, double got) {
  return row_errors(std::vector{exact}, std::vector{got}, dtype).elements;
}

TEST(RowErrors, CountInUlpOfTheDtypeAtTheExactValue) {
  // bf16 has 8 bits: the ulp of [1, 2) is 2^-7.
  EXPECT_EQ(of_one(Dtype::bf16, {1, 0, 0}, 1 + 0x1p-7).sum, 1);
  EXPECT_EQ(of_one(Dtype::bf16, {2, 0, 0}, 2 - 0x1p-7).sum, -0.5);
  EXPECT_EQ(of_one(Dtype::f32, {1, 0, 0}, 1 + 0x1p-22).sum, 2);
  EXPECT_EQ(of_one(Dtype::f64, {1, 0x1p-60, 0}, 1).sum, -0x1p-8);
  const ErrorStatistics subnormal = of_one(Dtype::f16, {0x1p-24, 0, 0}, 0x3p-24);
  EXPECT_EQ(subnormal.sum, 2);
  EXPECT_EQ(subnormal.subnormal, 1);
}

TEST(RowErrors, KnowTheCorrectlyRoundedNumber) {
  const auto is_rounded = [](const Enclosure& exact, double got) {
    return of_one(Dtype::bf16, exact, got).histogram[0] == 1;
  };
  const double tie = 1 + 0x1p-8;
  EXPECT_TRUE(is_rounded({tie, 0, 0}, 1));  // to even
  EXPECT_FALSE(is_rounded({tie, 0, 0}, 1 + 0x1p-7));
  // A part that no double holds decides: rounding to double first would forget it.
  EXPECT_TRUE(is_rounded({tie, 0x1p-70, 0}, 1 + 0x1p-7));
  EXPECT_FALSE(is_rounded({tie, 0x1p-70, 0}, 1));
  EXPECT_TRUE(is_rounded({tie, -0x1p-70, 0}, 1));
  EXPECT_TRUE(is_rounded({1 + 0x3p-8, -0x1p-70, 0}, 1 + 0x1p-7));
  EXPECT_FALSE(is_rounded({1 + 0x3p-8, -0x1p-70, 0}, 1 + 0x2p-7));
  // An enclosure with the tie inside cannot say which.
  EXPECT_TRUE(is_rounded({tie, 0, 0x1p-60}, 1));
  EXPECT_TRUE(is_rounded({tie, 0, 0x1p-60}, 1 + 0x1p-7));
  EXPECT_EQ(of_one(Dtype::bf16, {tie, 0, 0}, 1 + 0x1p-7).histogram[1], 1);
}

TEST(RowErrors, NeverDropANumber) {
  const std::vector<Enclosure> exact{{0, 0, 0}, {0, 0, 0}, {1, 0, 0}, {1, 0, 0}, {1, 0, 0}};
  const std::vector<double> got{0, 0x1p-140, kNan, -std::numeric_limits<double>::infinity(), 1};
  const ErrorStatistics errors = row_errors(exact, got, Dtype::f32).elements;
  EXPECT_EQ(errors.count, 5);
  EXPECT_EQ(errors.missed_zero, 1);
  EXPECT_EQ(errors.not_finite, 2);
  EXPECT_EQ(errors.histogram[0], 2);
  EXPECT_EQ(in_histogram(errors) + errors.missed_zero + errors.not_finite, errors.count);
  EXPECT_EQ(errors.sum, 0);
}

TEST(ErrorCollector, MakesOneSampleOfTheRowsThatShareKeys) {
  const auto row = [](double value, double got) {
    return row_errors(std::vector<Enclosure>{{value, 0, 0}}, std::vector{got}, Dtype::f32);
  };
  ErrorCollector collector;
  collector.add({0, 0}, row(1, 1 + 0x1p-23));    // +1 ulp
  collector.add({0, 0}, row(1, 1 + 0x3p-23));    // +3
  collector.add({0, 1}, row(-1, -1 - 0x1p-22));  // -2, outward
  const ErrorStatistics all = collector.statistics();
  EXPECT_EQ(all.count, 3);
  EXPECT_EQ(all.bias.count, 2);
  EXPECT_EQ(all.bias.sum, 2 - 2);
  EXPECT_EQ(all.outward.sum, 2 + 2);
  EXPECT_EQ(collector.bias().sum, 0x2p-23 - 0x1p-22);
  EXPECT_EQ(collector.sum_squares(), 0x1p-46 + 0x9p-46 + 0x4p-46);
  // Asking does not end the group that is under way.
  collector.add({0, 1}, row(-1, -1));
  EXPECT_EQ(collector.statistics().bias.count, 2);
  EXPECT_EQ(collector.statistics().bias.sum, 2 - 1);
}

TEST(BoundOut, HasStatisticsOfEveryOutput) {
  const Case on = made("2x4/2:7x33:8 bf16 mask=causal:br vals=normal:3");
  const Verdict verdict = bound_out(*kernels::find_builtin("builtin:textbook"), on);
  ASSERT_TRUE(verdict.statistics);
  EXPECT_EQ(verdict.statistics->count, 2 * 4 * 7 * 8);
  EXPECT_EQ(in_histogram(*verdict.statistics), verdict.statistics->count);
  EXPECT_EQ(verdict.statistics->bias.count, 2 * 2);
  // Most outputs of bf16 that were computed in f32 are correctly rounded; none is far off.
  EXPECT_GT(verdict.statistics->histogram[0], verdict.statistics->count / 2);
}

TEST(GradientLaws, HaveStatisticsOfTheHeadThatTheyJudge) {
  const Case on = made("1x2:5x9:4 f32 bwd=dq,dk,dv vals=normal:3");
  const Verdict verdict = gradient_dk(*kernels::find_builtin("builtin:textbook"), on);
  ASSERT_TRUE(verdict.statistics) << verdict.reason;
  EXPECT_EQ(verdict.statistics->count, 9 * 4);
  EXPECT_EQ(verdict.statistics->bias.count, 1);
}

/// Bias of a kernel over cases that differ in their values alone.
SampleMeans bias_of(const Kernel& kernel, int seed) {
  ErrorStatistics all;
  for (int i = 0; i < 6; ++i) {
    const std::string line = "1x8:4x96:8 f32 vals=normal:" + std::to_string(1000 * seed + i);
    const Verdict verdict = bound_out(kernel, made(line));
    EXPECT_TRUE(verdict.statistics);
    if (verdict.statistics) all.add(*verdict.statistics);
  }
  return all.bias;
}

TEST(Bias, OfSumsThatAreRoundedUpwardsIsOffZeroAndOfRoundingToNearestIsNot) {
  const Kernel& nearest = *kernels::find_builtin("builtin:textbook");
  const Kernel& upwards = *mutants::find("mutant:sums_round_up")->kernel;
  int covered = 0;
  constexpr int kSeeds = 10;
  for (int seed = 0; seed < kSeeds; ++seed) {
    const SampleMeans biased = bias_of(upwards, seed);
    EXPECT_EQ(biased.count, 48);
    EXPECT_GT(biased.mean() - biased.half_width(), 0) << seed;
    const SampleMeans honest = bias_of(nearest, seed);
    if (std::abs(honest.mean()) <= honest.half_width()) ++covered;
  }
  // Intervals of 95 %: of ten fixed seeds two may miss (probability of more: 1 %).
  EXPECT_GE(covered, kSeeds - 2);
}

}  // namespace
}  // namespace attest::properties
