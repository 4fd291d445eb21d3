// Summaries that are merged.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "test_summary.hpp"

namespace attest {
namespace {

TYPED_TEST(SummaryOf, MergeOfEqualMaximaAddsTheParts) {
  const auto left =
      this->summary_of({{TypeParam(3), {TypeParam(1)}}, {TypeParam(3), {TypeParam(2)}}}, 1);
  const auto right = this->summary_of({{TypeParam(3), {TypeParam(9)}}}, 1);
  const auto both = merge(left, right);
  EXPECT_EQ(both.row_max, TypeParam(3));
  EXPECT_EQ(both.row_sum, TypeParam(3));
  EXPECT_EQ(both.numerator[0], TypeParam(12));
  EXPECT_EQ(this->output_of(both)[0], TypeParam(4));
}

TYPED_TEST(SummaryOf, MergeRescalesTheSideWithTheSmallerMaximum) {
  const auto low = this->summary_of({{TypeParam(1), {TypeParam(4)}}}, 1);
  const auto high = this->summary_of({{TypeParam(3), {TypeParam(8)}}}, 1);
  const TypeParam factor = std::exp(TypeParam(-2));
  for (const auto& both : {merge(low, high), merge(high, low)}) {
    EXPECT_EQ(both.row_max, TypeParam(3));
    EXPECT_EQ(both.row_sum, 1 + factor);
    EXPECT_EQ(both.numerator[0], 8 + 4 * factor);
  }
}

TYPED_TEST(SummaryOf, MergeWithTheIdentityOnEitherSideKeepsEveryBit) {
  const auto identity = RowSummary<TypeParam>::identity(3);
  SplitMix64 random(3);
  for (int i = 0; i < 500; ++i) {
    const auto summary = this->random_summary(random, 3);
    ASSERT_EQ(this->bits_of(merge(summary, identity)), this->bits_of(summary));
    ASSERT_EQ(this->bits_of(merge(identity, summary)), this->bits_of(summary));
  }
}

TYPED_TEST(SummaryOf, MergeWithTheIdentityKeepsNegativeZeros) {
  const auto identity = RowSummary<TypeParam>::identity(2);
  RowSummary<TypeParam> summary;
  summary.row_max = TypeParam(-0.0);
  summary.row_sum = TypeParam(1);
  summary.numerator = {TypeParam(-0.0), TypeParam(0)};
  EXPECT_EQ(this->bits_of(merge(summary, identity)), this->bits_of(summary));
  EXPECT_EQ(this->bits_of(merge(identity, summary)), this->bits_of(summary));
}

TYPED_TEST(SummaryOf, MergeOfTwoIdentitiesIsTheIdentity) {
  const auto identity = RowSummary<TypeParam>::identity(2);
  EXPECT_EQ(this->bits_of(merge(identity, identity)), this->bits_of(identity));
}

TYPED_TEST(SummaryOf, MergeCommutesBitForBit) {
  SplitMix64 random(4);
  for (int i = 0; i < 5000; ++i) {
    const auto left = this->random_summary(random, 3);
    const auto right = this->random_summary(random, 3);
    ASSERT_EQ(this->bits_of(merge(left, right)), this->bits_of(merge(right, left)));
  }
}

TYPED_TEST(SummaryOf, MergeCommutesBitForBitWhereTheMaximaAreZerosOfEitherSign) {
  auto positive = RowSummary<TypeParam>::identity(1);
  auto negative = positive;
  for (auto* const summary : {&positive, &negative}) {
    summary->row_sum = 1;
    summary->row_max = summary == &positive ? TypeParam(0) : -TypeParam(0);
  }
  EXPECT_EQ(this->bits_of(merge(positive, negative)), this->bits_of(merge(negative, positive)));
  EXPECT_FALSE(std::signbit(merge(negative, negative).row_max));
}

TYPED_TEST(SummaryOf, TheMaximumOfZerosIsPositive) {
  const std::vector<TypeParam> value{1};
  for (const TypeParam first : {TypeParam(0), -TypeParam(0)}) {
    auto summary = RowSummary<TypeParam>::identity(1);
    absorb(summary, first, std::span<const TypeParam>(value));
    absorb(summary, -first, std::span<const TypeParam>(value));
    EXPECT_EQ(summary.row_max, TypeParam(0));
    EXPECT_FALSE(std::signbit(summary.row_max));
  }
}

TYPED_TEST(SummaryOf, MergeIsAssociativeWhereNothingRounds) {
  SplitMix64 random(5);
  const auto exact_summary = [&] {
    std::vector<typename TestFixture::Key> keys(random.below(5));
    for (auto& key : keys) key = {TypeParam(7), {static_cast<TypeParam>(random.below(100))}};
    return this->summary_of(keys, 1);
  };
  for (int i = 0; i < 500; ++i) {
    const auto a = exact_summary();
    const auto b = exact_summary();
    const auto c = exact_summary();
    ASSERT_EQ(this->bits_of(merge(merge(a, b), c)), this->bits_of(merge(a, merge(b, c))));
  }
}

TYPED_TEST(SummaryOf, NanAndPlusInfinityStayVisibleThroughMergesInBothOrders) {
  const auto identity = RowSummary<TypeParam>::identity(2);
  SplitMix64 random(6);
  for (const TypeParam score : {this->kNan, this->kInfinity}) {
    const auto poisoned = this->summary_of({{score, {TypeParam(2), TypeParam(0)}}}, 2);
    EXPECT_TRUE(this->is_all_nan(merge(poisoned, identity)));
    EXPECT_TRUE(this->is_all_nan(merge(identity, poisoned)));
    EXPECT_TRUE(this->is_all_nan(merge(poisoned, poisoned)));
    for (int i = 0; i < 200; ++i) {
      const auto clean = this->random_summary(random, 2);
      ASSERT_TRUE(this->is_all_nan(merge(poisoned, clean)));
      ASSERT_TRUE(this->is_all_nan(merge(clean, poisoned)));
    }
  }
}

}  // namespace
}  // namespace attest
