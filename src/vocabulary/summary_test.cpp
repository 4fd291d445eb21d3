#include "attest/summary.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "attest/random.hpp"

namespace attest {
namespace {

template <class Real>
class SummaryOf : public ::testing::Test {
 protected:
  using Bits = std::conditional_t<std::is_same_v<Real, float>, std::uint32_t, std::uint64_t>;

  static constexpr Real kInfinity = std::numeric_limits<Real>::infinity();
  static constexpr Real kNan = std::numeric_limits<Real>::quiet_NaN();

  static std::vector<Bits> bits_of(Real first, const std::vector<Real>& others) {
    std::vector<Bits> bits{std::bit_cast<Bits>(first)};
    for (const Real other : others) bits.push_back(std::bit_cast<Bits>(other));
    return bits;
  }
  static std::vector<Bits> bits_of(const RowSummary<Real>& summary) {
    std::vector<Bits> bits = bits_of(summary.row_max, summary.numerator);
    bits.push_back(std::bit_cast<Bits>(summary.row_sum));
    return bits;
  }
  static std::vector<Bits> bits_of(const NormalisedRow<Real>& row) {
    return bits_of(row.lse, row.output);
  }

  struct Key {
    Real score;
    std::vector<Real> value;
  };

  static RowSummary<Real> summary_of(const std::vector<Key>& keys, Index columns) {
    auto summary = RowSummary<Real>::identity(columns);
    for (const Key& key : keys) absorb(summary, key.score, std::span<const Real>(key.value));
    return summary;
  }

  static std::vector<Real> output_of(const RowSummary<Real>& summary) {
    std::vector<Real> output(summary.numerator.size(), Real(-1));
    finalize(summary, std::span<Real>(output));
    return output;
  }

  static bool is_all_nan(const RowSummary<Real>& summary) {
    bool all = std::isnan(summary.row_sum) && std::isnan(lse(summary));
    for (const Real element : summary.numerator) all = all && std::isnan(element);
    for (const Real element : output_of(summary)) all = all && std::isnan(element);
    return all;
  }

  /// In [-1, 1).
  static Real random_unit(SplitMix64& random) {
    return std::ldexp(static_cast<Real>(random.below(1U << 24)), -23) - 1;
  }
  /// Scores of very different sizes, values of both signs, zero to seven keys.
  static RowSummary<Real> random_summary(SplitMix64& random, Index columns) {
    std::vector<Key> keys(random.below(8));
    const int size = static_cast<int>(random.below(12)) - 4;
    for (Key& key : keys) {
      key.score = std::ldexp(random_unit(random), size);
      for (Index column = 0; column < columns; ++column) key.value.push_back(random_unit(random));
    }
    return summary_of(keys, columns);
  }
};

using RealTypes = ::testing::Types<float, double>;

class RealName {
 public:
  template <class Real>
  static std::string GetName(int /*index*/) {
    return std::is_same_v<Real, float> ? "f32" : "f64";
  }
};

TYPED_TEST_SUITE(SummaryOf, RealTypes, RealName);

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
