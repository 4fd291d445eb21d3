// That the forms of the tiled pass are what they say: each differs from the plain kernel where, and
// only where, its form does.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "attest/narrow_float.hpp"
#include "kernels/flash_steps.hpp"
#include "kernels/kernels.hpp"
#include "kernels/test_cases.hpp"

namespace attest::kernels {
namespace {

const Kernel& builtin(const std::string& name) {
  return *find_builtin("builtin:" + name);
}

/// Scores k(j) of one query, one column of v.
Case given_row(const std::string& tiling, const std::vector<double>& scores,
               const std::vector<double>& values) {
  Case row =
      random_case("1x1:1x" + std::to_string(scores.size()) + ":1 f64 scale=1 lse=ln " + tiling);
  row.q.set(0, 0, 0, 0, 1);
  for (std::size_t j = 0; j < scores.size(); ++j) {
    row.k.set(0, 0, static_cast<Index>(j), 0, scores[j]);
    row.v.set(0, 0, static_cast<Index>(j), 0, values[j]);
  }
  return row;
}

double output_of(const std::string& kernel, Case row) {
  row.run(builtin(kernel));
  return row.out.get(0, 0, 0, 0);
}

double lse_of(const std::string& kernel, Case row) {
  row.run(builtin(kernel));
  return row.lse.get(0, 0, 0, 0);
}

/// Two keys of weights 1 and exp(-0.3): v = (0, 1) shows the second weight as it was rounded.
constexpr double kSecond = -0.3;

TEST(FlashForms, NarrowWeightsReachTheNumeratorAndRowSumOnlyWhereSaid) {
  const Case row = given_row("", {0, kSecond}, {0, 1});
  const double weight = std::exp(kSecond);
  const auto rounded = [&](const Format& format, double offset) {
    return round_to(format, weight * offset) / offset;
  };
  EXPECT_EQ(output_of("flash_bf16p", row), rounded(kBf16, 1) / (1 + weight));
  EXPECT_EQ(output_of("flash_bf16p_sum", row), rounded(kBf16, 1) / (1 + rounded(kBf16, 1)));
  EXPECT_EQ(output_of("flash_f16p", row), rounded(kF16, 1) / (1 + weight));
  EXPECT_EQ(output_of("flash_e4m3p", row), rounded(kE4m3, 256) / (1 + weight));
  EXPECT_EQ(output_of("flash_e5m2p", row), rounded(kE5m2, 256) / (1 + weight));
  EXPECT_EQ(lse_of("flash_bf16p", row), lse_of("scalar_sequential", row));
  EXPECT_EQ(lse_of("flash_bf16p_sum", row), std::log(1 + rounded(kBf16, 1)));
}

TEST(FlashForms, TheOffsetKeepsWeightsThatE4m3AloneWouldLose) {
  // 2^-12 is below half the smallest number of e4m3, 2^-10; with the offset it is exact.
  const double score = -12 * std::numbers::ln2;
  // Its weight is within 2^-60 of 2^-12, so that row_sum is rounded to 1 + 2^-12.
  EXPECT_EQ(output_of("flash_e4m3p", given_row("", {0, score}, {0, 1})), 0x1p-12 / (1 + 0x1p-12));
}

TEST(FlashForms, AMaximumThatLagsRescalesOnlyBeyondTheLag) {
  // The second tile is 8 log2 units minus or plus a little higher than the first.
  for (const bool beyond : {false, true}) {
    const double second = (beyond ? 8.01 : 7.99) * std::numbers::ln2;
    const Case row = given_row("tile=1", {0, second}, {1, 3});
    const double lagging = std::exp(second);
    const double falling = std::exp(-second);
    EXPECT_EQ(output_of("flash_lazy", row),
              beyond ? (falling + 3.0) / (falling + 1) : (1 + lagging * 3) / (1 + lagging));
    EXPECT_EQ(lse_of("flash_lazy", row),
              beyond ? second + std::log(falling + 1) : std::log(1 + lagging));
  }
}

TEST(FlashForms, WeightsUnderALagNeverReachBeyondIt) {
  // The comparison that decides about a rescale is rounded: no weight may exceed 2^8 for that.
  const FlashSteps<float> steps({.lag_log2 = 8}, 1);
  float largest = 0;
  for (int i = -2000; i <= 2000; ++i) {
    const auto score = static_cast<float>(100 + 8 * std::numbers::ln2 + i * 0x1p-17);
    const float row_max = steps.next_row_max(100, score);
    largest = std::max(largest, steps.weight(score, row_max));
  }
  EXPECT_LE(largest, 256.0F);
  EXPECT_GT(largest, 255.0F);
}

TEST(FlashForms, FoldedScoresAreUnscaledAndKeepTheSignOfTheScale) {
  for (const double scale : {0.3, -0.7, 0.0}) {
    Case row = given_row("", {1, 3}, {5, 7});
    row.problem.scale = {false, scale};
    const double factor = std::abs(scale) * std::numbers::log2e;
    const double sign = std::copysign(1.0, scale);
    const double row_max = std::max(sign, 3 * sign);
    const double first = std::exp2(std::fma(sign, factor, -(row_max * factor)));
    const double second = std::exp2(std::fma(3 * sign, factor, -(row_max * factor)));
    const double row_sum = first + second;
    EXPECT_EQ(output_of("flash_exp2", row), (first * 5 + second * 7) / row_sum) << scale;
    EXPECT_EQ(lse_of("flash_exp2", row),
              (row_max * factor + std::log2(row_sum)) * std::numbers::ln2)
        << scale;
  }
}

TEST(FlashForms, ResultsAreFlushedWhereThatIsDeclaredAndNowhereElse) {
  const double tiny = std::numeric_limits<double>::min() * 0.75;
  const Case row = given_row("", {0}, {tiny});
  EXPECT_EQ(output_of("flash_flush", row), 0);
  for_each_kernel([&](const Kernel& kernel) {
    Case again = row;
    if (!supports(kernel, again.problem)) return;
    again.run(kernel);
    const Format bf16_out = kernel.accuracy(again.problem).output_format.value_or(kF64);
    const bool keeps =
        kernel.accuracy(again.problem).underflow == Underflow::gradual && bf16_out == kF64;
    EXPECT_EQ(again.out.get(0, 0, 0, 0) == tiny, keeps);
  });
}

TEST(FlashForms, SummariesAreShownOnlyWhereTheyAreSummaries) {
  for (const char* name : {"flash_exp2", "flash_lazy", "flash_combined"}) {
    EXPECT_EQ(builtin(name).summary_ops_f32(), nullptr) << name;
    EXPECT_EQ(builtin(name).summary_ops_f64(), nullptr) << name;
  }
  for (const char* name : {"flash_bf16p", "flash_e4m3p", "flash_reciprocal", "flash_flush"}) {
    EXPECT_NE(builtin(name).summary_ops_f32(), nullptr) << name;
    EXPECT_NE(builtin(name).summary_ops_f64(), nullptr) << name;
  }
}

}  // namespace
}  // namespace attest::kernels
