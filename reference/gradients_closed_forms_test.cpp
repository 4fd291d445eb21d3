// Gradients that are known, and identities that the gradients of every row satisfy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "reference/test_gradient_inputs.hpp"
#include "reference/test_row_facts.hpp"

namespace attest::reference {
namespace {

using testing::Each;
using testing::ElementsAre;

/// Sum of enclosures and their radii, in double.
struct Total {
  double sum = 0;
  double radius = 0;  ///< of the enclosures and of this summation
  void add(const Enclosure& enclosure, double factor = 1) {
    const long double value = static_cast<long double>(enclosure.high) + enclosure.low;
    wide_ += value * factor;
    size_ += std::abs(value * factor);
    sum = static_cast<double>(wide_);
    radius += enclosure.radius * std::abs(factor);
  }
  bool contains(double value) const {
    return std::isfinite(radius) && static_cast<double>(std::abs(wide_ - value)) <=
                                        radius + static_cast<double>(size_) * 0x1p-55 + 0x1p-1060;
  }

 private:
  long double wide_ = 0;
  long double size_ = 0;
};

TEST(Gradients, OneKeyPassesTheGradientOfTheOutputToItsValueAndThatOfTheLseToItsScore) {
  GradientInputs inputs = scored_gradients({0.75}, {3}, 5, -2);
  inputs.rows[0].q = {0.5};
  inputs.scale = 4;
  const GradientFacts facts = gradient_facts(inputs);
  EXPECT_THAT(facts.exact.dv, ElementsAre(Contains(5.0)));
  EXPECT_THAT(facts.exact.dbias, ElementsAre(Contains(-2.0)));
  EXPECT_THAT(facts.exact.dq, ElementsAre(Contains(-2 * 4 * 0.75)));
  EXPECT_THAT(facts.exact.dk, ElementsAre(Contains(-2 * 4 * 0.5)));
  EXPECT_THAT(facts.exact.dsink, ElementsAre(IsExactly(0)));
  for (const auto* list : facts.exact.lists())
    for (const Enclosure& enclosure : *list) EXPECT_LE(enclosure.radius, 0x1p-110);
}

TEST(Gradients, TwoEqualScoresShareTheGradients) {
  // p = 1/2; dP = 3, 7; o = 6 / 2; D = 5 - dlse.
  const GradientFacts facts = gradient_facts(scored_gradients({0.3, 0.3}, {3, 7}, 1, 0.5));
  EXPECT_THAT(facts.exact.dbias, ElementsAre(Contains((3 - 4.5) / 2), Contains((7 - 4.5) / 2)));
  EXPECT_THAT(facts.exact.dv, ElementsAre(Contains(0.5), Contains(0.5)));
  EXPECT_THAT(facts.exact.dk, ElementsAre(Contains(-0.75), Contains(1.25)));
}

TEST(Gradients, ASinkIsAKeyWithoutValue) {
  // p = 1/3 each, the sink included: o = 2, dP = 2, 10, D = 4 - 3 = 1.
  GradientInputs inputs = scored_gradients({0, 0}, {1, 5}, 2, 3);
  inputs.rows[0].sink = 0;
  const GradientFacts thirds = gradient_facts(inputs);
  EXPECT_THAT(thirds.exact.dbias[0].distance_upper(1.0 / 3), testing::Lt(0x1p-54));
  EXPECT_THAT(thirds.exact.dbias[1], Contains(3.0));
  EXPECT_THAT(thirds.exact.dsink[0].distance_upper(-1.0 / 3), testing::Lt(0x1p-54));
}

TEST(Gradients, SoftcapMultipliesTheGradientOfTheScoreByItsSlope) {
  // x = 0 and x = 2: the slopes are 1 and 1 - tanh(1)^2 for a softcap of 2.
  GradientInputs inputs = scored_gradients({0, 2}, {1, -1}, 1, 0);
  inputs.softcap = 2;
  const GradientFacts facts = gradient_facts(inputs);
  // Fewer than 16 roundings of numbers below 4.
  constexpr double kDoubles = 16 * 4 * 0x1p-53;
  const double p = 1 / (1 + std::exp(-2 * std::tanh(1.0)));  // of the second key
  const double ds = -2 * p * (1 - p);
  EXPECT_NEAR(facts.exact.dbias[1].high, ds, kDoubles);
  EXPECT_NEAR(facts.exact.dk[1].high, ds * (1 - std::tanh(1.0) * std::tanh(1.0)), kDoubles);
  EXPECT_NEAR(facts.exact.dk[0].high, -ds, kDoubles);
  EXPECT_NEAR(facts.exact.dq[0].high, 2 * facts.exact.dk[1].high, kDoubles);
}

TEST(Gradients, ASaturatedSoftcapStopsTheGradientOfTheScoreAndNothingElse) {
  GradientInputs inputs = scored_gradients({1e300, -1e300}, {1, -1}, 1, 0);
  inputs.softcap = 1;
  const GradientFacts facts = gradient_facts(inputs);
  EXPECT_GT(std::abs(facts.exact.dbias[0].high), 0.1);
  EXPECT_LE(facts.exact.dk[0].distance_upper(0), 0x1p-1000);
  EXPECT_LE(facts.exact.dq[0].distance_upper(0), 0x1p-1000);
}

TEST(Gradients, RowsThatSeeNothingAndMaskedKeysAreExactlyZero) {
  GradientDraw<float> draw(1);
  for (int i = 0; i < 50; ++i) {
    GradientInputs inputs = draw.next();
    const GradientFacts without = gradient_facts(inputs);
    GradientRow blind = inputs.rows[0];
    blind.keys.clear();
    blind.addends.clear();
    blind.sink.reset();
    blind.q[0] = blind.output_gradient[0] = std::numeric_limits<double>::quiet_NaN();
    inputs.rows.insert(inputs.rows.begin(), blind);
    ++inputs.keys;  // nobody sees the last key
    inputs.k.resize(inputs.k.size() + static_cast<std::size_t>(inputs.head_dim),
                    std::numeric_limits<double>::quiet_NaN());
    inputs.v.resize(inputs.v.size() + static_cast<std::size_t>(inputs.head_dim_v),
                    std::numeric_limits<double>::infinity());
    const GradientFacts facts = gradient_facts(inputs);
    for (Index c = 0; c < inputs.head_dim; ++c)
      EXPECT_THAT(facts.exact.dq[static_cast<std::size_t>(c)], IsExactly(0));
    for (std::size_t at = without.exact.dk.size(); at < facts.exact.dk.size(); ++at)
      EXPECT_THAT(facts.exact.dk[at], IsExactly(0));
    for (std::size_t at = 0; at < without.exact.dk.size(); ++at)
      EXPECT_EQ(facts.exact.dk[at].high, without.exact.dk[at].high);
    for (std::size_t at = 0; at < without.exact.dv.size(); ++at)
      EXPECT_EQ(facts.exact.dv[at].high, without.exact.dv[at].high);
    EXPECT_THAT(facts.exact.dsink[0], IsExactly(0));
    for (std::size_t r = 0; r < inputs.rows.size(); ++r)
      for (Index j = 0; j < inputs.keys; ++j) {
        const std::vector<Index>& seen = inputs.rows[r].keys;
        if (std::count(seen.begin(), seen.end(), j) > 0) continue;
        const std::size_t at = r * static_cast<std::size_t>(inputs.keys);
        EXPECT_THAT(facts.exact.dbias[at + static_cast<std::size_t>(j)], IsExactly(0));
      }
  }
}

TEST(Gradients, OfScoresThatAreFartherApartThanDoublesOfTheirSizeAreRight) {
  // Scores of 2^126 + 2^72 and 0: the nearest double of the first is 2^72 away from it.
  GradientInputs inputs = scored_gradients({0x1p63, 0}, {3, 7}, 1, 0.5);
  inputs.head_dim = 2;
  inputs.k = {0x1p63, 0x1p36, 0, 0};
  inputs.rows[0].q = {0x1p63, 0x1p36};
  const GradientFacts facts = gradient_facts(inputs);
  EXPECT_THAT(facts.exact.dv, ElementsAre(Contains(1.0), Contains(0.0)));
  EXPECT_THAT(facts.exact.dbias, ElementsAre(Contains(0.5), Contains(0.0)));
}

TEST(Gradients, OfWhatIsSeenAndNotFiniteThereAreNone) {
  const GradientInputs good = scored_gradients({0, 1}, {1, 2}, 1, 1);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  GradientInputs bad = good;
  bad.k[1] = nan;
  EXPECT_FALSE(enclose_gradients(bad, 128).has_value());
  bad = good;
  bad.v[0] = nan;
  EXPECT_FALSE(enclose_gradients(bad, 128).has_value());
  bad = good;
  bad.rows[0].output_gradient[0] = nan;
  EXPECT_FALSE(enclose_gradients(bad, 128).has_value());
  bad = good;
  bad.rows[0].lse_gradient = nan;
  EXPECT_FALSE(enclose_gradients(bad, 128).has_value());
  bad = good;
  bad.rows[0].q[0] = 1e300;  // 1e300 * 1e300: no double holds the score
  bad.k[1] = 1e300;
  EXPECT_FALSE(enclose_gradients(bad, 128).has_value());
}

TEST(Gradients, ASinkWithoutKeysTakesTheGradientOfTheLse) {
  GradientInputs inputs = scored_gradients({1}, {1}, 7, -3);
  inputs.rows[0].keys.clear();
  inputs.rows[0].sink = 0.7;
  const GradientFacts facts = gradient_facts(inputs);
  EXPECT_THAT(facts.exact.dsink, ElementsAre(Contains(-3.0)));
  EXPECT_THAT(facts.exact.dq, Each(IsExactly(0)));
  EXPECT_THAT(facts.exact.dv, Each(IsExactly(0)));
}

TEST(Gradients, OfTheScoresAndTheSinkOfARowSumToTheGradientOfTheLse) {
  // d lse / d s_j = p_j, and p . (dP - dout . o) = 0 with the sink as a key of value 0.
  GradientDraw<double> draw(2);
  for (int i = 0; i < 300; ++i) {
    GradientInputs inputs = draw.next();
    inputs.bias_before_softcap = false;  // the gradient of the final score
    const GradientFacts facts = gradient_facts(inputs);
    for (std::size_t r = 0; r < inputs.rows.size(); ++r) {
      Total total;
      for (std::size_t j = 0; j < static_cast<std::size_t>(inputs.keys); ++j)
        total.add(facts.exact.dbias[r * static_cast<std::size_t>(inputs.keys) + j]);
      total.add(facts.exact.dsink[r]);
      const bool sees = !inputs.rows[r].keys.empty() || inputs.rows[r].sink;
      EXPECT_TRUE(total.contains(sees ? inputs.rows[r].lse_gradient : 0))
          << "case " << i << " row " << r << ": " << total.sum;
    }
  }
}

TEST(Gradients, OfTheValuesSumToTheGradientsOfTheOutputs) {
  GradientDraw<double> draw(3);
  for (int i = 0; i < 300; ++i) {
    GradientInputs inputs = draw.next();
    for (GradientRow& row : inputs.rows) row.sink.reset();
    const GradientFacts facts = gradient_facts(inputs);
    for (std::size_t c = 0; c < static_cast<std::size_t>(inputs.head_dim_v); ++c) {
      Total total;
      for (std::size_t at = c; at < facts.exact.dv.size();
           at += static_cast<std::size_t>(inputs.head_dim_v))
        total.add(facts.exact.dv[at]);
      for (const GradientRow& row : inputs.rows)
        if (!row.keys.empty()) total.add({row.output_gradient[c], 0, 0}, -1);
      EXPECT_TRUE(total.contains(0)) << "case " << i << ": " << total.sum;
    }
  }
}

TEST(Gradients, ConstantValuesGiveNoGradientOfScoresWithoutOneOfTheLse) {
  GradientDraw<double> draw(4);
  for (int i = 0; i < 100; ++i) {
    GradientInputs inputs = draw.next();
    for (std::size_t at = 0; at < inputs.v.size(); ++at)
      inputs.v[at] = static_cast<double>(at % static_cast<std::size_t>(inputs.head_dim_v)) + 0.3;
    for (GradientRow& row : inputs.rows) {
      row.sink.reset();
      row.lse_gradient = 0;
    }
    const GradientFacts facts = gradient_facts(inputs);
    EXPECT_THAT(facts.exact.dq, Each(Contains(0.0)));
    EXPECT_THAT(facts.exact.dk, Each(Contains(0.0)));
    EXPECT_THAT(facts.exact.dbias, Each(Contains(0.0)));
  }
}

TEST(Gradients, AHigherPrecisionLiesWithinALower) {
  GradientDraw<double> draw(5);
  for (int i = 0; i < 40; ++i) {
    const GradientInputs inputs = draw.next();
    const GradientFacts best = gradient_facts(inputs, 768);
    for (const int bits : {128, 192, 384}) {
      const GradientFacts facts = gradient_facts(inputs, bits);
      for (std::size_t list = 0; list < kGradientNames.size(); ++list)
        for (std::size_t at = 0; at < facts.exact.lists()[list]->size(); ++at) {
          const Enclosure& wide = (*facts.exact.lists()[list])[at];
          const Enclosure& narrow = (*best.exact.lists()[list])[at];
          // The pair of doubles of `narrow` is off by its own radius.
          const double apart = std::abs((wide.high - narrow.high) + (wide.low - narrow.low));
          EXPECT_LE(apart, (wide.radius + narrow.radius) * (1 + 0x1p-50) +
                               std::numeric_limits<double>::denorm_min())
              << kGradientNames[list] << " at " << bits << " bits";
        }
    }
  }
}

}  // namespace
}  // namespace attest::reference
