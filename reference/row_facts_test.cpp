// What a row says of its scores and probabilities.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "reference/test_cases.hpp"
#include "reference/test_row_facts.hpp"

namespace attest::reference {
namespace {

using testing::Each;
using testing::ElementsAre;

TEST(RowFacts, ScoresAndMagnitudesAreThoseOfTheDotProducts) {
  Problem problem;
  problem.seq_kv = 4;
  problem.head_dim = 2;
  problem.scale = {false, -0.5};
  problem.mask.bits = MaskBits{1, 4, {true, false, true, true}};
  Case drawn(problem);
  fill(drawn.q, {1, 2});
  fill(drawn.k, {3, -4, kNan, kNan, 0.25, 1, -8, 4});
  fill(drawn.v, {10, 11, 12, 13});
  const RowFacts facts = drawn.facts();
  EXPECT_THAT(facts.keys, ElementsAre(0, 2, 3));
  EXPECT_THAT(facts.score, ElementsAre(2.5, -1.125, 0));
  EXPECT_THAT(facts.score_radius, Each(0));
  EXPECT_THAT(facts.score_magnitude,
              ElementsAre(IsJustAbove(5.5), IsJustAbove(1.125), IsJustAbove(8.0)));
  EXPECT_THAT(facts.value, ElementsAre(10, 12, 13));
  EXPECT_EQ(facts.score_max, 2.5);
  EXPECT_THAT(facts.dot_magnitude_max, IsJustAbove(16.0));
  EXPECT_EQ(facts.scale, -0.5);
  EXPECT_EQ(facts.head_dim, 2);
}

TEST(RowFacts, TheScoreRadiusHoldsWhatTheNearestDoubleLeavesOut) {
  Case drawn = scored(Dtype::f64, {1 + 0x1p-52}, {1});
  drawn.q.set(0, 0, 0, 0, 1 + 0x1p-52);
  const RowFacts facts = drawn.facts();
  EXPECT_EQ(facts.score[0], 1 + 0x1p-51);
  EXPECT_GE(facts.score_radius[0], 0x1p-104);
  EXPECT_GE(facts.score_magnitude[0], std::nextafter(1 + 0x1p-51, 2.0));
  EXPECT_GE(facts.dot_magnitude_max, std::nextafter(1 + 0x1p-51, 2.0));
}

TEST(RowFacts, ProbabilitiesAndTheLogSumAreTheNextDoublesAbove) {
  const RowFacts three = scored(Dtype::f32, {-7, -7, -7}, {1, 2, 3}).facts();
  EXPECT_THAT(three.probability, Each(0x1.5555555555556p-2));
  const RowFacts two = scored(Dtype::f32, {8, 8}, {1, 2}).facts();
  EXPECT_THAT(two.probability, Each(0.5));
  EXPECT_EQ(two.log_sum, 0x1.62e42fefa39f0p-1);
  EXPECT_EQ(scored(Dtype::f32, {8}, {1}).facts().log_sum, 0);
}

TEST(RowFacts, ProbabilitiesSumToAtLeastOne) {
  for_each_random_case([](const Case& drawn) {
    const RowFacts facts = drawn.facts();
    long double sum = 0;
    for (const double probability : facts.probability) sum += probability;
    // n additions of non-negative terms in long double lose at most a share of n 2^-64.
    const auto n = static_cast<long double>(facts.visible_keys());
    EXPECT_GE(sum * (1 + n * 0x1p-63L), 1);
    EXPECT_GE(facts.log_sum, 0);
  });
}

TEST(RowFacts, EveryProbabilityIsAnUpperBoundWithTheSlackThatIsPromised) {
  for_each_random_case([](const Case& drawn) {
    const RowFacts rough = drawn.facts({}, kPrecisionLadder.front());
    const RowFacts fine = drawn.facts({}, kPrecisionLadder.back());
    for (std::size_t j = 0; j < rough.probability.size(); ++j) {
      EXPECT_GE(rough.probability[j], fine.probability[j]);
      EXPECT_LE(rough.probability[j],
                fine.probability[j] * (1 + 0x1p-40) + std::numeric_limits<double>::denorm_min());
    }
    EXPECT_GE(rough.log_sum, fine.log_sum);
  });
}

}  // namespace
}  // namespace attest::reference
