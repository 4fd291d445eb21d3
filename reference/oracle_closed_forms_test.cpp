// Rows whose exact output and lse are known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "reference/test_cases.hpp"
#include "reference/test_row_facts.hpp"

namespace attest::reference {
namespace {

using testing::ElementsAre;

TEST(Oracle, OneKeyGivesItsValueAndItsScore) {
  const RowFacts facts = scored(Dtype::f32, {-0.75}, {3.5, -0x1p-149, 0x1.fffffep127}).facts();
  EXPECT_THAT(facts.output,
              ElementsAre(IsExactly(3.5), IsExactly(-0x1p-149), IsExactly(0x1.fffffep127)));
  EXPECT_THAT(facts.lse, IsExactly(-0.75));
}

TEST(Oracle, OneKeyOfAScoreThatNoDoubleHoldsStillGivesItsValue) {
  for_each_random_case([](Case drawn) {
    drawn.problem.key_lengths = {1};
    const RowFacts facts = drawn.facts();
    ASSERT_EQ(facts.visible_keys(), 1);
    for (Index c = 0; c < 2; ++c) {
      const Enclosure& output = facts.output[static_cast<std::size_t>(c)];
      EXPECT_THAT(output, Contains(drawn.v.get(0, 0, 0, c)));
      EXPECT_EQ(output.high, drawn.v.get(0, 0, 0, c));
    }
    EXPECT_LE(facts.lse.distance_lower(facts.score[0]), facts.score_radius[0]);
  });
}

TEST(Oracle, EqualScoresGiveTheMeanOfTheValues) {
  for (const int n : {2, 3, 5, 7, 10}) {
    std::vector<double> values(static_cast<std::size_t>(n), 2.0);
    values[0] = -1;
    const double sum = 2.0 * n - 3;
    const RowFacts facts =
        scored(Dtype::f64, std::vector<double>(values.size(), 0.3), values).facts();
    const Enclosure& mean = facts.output[0];
    // n high - sum has at most log2(n) bits, and the last sum 53 + log2(n): both are exact.
    const double rest = std::fma(n, mean.high, -sum);
    const long double off = rest + static_cast<long double>(n) * mean.low;
    EXPECT_LE(std::abs(off), static_cast<long double>(n) * mean.radius) << n;
    EXPECT_EQ(mean.high, sum / n);
  }
}

TEST(Oracle, EqualScoresGiveTheScorePlusTheLogarithmOfTheirNumber) {
  for (const double score : {0.0, -2.5, 40.0})
    for (const int n : {2, 3, 5, 7, 10}) {
      const std::vector<double> scores(static_cast<std::size_t>(n), score);
      const Enclosure lse = scored(Dtype::f32, scores, scores).facts().lse;
      // glibc's logl is off by less than one ulp for these n. The differences are exact: the
      // first has few bits, and the second is one of numbers close to each other.
      const long double logarithm = std::log(static_cast<long double>(n));
      const long double ulp = std::nextafter(logarithm, 3.0L) - logarithm;
      const long double off = ((static_cast<long double>(lse.high) - score) - logarithm) + lse.low;
      EXPECT_LE(std::abs(off), ulp + lse.radius) << n << " scores of " << score;
    }
}

TEST(Oracle, TheLseOfTwoScoresOfZeroIsLnTwo) {
  // ln 2 = 0x1.62e42fefa39efp-1 + 0x1.abc9e3b39803fp-56 + 0x1.7b57a079a1934p-111 rounded up.
  const Enclosure lse = scored(Dtype::f32, {0, 0}, {0, 0}).facts().lse;
  EXPECT_EQ(lse.high, 0x1.62e42fefa39efp-1);
  EXPECT_EQ(lse.low, 0x1.abc9e3b39803fp-56);
  EXPECT_GE(lse.radius, 0x1.7b57a079a1933p-111);
}

TEST(Oracle, AConstantColumnGivesTheConstant) {
  for_each_random_case([](Case drawn) {
    const double constant = drawn.v.get(0, 0, 0, 0);
    for (Index key = 0; key < drawn.problem.seq_kv; ++key) drawn.v.set(0, 0, key, 0, constant);
    const Enclosure output = drawn.facts().output[0];
    EXPECT_THAT(output, Contains(constant));
    EXPECT_EQ(output.high, constant);
  });
}

TEST(Oracle, ValuesThatCancelAtEqualScoresGiveZero) {
  const std::vector<double> scores{0.3, -1.7, 0.3, 5.0, -1.7, 5.0};
  const RowFacts facts = scored(Dtype::f64, scores, {7, 0.1, -7, 1e-30, -0.1, -1e-30}).facts();
  EXPECT_THAT(facts.output[0], Contains(0.0));
  EXPECT_LT(facts.output[0].radius, 1e-30 * facts.probability[3]);  // smaller than any one term
}

TEST(Oracle, ZeroValuesGiveExactlyZero) {
  for_each_random_case([](Case drawn) {
    for (Index key = 0; key < drawn.problem.seq_kv; ++key)
      drawn.v.set(0, 0, key, 0, key % 2 == 0 ? 0.0 : -0.0);
    EXPECT_THAT(drawn.facts().output[0], IsExactly(0.0));
  });
}

TEST(Oracle, ARowWithoutVisibleKeysGivesExactlyZeroAndMinusInfinity) {
  Case drawn = random_case(families()[0], 1);
  drawn.problem.key_lengths = {0};
  fill(drawn.q, std::vector<double>(4, kNan));
  for (const int bits : kPrecisionLadder) {
    const RowFacts facts = drawn.facts({}, bits);
    EXPECT_EQ(facts.visible_keys(), 0);
    EXPECT_THAT(facts.output, ElementsAre(IsExactly(0.0), IsExactly(0.0)));
    EXPECT_THAT(facts.lse, IsExactly(-kInfinity));
  }
}

}  // namespace
}  // namespace attest::reference
