// The bound of an lse in base two holds for every way to come to it.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "attest/random.hpp"
#include "test_row_kernels.hpp"

namespace attest {
namespace {

struct BaseTwoForms {
  float converted;  ///< natural, then times log2 e
  float divided;    ///< natural, then by ln 2
  float by_log2;    ///< the maximum times log2 e, and log2 of the sum
  float rough;      ///< times a log2 e of 16 bits: no such kernel
};

float score_of(const Inputs<float>& row, std::size_t key) {
  float dot = 0;
  for (std::size_t c = 0; c < row.head_dim(); ++c)
    dot += row.q[c] * row.k[key * row.head_dim() + c];
  return row.scale * dot;
}

BaseTwoForms forms_of(const Inputs<float>& row) {
  float max = score_of(row, 0);
  for (std::size_t key = 1; key < row.keys(); ++key) max = std::max(max, score_of(row, key));
  float sum = 0;
  for (std::size_t key = 0; key < row.keys(); ++key) sum += std::exp(score_of(row, key) - max);
  const float natural = max + std::log(sum);
  constexpr float kLog2E = std::numbers::log2e_v<float>;
  return {natural * kLog2E, natural / std::numbers::ln2_v<float>, max * kLog2E + std::log2(sum),
          natural * 1.44266F};
}

TEST(LseBaseTwo, IsWithinItsBoundHoweverItIsFormed) {
  SplitMix64 random(5);
  const auto unit = [&] { return std::ldexp(static_cast<float>(random.next() >> 40), -23) - 1; };
  double worst = 0;
  int caught = 0;
  for (int i = 0; i < 4000; ++i) {
    Inputs<float> row;
    row.q.resize(1 + random.below(4));
    row.k.resize(row.q.size() * (1 + random.below(30)));
    const float size = std::ldexp(1.0F, static_cast<int>(random.below(10)) - 4);
    const float shift = random.below(3) == 0 ? -size : 0;  // all scores below zero
    for (float& q : row.q) q = std::abs(unit()) * size;
    for (float& k : row.k) k = unit() + shift;
    row.v.resize(row.keys());
    row.scale = 0.7F;
    DeclaredAccuracy accuracy = declared(row, SummaryScope::row);
    accuracy.dot_roundings += 1;
    const RowFacts facts = facts_of(exact_row(row));
    const RowBound bound = error_bound(accuracy, facts, Tiling{}, facts.visible_keys());
    ASSERT_TRUE(bound.proven());
    const Wide exact = (Wide{facts.lse.high} + facts.lse.low) * std::numbers::log2e_v<Wide>;
    const Wide known = Wide{facts.lse.radius} * 2 + std::abs(exact) * 4 * kWideUlp;
    const auto ratio = [&](float got) {
      return static_cast<double>((std::abs(Wide{got} - exact) - known) / bound.lse_base_two);
    };
    const BaseTwoForms forms = forms_of(row);
    for (const float got : {forms.converted, forms.divided, forms.by_log2})
      worst = std::max(worst, ratio(got));
    ASSERT_LE(worst, 1) << "row " << i;
    if (ratio(forms.rough) > 1) ++caught;
  }
  EXPECT_GT(worst, 0.1) << "the bound is not tight enough to be useful";
  EXPECT_GT(caught, 1000);
}

TEST(LseBaseTwo, IsInfiniteWhereThereIsNoBound) {
  RowFacts facts = ordinary_facts();
  facts.score_magnitude[0] = kInfinity;
  EXPECT_EQ(error_bound(errorless(), facts, Tiling{}, 6).lse_base_two, kInfinity);
}

TEST(LseBaseTwo, OfASinkAloneHoldsItsConversion) {
  RowFacts facts = facts_of(row_of_scores({3.25}, {0}));
  facts.keys = {RowFacts::kSinkKey};
  facts.score_magnitude = {0};
  DeclaredAccuracy accuracy;
  accuracy.exp_relative_error = accuracy.log_relative_error = 0x1p-23;
  const RowBound bound = error_bound(accuracy, facts, Tiling{}, 4);
  ASSERT_TRUE(bound.proven()) << bound.unproven;
  const double off = std::abs(static_cast<double>(3.25F * std::numbers::log2e_v<float>) -
                              3.25 * std::numbers::log2e);
  EXPECT_GT(off, 0);
  EXPECT_LE(off, bound.lse_base_two);
  EXPECT_LT(bound.lse_base_two, 10 * off + 32 * kF32.unit_roundoff * 3.25);
}

}  // namespace
}  // namespace attest
