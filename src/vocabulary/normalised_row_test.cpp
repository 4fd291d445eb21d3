// Rows that are normalised before they are merged.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "test_summary.hpp"

namespace attest {
namespace {

TYPED_TEST(SummaryOf, NormalisedRowWithoutKeysIsThatOfTheIdentity) {
  EXPECT_EQ(this->bits_of(normalise(RowSummary<TypeParam>::identity(2))),
            this->bits_of(NormalisedRow<TypeParam>::identity(2)));
  EXPECT_TRUE(NormalisedRow<TypeParam>::identity(2).is_identity());
}

TYPED_TEST(SummaryOf, NormalisedMergeWithTheIdentityKeepsEveryBit) {
  const auto identity = NormalisedRow<TypeParam>::identity(2);
  SplitMix64 random(8);
  for (int i = 0; i < 500; ++i) {
    const auto row = normalise(this->random_summary(random, 2));
    ASSERT_EQ(this->bits_of(merge(row, identity)), this->bits_of(row));
    ASSERT_EQ(this->bits_of(merge(identity, row)), this->bits_of(row));
  }
  const NormalisedRow<TypeParam> negative_zeros{TypeParam(-0.0), {TypeParam(-0.0), TypeParam(0)}};
  EXPECT_EQ(this->bits_of(merge(negative_zeros, identity)), this->bits_of(negative_zeros));
  EXPECT_EQ(this->bits_of(merge(identity, negative_zeros)), this->bits_of(negative_zeros));
}

TYPED_TEST(SummaryOf, NormalisedMergeOfTwoEmptyRowsIsEmpty) {
  const auto identity = NormalisedRow<TypeParam>::identity(2);
  EXPECT_EQ(this->bits_of(merge(identity, identity)), this->bits_of(identity));
}

TYPED_TEST(SummaryOf, NormalisedMergeOfEqualMassesIsTheExactAverage) {
  const NormalisedRow<TypeParam> left{TypeParam(5), {TypeParam(1), TypeParam(-6)}};
  const NormalisedRow<TypeParam> right{TypeParam(5), {TypeParam(2), TypeParam(6)}};
  const auto both = merge(left, right);
  EXPECT_EQ(both.output, (std::vector<TypeParam>{TypeParam(1.5), TypeParam(0)}));
  EXPECT_EQ(both.lse, TypeParam(5) + std::log(TypeParam(2)));
}

TYPED_TEST(SummaryOf, NormalisedMergeWeighsByTheDistanceOfTheMasses) {
  const NormalisedRow<TypeParam> low{TypeParam(1), {TypeParam(4)}};
  const NormalisedRow<TypeParam> high{TypeParam(3), {TypeParam(8)}};
  const TypeParam weight = std::exp(TypeParam(-2));
  for (const auto& both : {merge(low, high), merge(high, low)}) {
    EXPECT_EQ(both.output[0], (8 + weight * 4) / (1 + weight));
    EXPECT_EQ(both.lse, TypeParam(3) + std::log(1 + weight));
  }
}

TYPED_TEST(SummaryOf, NormalisedMergeCommutesBitForBit) {
  SplitMix64 random(9);
  for (int i = 0; i < 5000; ++i) {
    const auto left = normalise(this->random_summary(random, 2));
    const auto right = normalise(this->random_summary(random, 2));
    ASSERT_EQ(this->bits_of(merge(left, right)), this->bits_of(merge(right, left)));
  }
}

TYPED_TEST(SummaryOf, NormalisedMergeKeepsNanAndPlusInfinityVisible) {
  const NormalisedRow<TypeParam> clean{TypeParam(1), {TypeParam(2)}};
  for (const TypeParam mass : {this->kNan, this->kInfinity}) {
    const NormalisedRow<TypeParam> poisoned{mass, {TypeParam(3)}};
    for (const auto& both : {merge(clean, poisoned), merge(poisoned, clean)}) {
      EXPECT_TRUE(std::isnan(both.lse));
      EXPECT_TRUE(std::isnan(both.output[0]));
    }
  }
}

}  // namespace
}  // namespace attest
