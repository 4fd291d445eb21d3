// Keys that are absorbed one by one.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "test_summary.hpp"

namespace attest {
namespace {

TYPED_TEST(SummaryOf, NoKeysIsMinusInfinityAndPositiveZeros) {
  const auto identity = RowSummary<TypeParam>::identity(2);
  RowSummary<TypeParam> want;
  want.row_max = -this->kInfinity;
  want.row_sum = TypeParam(0);
  want.numerator = {TypeParam(0), TypeParam(0)};
  EXPECT_EQ(this->bits_of(identity), this->bits_of(want));
  EXPECT_TRUE(identity.is_identity());
}

TYPED_TEST(SummaryOf, NoKeysFinalisesToPositiveZerosAndMinusInfinity) {
  const auto identity = RowSummary<TypeParam>::identity(2);
  EXPECT_EQ(this->bits_of(lse(identity), this->output_of(identity)),
            this->bits_of(-this->kInfinity, {TypeParam(0), TypeParam(0)}));
}

TYPED_TEST(SummaryOf, OneKeyHasItsScoreWeightOneAndItsValue) {
  const auto summary = this->summary_of({{TypeParam(-3.5), {TypeParam(0.1), TypeParam(-7)}}}, 2);
  EXPECT_EQ(summary.row_max, TypeParam(-3.5));
  EXPECT_EQ(summary.row_sum, TypeParam(1));
  EXPECT_EQ(this->output_of(summary), (std::vector<TypeParam>{TypeParam(0.1), TypeParam(-7)}));
  EXPECT_EQ(lse(summary), TypeParam(-3.5));
}

TYPED_TEST(SummaryOf, EqualScoresGivesTheExactMean) {
  const auto summary = this->summary_of({{TypeParam(3), {TypeParam(1), TypeParam(-4)}},
                                         {TypeParam(3), {TypeParam(2), TypeParam(0)}},
                                         {TypeParam(3), {TypeParam(6), TypeParam(4)}},
                                         {TypeParam(3), {TypeParam(3), TypeParam(-8)}}},
                                        2);
  EXPECT_EQ(summary.row_max, TypeParam(3));
  EXPECT_EQ(summary.row_sum, TypeParam(4));
  EXPECT_EQ(summary.numerator, (std::vector<TypeParam>{TypeParam(12), TypeParam(-8)}));
  EXPECT_EQ(this->output_of(summary), (std::vector<TypeParam>{TypeParam(3), TypeParam(-2)}));
  EXPECT_EQ(lse(summary), TypeParam(3) + std::log(TypeParam(4)));
}

TYPED_TEST(SummaryOf, ALowerSecondScoreGetsTheWeightOfItsDistance) {
  const auto summary =
      this->summary_of({{TypeParam(2), {TypeParam(8)}}, {TypeParam(1), {TypeParam(4)}}}, 1);
  const TypeParam weight = std::exp(TypeParam(-1));
  EXPECT_EQ(summary.row_max, TypeParam(2));
  EXPECT_EQ(summary.row_sum, 1 + weight);
  EXPECT_EQ(summary.numerator[0], 8 + weight * 4);
}

TYPED_TEST(SummaryOf, AHigherSecondScoreRescalesWhatCameBefore) {
  const auto summary =
      this->summary_of({{TypeParam(1), {TypeParam(4)}}, {TypeParam(2), {TypeParam(8)}}}, 1);
  const TypeParam factor = std::exp(TypeParam(-1));
  EXPECT_EQ(summary.row_max, TypeParam(2));
  EXPECT_EQ(summary.row_sum, factor + 1);
  EXPECT_EQ(summary.numerator[0], 4 * factor + 8);
}

TYPED_TEST(SummaryOf, AScoreFarAboveAllOthersLeavesOnlyItsOwnValue) {
  const TypeParam far(100000);
  const auto last = this->summary_of({{TypeParam(0), {TypeParam(5)}}, {far, {TypeParam(9)}}}, 1);
  const auto first = this->summary_of({{far, {TypeParam(9)}}, {TypeParam(0), {TypeParam(5)}}}, 1);
  EXPECT_EQ(this->bits_of(last), this->bits_of(first));
  EXPECT_EQ(last.row_sum, TypeParam(1));
  EXPECT_EQ(this->output_of(last), std::vector<TypeParam>{TypeParam(9)});
  EXPECT_EQ(lse(last), far);
}

TYPED_TEST(SummaryOf, AScoreOfMinusInfinityIsAnExclusion) {
  SplitMix64 random(2);
  for (int i = 0; i < 200; ++i) {
    const auto before = this->random_summary(random, 2);
    auto after = before;
    const std::vector<TypeParam> poison{this->kNan, this->kInfinity};
    absorb(after, -this->kInfinity, std::span<const TypeParam>(poison));
    ASSERT_EQ(this->bits_of(after), this->bits_of(before));
  }
}

TYPED_TEST(SummaryOf, OnlyExcludedKeysIsTheIdentity) {
  const auto summary =
      this->summary_of({{-this->kInfinity, {TypeParam(1)}}, {-this->kInfinity, {this->kNan}}}, 1);
  EXPECT_EQ(this->bits_of(summary), this->bits_of(RowSummary<TypeParam>::identity(1)));
}

TYPED_TEST(SummaryOf, ANanScoreStaysVisibleWhereverItIsAbsorbed) {
  for (std::size_t at = 0; at < 3; ++at) {
    std::vector<typename TestFixture::Key> keys(3, {TypeParam(1), {TypeParam(2), TypeParam(0)}});
    keys[at].score = this->kNan;
    EXPECT_TRUE(this->is_all_nan(this->summary_of(keys, 2))) << at;
    EXPECT_FALSE(this->summary_of(keys, 2).is_identity()) << at;
  }
}

TYPED_TEST(SummaryOf, AScoreOfPlusInfinityStaysVisibleWhereverItIsAbsorbed) {
  for (std::size_t at = 0; at < 3; ++at) {
    std::vector<typename TestFixture::Key> keys(3, {TypeParam(1), {TypeParam(2), TypeParam(0)}});
    keys[at].score = this->kInfinity;
    EXPECT_TRUE(this->is_all_nan(this->summary_of(keys, 2))) << at;
  }
}

TYPED_TEST(SummaryOf, RescaleLiesBetweenZeroAndOne) {
  SplitMix64 random(7);
  for (int i = 0; i < 5000; ++i) {
    const int size = static_cast<int>(random.below(120)) - 60;
    const TypeParam first = std::ldexp(this->random_unit(random), size);
    const TypeParam second = std::ldexp(this->random_unit(random), size);
    const TypeParam factor = rescale(std::fmin(first, second), std::fmax(first, second));
    ASSERT_GE(factor, TypeParam(0));
    ASSERT_LE(factor, TypeParam(1));
  }
  const TypeParam largest = std::numeric_limits<TypeParam>::max();
  EXPECT_EQ(rescale(-largest, largest), TypeParam(0));
}

TYPED_TEST(SummaryOf, RescaleOfAnEmptyPartIsZero) {
  for (const TypeParam to :
       {-this->kInfinity, TypeParam(-5), TypeParam(0), std::numeric_limits<TypeParam>::max()})
    EXPECT_EQ(rescale(-this->kInfinity, to), TypeParam(0));
}

TYPED_TEST(SummaryOf, RescaleToTheSameMaximumIsOne) {
  for (const TypeParam score :
       {TypeParam(0), TypeParam(-0.0), TypeParam(0.1), std::numeric_limits<TypeParam>::max(),
        std::numeric_limits<TypeParam>::lowest(), std::numeric_limits<TypeParam>::denorm_min()})
    EXPECT_EQ(rescale(score, score), TypeParam(1));
}

TYPED_TEST(SummaryOf, RaisingTheMaximumOfTheIdentityKeepsItEmpty) {
  auto summary = RowSummary<TypeParam>::identity(1);
  raise_row_max(summary, TypeParam(4));
  EXPECT_EQ(summary.row_max, TypeParam(4));
  EXPECT_TRUE(summary.is_identity());
  EXPECT_EQ(this->bits_of(summary.row_sum, summary.numerator),
            this->bits_of(TypeParam(0), {TypeParam(0)}));
}

}  // namespace
}  // namespace attest
