// Rows with softcap, bias and sink, and the summaries of rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "reference/oracle.hpp"
#include "reference/test_row_facts.hpp"
#include "reference/test_rows.hpp"

namespace attest::reference {
namespace {

using testing::Each;
using testing::ElementsAre;

constexpr double kInfinite = std::numeric_limits<double>::infinity();

RowFacts facts_of(const Row& row, int bits = 128) {
  std::optional<RowFacts> facts = enclose_row(row, bits);
  EXPECT_TRUE(facts.has_value());
  return std::move(facts).value_or(RowFacts{});
}

void expect_same(const Enclosure& left, const Enclosure& right) {
  EXPECT_EQ(left.high, right.high);
  EXPECT_EQ(left.low, right.low);
  EXPECT_EQ(left.radius, right.radius);
}

/// |enclosure - value| is at most the radius and `error`.
void expect_near(const Enclosure& enclosure, long double value, long double error) {
  const long double off = (value - enclosure.high) - enclosure.low;
  EXPECT_LE(std::abs(off), enclosure.radius + error) << enclosure.high;
}

TEST(RowTerms, ASinkIsAKeyOfItsScoreWhoseValuesAreZero) {
  for (const double sink : {0.25, -3.0, 100.0}) {
    Row row = scored_row({1, -0.5}, {3, 0.1, -7, 5});
    row.sink = sink;
    const RowFacts with_sink = facts_of(row);
    const RowFacts as_key = facts_of(scored_row({1, -0.5, sink}, {3, 0.1, -7, 5, 0, 0}));
    EXPECT_THAT(with_sink.keys, ElementsAre(0, 1, RowFacts::kSinkKey));
    EXPECT_TRUE(with_sink.has_sink());
    EXPECT_EQ(with_sink.visible_keys(), 2);
    EXPECT_EQ(with_sink.score, as_key.score);
    EXPECT_THAT(with_sink.score_radius, Each(0));
    EXPECT_EQ(with_sink.score_magnitude.back(), 0);
    EXPECT_EQ(with_sink.score_magnitude.size(), 3U);
    EXPECT_EQ(with_sink.probability, as_key.probability);
    EXPECT_EQ(with_sink.value, as_key.value);
    for (std::size_t c = 0; c < 2; ++c) expect_same(with_sink.output[c], as_key.output[c]);
    expect_same(with_sink.lse, as_key.lse);
    EXPECT_EQ(with_sink.score_max, as_key.score_max);
    EXPECT_EQ(with_sink.log_sum, as_key.log_sum);
  }
}

TEST(RowTerms, ASinkWithoutKeysGivesZeroAndItself) {
  const Row row = sink_row(-2.75, 2);
  for (const int bits : kPrecisionLadder) {
    const RowFacts facts = facts_of(row, bits);
    EXPECT_THAT(facts.output, ElementsAre(IsExactly(0.0), IsExactly(0.0)));
    EXPECT_THAT(facts.lse, IsExactly(-2.75));
    EXPECT_EQ(facts.visible_keys(), 0);
    EXPECT_THAT(facts.probability, ElementsAre(1));
    EXPECT_THAT(facts.value, ElementsAre(0, 0));
    EXPECT_EQ(facts.log_sum, 0);
  }
  const auto certified = certify_row(row, [](const RowFacts& facts) {
    ADD_FAILURE() << "the rule was asked";
    return uniform_bound(facts, 1, 1);
  });
  ASSERT_TRUE(certified.has_value());
  EXPECT_TRUE(certified->narrow);
  EXPECT_THAT(certified->bound.output, ElementsAre(0, 0));
  EXPECT_EQ(certified->bound.lse, 0);
}

TEST(RowTerms, ABiasIsAddedToTheScoreAndNotToItsMagnitude) {
  Row row = scored_row({1, -0.5}, {3, -7});
  row.addends = {added({-1.5, 4})};
  const RowFacts facts = facts_of(row);
  const RowFacts sums = facts_of(scored_row({-0.5, 3.5}, {3, -7}));
  EXPECT_EQ(facts.score, sums.score);
  EXPECT_EQ(facts.addends, row.addends);
  EXPECT_TRUE(sums.addends.empty());
  EXPECT_THAT(facts.score_magnitude, ElementsAre(IsJustAbove(1.0), IsJustAbove(0.5)));
  expect_same(facts.output[0], sums.output[0]);
  expect_same(facts.lse, sums.lse);
  row.sink = 0;
  EXPECT_THAT(facts_of(row).addends, ElementsAre(added({-1.5, 4, 0})));
}

TEST(RowTerms, TheInputMagnitudeIsTheLargestSumOfQueryAndKey) {
  Row row = row_of({1, -2}, {3, -4, 0.25, 1}, {1, 2});
  row.scale = 0;  // it plays no part
  row.sink = 50;
  EXPECT_THAT(facts_of(row).input_magnitude_max, IsJustAbove(10.0));
}

/// With u = 2^-64 and glibc's tanhl within 4 ulp = 8 u: x is exact, the quotient, tanh (of which a
/// relative error of the argument makes a smaller one), the product and the sum with the bias
/// round; doubled for the second order.
TEST(RowTerms, ASoftcapIsTheTanhOfTheScoreBeforeTheBias) {
  const long double u = 0x1p-64L;
  for (const double x : {0.0, 0.25, -1.5, 30.0, -300.0, 0x1p-80})
    for (const double softcap : {5.0, 0.3, 50.0, -5.0})
      for (const double bias : {0.0, 2.5}) {
        SCOPED_TRACE(x);
        Row row = scored_row({x}, {1});
        row.softcap = softcap;
        row.addends = {added({bias})};
        const RowFacts facts = facts_of(row);
        const long double cap = softcap;
        const long double capped = cap * std::tanh(x / cap);
        expect_near(facts.lse, capped + bias, 2 * u * (11 * std::abs(capped) + std::abs(bias)));
        EXPECT_EQ(facts.softcap, softcap);
        EXPECT_THAT(facts.score_magnitude, ElementsAre(IsJustAbove(std::abs(x))));
        EXPECT_LE(std::abs(facts.score[0] - bias), std::abs(softcap));
      }
}

/// cap tanh((x + a) / cap) + b: what is added before the softcap is capped, too.
TEST(RowTerms, WhatIsAddedBeforeTheSoftcapIsCapped) {
  const long double u = 0x1p-64L;
  for (const double before : {0.75, -6.0, 0x1p60}) {
    Row row = scored_row({0.25}, {1});
    row.softcap = 5;
    row.addends = {added({2.5}), added_before({before}), added({-0.125}), added_before({0.5})};
    const long double capped = 5 * std::tanh((0.75L + before) / 5);
    expect_near(facts_of(row).lse, capped + 2.375L, 2 * u * (11 * std::abs(capped) + 3));
    row.softcap = 0;  // then everything is a sum
    expect_near(facts_of(row).lse, 3.125L + before, 0);
  }
}

TEST(RowTerms, ASoftcapOfTheOtherSignIsTheSame) {
  for (std::uint64_t seed = 0; seed < 32; ++seed) {
    Row row = random_row(seed);
    RowFacts left = facts_of(row);
    row.softcap = -row.softcap;
    RowFacts right = facts_of(row);
    EXPECT_EQ(bits_of(left), bits_of(right));
  }
}

TEST(RowTerms, EnclosuresOfRisingPrecisionMeetAndNarrow) {
  for (std::uint64_t seed = 0; seed < 64; ++seed) {
    SCOPED_TRACE(seed);
    const Row row = random_row(seed);
    const RowFacts rough = facts_of(row);
    const RowFacts fine = facts_of(row, kPrecisionLadder.back());
    for (std::size_t c = 0; c < rough.output.size(); ++c) {
      EXPECT_LE(fine.output[c].radius, rough.output[c].radius);
      expect_near(rough.output[c],
                  static_cast<long double>(fine.output[c].high) + fine.output[c].low,
                  fine.output[c].radius + 0x1p-63L * std::abs(fine.output[c].high));
    }
    EXPECT_LE(fine.lse.radius, rough.lse.radius);
  }
}

TEST(RowTerms, ScoresFarBeyondTheWorkingPrecisionAreEnclosed) {
  // The scores are 2^200 + 1 and 2^200, of which 128 bits and a double hold the second.
  const Row row = row_of({0x1p100, 1}, {0x1p100, 1, 0x1p100, 0}, {0, 1});
  const double p = 1 / (1 + std::exp(1.0));  // of the second; exp and the rest within 4 ulp
  for (const int bits : kPrecisionLadder) {
    const RowFacts facts = facts_of(row, bits);
    EXPECT_TRUE(std::isfinite(facts.lse.radius));
    EXPECT_LE(facts.output[0].distance_lower(p), 0x1p-50);
    for (const double probability : facts.probability) EXPECT_LE(probability, 1);
    if (bits > 210) {
      EXPECT_LE(facts.output[0].radius, 0x1p-100);
    }
  }
  // The nearest double of the largest score is 2^146 away from it: weights relative to that double
  // would underflow.
  const Row far = row_of({0x1p100, 1}, {0x1p100, 0x1p146, 0x1p100, 0}, {7, 1});
  for (const int bits : kPrecisionLadder)
    EXPECT_LE(facts_of(far, bits).output[0].distance_lower(7), 0);
  const auto certified = certify_row(
      row, [](const RowFacts& facts) { return uniform_bound(facts, 0x1p-53, 0x1p150); });
  ASSERT_TRUE(certified.has_value());
  EXPECT_TRUE(certified->narrow);
  EXPECT_EQ(certified->bits, 384);
}

TEST(RowTerms, AConstantColumnIsExactHoweverLargeTheScores) {
  for (const double size : {1.0, 0x1p100, 0x1p400}) {
    Row row = row_of({size, 0.1}, {size, 0.3, -size, 0.7, size, 0.9}, {0.1, 2, 0.1, 3, 0.1, 4});
    for (const int bits : kPrecisionLadder) {
      EXPECT_THAT(facts_of(row, bits).output[0], IsExactly(0.1));
      EXPECT_GE(facts_of(row, bits).output[1].radius, 0);
    }
    row.sink = size * size;
    EXPECT_THAT(facts_of(row).output[0], testing::Not(IsExactly(0.1)));
  }
}

TEST(RowTerms, ATermThatIsNotFiniteHasNoExactRow) {
  for (const double special : {kInfinite, -kInfinite, std::nan("")})
    for (int part = 0; part < 8; ++part) {
      Row row = scored_row({1, 2}, {3, 4});
      row.addends = {added_before({0, 0}), added({0, 0})};
      if (part == 0) row.addends[1].value[1] = special;
      if (part == 7) row.addends[0].value[0] = special;
      if (part == 1) row.sink = special;
      if (part == 2) row.softcap = special;
      if (part == 3) row.scale = special;
      if (part == 4) row.q[0] = special;
      if (part == 5) row.k[1] = special;
      if (part == 6) row.v[1] = special;
      EXPECT_FALSE(enclose_row(row, 128).has_value()) << part;
      EXPECT_FALSE(enclose_summary(row, 0, 128).has_value()) << part;
    }
  Row row = scored_row({0x1p1023}, {1});
  row.addends = {added({0x1p1023})};
  EXPECT_FALSE(enclose_row(row, 128).has_value());
}

SummaryFacts summary_of(const Row& row, double row_max, int bits = 128) {
  std::optional<SummaryFacts> facts = enclose_summary(row, row_max, bits);
  EXPECT_TRUE(facts.has_value());
  return std::move(facts).value_or(SummaryFacts{});
}

TEST(Summary, OfEqualScoresIsACountAndASum) {
  const SummaryFacts facts = summary_of(scored_row({-3, -3, -3}, {1, 0.5, 2, 4, -8, 0}), -3);
  EXPECT_THAT(facts.row_max, IsExactly(-3.0));
  EXPECT_THAT(facts.row_sum, IsExactly(3.0));
  EXPECT_THAT(facts.numerator, ElementsAre(IsExactly(-5.0), IsExactly(4.5)));
}

TEST(Summary, IsRelativeToTheMaximumThatIsGiven) {
  for (std::uint64_t seed = 0; seed < 64; ++seed) {
    SCOPED_TRACE(seed);
    const Row row = random_row(seed);
    const RowFacts facts = facts_of(row, 384);
    const double score_max = facts.score_max;
    for (const double row_max : {score_max, score_max + 3.25, score_max - 40}) {
      const SummaryFacts summary = summary_of(row, row_max, 384);
      EXPECT_EQ(summary.row_max.high, score_max);
      EXPECT_LE(
          std::abs(summary.row_max.low),
          facts.score_radius[static_cast<std::size_t>(
              std::max_element(facts.score.begin(), facts.score.end()) - facts.score.begin())]);
      // lse = row_max + ln row_sum and o_c = numerator_c / row_sum, in long double with u = 2^-64,
      // logl within 8 u, numbers rounded once each: 11 roundings with the rest, doubled.
      const auto wide = [](const Enclosure& each) {
        return static_cast<long double>(each.high) + each.low;
      };
      const long double logarithm = std::log(wide(summary.row_sum));
      expect_near(facts.lse, row_max + logarithm,
                  0x1p-63L * (11 * std::abs(logarithm) + 2 + 2 * std::abs(row_max)));
      for (std::size_t c = 0; c < facts.output.size(); ++c)
        expect_near(facts.output[c], wide(summary.numerator[c]) / wide(summary.row_sum),
                    0x1p-63L * 4 * std::abs(facts.output[c].high));
      EXPECT_LE(summary.row_sum.radius, 0x1p-100 * summary.row_sum.high);
    }
  }
}

TEST(Summary, TheSinkIsAKeyOfValueZero) {
  Row row = scored_row({2, 2}, {3, 4});
  row.sink = 2;
  const SummaryFacts facts = summary_of(row, 2);
  EXPECT_THAT(facts.row_sum, IsExactly(3.0));
  EXPECT_THAT(facts.numerator, ElementsAre(IsExactly(7.0)));
  const SummaryFacts alone = summary_of(sink_row(5, 1), 5);
  EXPECT_THAT(alone.row_max, IsExactly(5.0));
  EXPECT_THAT(alone.row_sum, IsExactly(1.0));
  EXPECT_THAT(alone.numerator, ElementsAre(IsExactly(0.0)));
}

TEST(Summary, OfAnEmptyRowIsMinusInfinityAndZero) {
  Row row;
  row.head_dim_v = 2;
  const SummaryFacts facts = summary_of(row, 1.5);
  EXPECT_THAT(facts.row_max, IsExactly(-kInfinite));
  EXPECT_THAT(facts.row_sum, IsExactly(0.0));
  EXPECT_THAT(facts.numerator, ElementsAre(IsExactly(0.0), IsExactly(0.0)));
  EXPECT_FALSE(enclose_summary(row, -kInfinite, 128).has_value());
}

TEST(Summary, ThatExceedsTheDoublesIsNone) {
  const Row row = scored_row({710, 0}, {1, 2});
  EXPECT_FALSE(enclose_summary(row, 0, 128).has_value());  // exp(710) is above 2^1024
  EXPECT_TRUE(enclose_summary(row, 1, 128).has_value());   // and exp(709) is below
  EXPECT_FALSE(enclose_summary(row, kInfinite, 128).has_value());
  EXPECT_FALSE(enclose_summary(row, std::nan(""), 128).has_value());
  const SummaryFacts tiny = summary_of(row, 1e300);
  EXPECT_THAT(tiny.row_sum, Contains(0.0));
  EXPECT_GT(tiny.row_sum.radius, 0);
}

}  // namespace
}  // namespace attest::reference
