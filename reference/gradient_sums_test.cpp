// Sums of gradients over rows, heads and batch members, and their bound.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "reference/test_gradient_checks.hpp"
#include "reference/test_row_facts.hpp"

namespace attest::reference {
namespace {

Enclosure exactly(double value) {
  return {value, 0, 0};
}

TEST(EncloseSum, IsExactForNumbersOfOneSize) {
  EXPECT_THAT(enclose_sum({}), IsExactly(0));
  const std::vector<Enclosure> terms{exactly(0x1p60), exactly(1), exactly(-0x1p60)};
  EXPECT_THAT(enclose_sum(terms), IsExactly(1));
}

TEST(EncloseSum, AddsLowPartsAndRadii) {
  const std::vector<Enclosure> terms{{1, 0x1p-60, 0x1p-80}, {2, -0x1p-70, 0x1p-80}, {-3, 0, 0}};
  const Enclosure sum = enclose_sum(terms);
  EXPECT_EQ(sum.high + sum.low, 0x1p-60 - 0x1p-70);
  EXPECT_GE(sum.radius, 0x1p-79);
  EXPECT_LE(sum.radius, 0x1p-79 * (1 + 0x1p-40));
}

TEST(GradientSumBound, HoldsForAdditionsThatLoseATerm) {
  const std::vector<GradientTerm> terms{
      {exactly(0x1p24), 0}, {exactly(1), 0}, {exactly(-0x1p24), 0}};
  const DeclaredGradientAccuracy f32;
  EXPECT_EQ(0x1p24F + 1.0F - 0x1p24F, 0.0F);
  EXPECT_GE(gradient_sum_bound(f32, terms), 1);
  DeclaredGradientAccuracy f64;
  f64.format = kF64;
  EXPECT_LT(gradient_sum_bound(f64, terms), 0x1p-24);
}

TEST(GradientSumBound, OfOneTermIsItsLimitAndOfNoneIsZero) {
  const std::vector<GradientTerm> one{{exactly(3), 0.5}};
  EXPECT_GE(gradient_sum_bound({}, one), 0.5);
  EXPECT_LE(gradient_sum_bound({}, one), 0.5 * (1 + 0x1p-29));
  EXPECT_EQ(gradient_sum_bound({}, {}), 0);
  const std::vector<GradientTerm> masked(4, GradientTerm{});
  EXPECT_EQ(gradient_sum_bound({}, masked), 0);
}

TEST(GradientSumBound, IsInfiniteWhereTheSumMayOverflow) {
  const std::vector<GradientTerm> huge(2, GradientTerm{exactly(0x1p126), 0});
  EXPECT_EQ(gradient_sum_bound({}, huge), std::numeric_limits<double>::infinity());
}

TEST(GradientSumBound, FlushedAdditionsLoseTheSmallestNormalNumber) {
  std::vector<GradientTerm> terms(3, GradientTerm{exactly(0x1p-127), 0});
  DeclaredGradientAccuracy accuracy;
  accuracy.underflow = Underflow::flush_results;
  EXPECT_GE(gradient_sum_bound(accuracy, terms), 2 * kF32.min_normal);
}

/// The bias of one number a key, shared by all rows of a kv head: column sums of dbias.
struct SharedBias {
  std::vector<double> forward, backward, narrow;  ///< sums in two orders, and in bf16
};

SharedBias sums_of(const Gradients<double>& computed, std::size_t keys, std::size_t rows) {
  SharedBias sums;
  for (std::size_t j = 0; j < keys; ++j) {
    float up = 0;
    float down = 0;
    double narrow = 0;
    for (std::size_t i = 0; i < rows; ++i) {
      up += static_cast<float>(computed.dbias[i * keys + j]);
      down += static_cast<float>(computed.dbias[(rows - 1 - i) * keys + j]);
      narrow = round_to_format(narrow + computed.dbias[i * keys + j], kBf16);
    }
    sums.forward.push_back(static_cast<double>(up));
    sums.backward.push_back(static_cast<double>(down));
    sums.narrow.push_back(narrow);
  }
  return sums;
}

TEST(GradientSumBound, HoldsForTheGradientOfASharedBias) {
  GradientDraw<float> draw(31);
  int narrow_caught = 0;
  int proven = 0;
  for (int problem = 0; problem < 200; ++problem) {
    const GradientFacts facts = gradient_facts(draw.next());
    BackwardKernel<float> kernel(facts.inputs, {});
    std::vector<ForwardRow<float>> forward;
    std::vector<RowBound> bounds;
    for (std::size_t i = 0; i < facts.rows.size(); ++i) {
      forward.push_back(kernel.forward(facts.inputs.rows[i]));
      bounds.push_back(measured_bound(facts.rows[i], forward.back()));
    }
    const DeclaredGradientAccuracy accuracy = declared_gradients(facts.inputs, {}, kF32);
    const GradientBound bound = gradient_bound(accuracy, facts, bounds);
    if (!bound.proven()) continue;
    ++proven;
    const auto keys = static_cast<std::size_t>(facts.inputs.keys);
    const SharedBias sums = sums_of(kernel.backward(forward), keys, facts.rows.size());
    for (std::size_t j = 0; j < keys; ++j) {
      std::vector<GradientTerm> terms;
      std::vector<Enclosure> exact;
      for (std::size_t at = j; at < bound.limit.dbias.size(); at += keys) {
        terms.push_back({facts.exact.dbias[at], bound.limit.dbias[at]});
        exact.push_back(facts.exact.dbias[at]);
      }
      const Enclosure sum = enclose_sum(exact);
      const double limit = gradient_sum_bound(accuracy, terms);
      ASSERT_LE(sum.distance_lower(sums.forward[j]), limit) << problem;
      ASSERT_LE(sum.distance_lower(sums.backward[j]), limit) << problem;
      if (sum.distance_lower(sums.narrow[j]) > limit) ++narrow_caught;
    }
  }
  EXPECT_GT(proven, 150);
  EXPECT_GT(narrow_caught, 100);
}

}  // namespace
}  // namespace attest::reference
