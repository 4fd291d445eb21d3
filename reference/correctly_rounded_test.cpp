// The output rounded once: ties, exact outputs, and outputs that only look like ties.
#include "reference/correctly_rounded.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "reference/interval_format.hpp"
#include "reference/oracle.hpp"
#include "reference/test_rows.hpp"

namespace attest::reference {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

struct NamedFormat {
  const char* name;
  Format format;
};
const std::vector<NamedFormat>& formats() {
  static const std::vector<NamedFormat> all{{"f32", kF32}, {"f64", kF64},   {"bf16", kBf16},
                                            {"f16", kF16}, {"e4m3", kE4m3}, {"e5m2", kE5m2}};
  return all;
}

/// Every number of a narrow format from 0 up, as its definition lists them: the index of a number
/// is even when its significand is.
std::vector<double> numbers_of(const Format& format) {
  std::vector<double> numbers;
  const double steps = 0.5 / format.unit_roundoff;  // in a binade
  const double subnormal = format.min_normal / steps;
  for (double m = 0; m < steps; ++m) numbers.push_back(m * subnormal);
  for (double scale = subnormal; scale * steps <= format.max_finite; scale *= 2)
    for (double m = steps; m < 2 * steps && m * scale <= format.max_finite; ++m)
      numbers.push_back(m * scale);
  return numbers;
}

TEST(RoundToFormat, EveryBoundaryOfTheNarrowFormatsIsWhereItIs) {
  for (const auto& [name, format] : formats()) {
    if (format == kF64 || format == kF32) continue;
    SCOPED_TRACE(name);
    std::vector<double> numbers = numbers_of(format);
    const std::size_t finite = numbers.size();
    // One more, as if the exponent went on: what rounds to it is beyond the format.
    numbers.push_back(2 * numbers[finite - 1] - numbers[finite - 2]);
    const auto expected = [&](std::size_t i) { return i < finite ? numbers[i] : kInfinite; };
    for (std::size_t i = 0; i < finite; ++i) {
      const double middle = (numbers[i] + numbers[i + 1]) / 2;
      ASSERT_EQ(round_to_format(numbers[i], format), numbers[i]);
      ASSERT_EQ(round_to_format(middle, format), expected(i % 2 == 0 ? i : i + 1)) << numbers[i];
      ASSERT_EQ(round_to_format(std::nextafter(middle, 0.0), format), expected(i));
      ASSERT_EQ(round_to_format(-std::nextafter(middle, kInfinite), format), -expected(i + 1));
    }
    EXPECT_EQ(round_to_format(1e300, format), kInfinite);
    EXPECT_EQ(round_to_format(-1e-300, format), 0);
    EXPECT_TRUE(std::signbit(round_to_format(-1e-300, format)));
  }
}

TEST(Neighbours, OfTheLargestNumberIsInfinityAndTheOtherWayRound) {
  for (const auto& [name, format] : formats()) {
    if (format == kF64) continue;  // the boundary is no double
    SCOPED_TRACE(name);
    const double largest = format.max_finite;
    const Neighbour above = neighbour_above(largest, format);
    EXPECT_EQ(above.value, kInfinite);
    const Neighbour below = neighbour_below(kInfinite, format);
    EXPECT_EQ(below.value, largest);
    EXPECT_NE(mpfr_equal_p(above.boundary.get(), below.boundary.get()), 0);
    const double boundary = mpfr_get_d(above.boundary.get(), MPFR_RNDN);
    EXPECT_EQ(round_to_format(std::nextafter(boundary, 0.0), format), largest);
    EXPECT_EQ(round_to_format(std::nextafter(boundary, kInfinite), format), kInfinite);
  }
}

TEST(RoundToFormat, FloatsAreThoseOfTheProcessor) {
  std::mt19937_64 random(3);
  for (int draw = 0; draw < 20000; ++draw) {
    const double x = random_double(random, static_cast<int>(random() % 300) - 160);
    const double middle = (static_cast<double>(static_cast<float>(x)) +
                           static_cast<double>(std::nextafter(static_cast<float>(x), 0.0F))) /
                          2;
    for (const double each : {x, middle}) {
      ASSERT_EQ(round_to_format(each, kF32), static_cast<double>(static_cast<float>(each))) << each;
      ASSERT_EQ(round_to_format(each, kF64), each);
    }
  }
}

void expect(const Row& row, const Format& format, double value, bool exact) {
  const RoundedOutput found = correctly_rounded(row, 0, format);
  EXPECT_TRUE(found.decided);
  EXPECT_EQ(found.value, value);
  EXPECT_EQ(std::signbit(found.value), std::signbit(value));
  EXPECT_EQ(found.exact, exact);
}

TEST(CorrectlyRounded, AConstantColumnIsTheConstantRounded) {
  const double tie = 1 + 0x1p-8;  // halfway between two numbers of bf16
  for (const double constant : {3.5, tie, 1 + 0x3p-8, -tie, 0x1p-134, 0x3p-134, 0x1.ffp127}) {
    SCOPED_TRACE(constant);
    const Row row = scored_row({0.1, -2, 7}, {constant, constant, constant});
    for (const auto& each : formats())
      expect(row, each.format, round_to_format(constant, each.format), true);
  }
  expect(scored_row({0.1, 7}, {tie, tie}), kBf16, 1, true);
  expect(scored_row({0.1, 7}, {1 + 0x3p-8, 1 + 0x3p-8}), kBf16, 1 + 0x1p-6, true);
}

TEST(CorrectlyRounded, OneKeyIsItsValueRounded) {
  expect(scored_row({0.3}, {0.1}), kF32, static_cast<double>(0.1F), true);
  expect(scored_row({0.3}, {464}), kE4m3, 448, true);  // 448 is even, and no infinity takes it
  expect(scored_row({0.3}, {std::nextafter(464.0, 500.0)}), kE4m3, kInfinite, true);
  expect(scored_row({0.3}, {65520}), kF16, kInfinite, true);  // 65504 is odd
  expect(scored_row({0.3}, {std::nextafter(65520.0, 0.0)}), kF16, 65504, true);
}

TEST(CorrectlyRounded, ZeroValuesGivePlusZero) {
  for (const auto& each : formats()) {
    expect(scored_row({0.3, 4}, {0.0, -0.0}), each.format, 0.0, true);
    expect(sink_row(2, 1), each.format, 0.0, true);
    expect(Row{}, each.format, 0.0, true);
  }
}

TEST(CorrectlyRounded, ValuesThatAreOppositeInEveryClassGivePlusZero) {
  for (const auto& each : formats())
    expect(scored_row({0.3, 4, 0.3, 4}, {7, 0x1p-140, -7, -0x1p-140}), each.format, 0.0, true);
}

TEST(CorrectlyRounded, ValuesThatMirrorInEveryClassGiveTheMiddle) {
  // 1 +- 2^-8 +- anything: the means of both classes are the tie of bf16.
  const double tie = 1 + 0x1p-8;
  const Row row = scored_row({0.3, 4, 0.3, 4}, {tie + 3, tie - 0.5, tie - 3, tie + 0.5});
  expect(row, kBf16, 1, true);
  expect(row, kF16, tie, false);  // a number of f16: the first enclosure rounds to it
}

TEST(CorrectlyRounded, TwoKeysOfEqualScoreGiveTiesInBothDirections) {
  for (const double sign : {1.0, -1.0}) {
    expect(scored_row({2, 2}, {sign, sign * (1 + 0x1p-7)}), kBf16, sign, true);
    expect(scored_row({2, 2}, {sign * (1 + 0x1p-7), sign * (1 + 0x1p-6)}), kBf16,
           sign * (1 + 0x1p-6), true);
  }
}

TEST(CorrectlyRounded, EqualScoresOfDifferentProductsAreOneClass) {
  // Both scores are 0.1 * 0.1 + 2^-200, which neither a double nor 128 bits hold.
  const auto mean_of = [](double left, double right) {
    return row_of({0.1, 0x1p-200, 0.05}, {0.1, 1, 0, 0, 1, 0.2}, {left, right});
  };
  expect(mean_of(1, 1 + 0x1p-7), kBf16, 1, true);
  expect(mean_of(1 + 0x1p-7, 1 + 0x1p-6), kBf16, 1 + 0x1p-6, true);
}

TEST(CorrectlyRounded, MiddlesOfSubnormalNumbersGoToTheEvenOne) {
  for (const auto& [name, format] : formats()) {
    SCOPED_TRACE(name);
    const double unit = format.min_normal * (2 * format.unit_roundoff);
    expect(scored_row({2, 2}, {unit, 0}), format, 0, true);
    expect(scored_row({2, 2}, {-unit, -2 * unit}), format, -2 * unit, true);
    expect(scored_row({2, 2, 2}, {unit, unit, 0}), format, unit, false);  // 2/3 of one
  }
}

TEST(CorrectlyRounded, MeansThatAreNoDoubleAreRoundedOnce) {
  for (const auto& [name, format] : formats()) {
    SCOPED_TRACE(name);
    if (format == kF64) continue;  // halfway is no double there
    const double step = 2 * format.unit_roundoff;
    // (1 + step / 2, twice that and t) have the mean 1 + step / 2 + t / 3: on the side of t, which
    // no enclosure of the ladder shows. The even neighbour is 1 there and above in the second row.
    for (const double t : {0x1p-1000, -0x1p-1000}) {
      const double low_tie = 1 + step / 2;
      const double high_tie = 1 + 1.5 * step;
      expect(scored_row({2, 2, 2}, {low_tie, 2 * low_tie, t}), format, t > 0 ? 1 + step : 1, t > 0);
      expect(scored_row({2, 2, 2}, {high_tie, 2 * high_tie, t}), format,
             t > 0 ? 1 + 2 * step : 1 + step, t < 0);
    }
  }
}

TEST(CorrectlyRounded, ATranscendentalOutputBesideATieGoesToItsSide) {
  // The first weight is exp(1000) times the second: 768 bits do not show the second in the output.
  const double tie = 1 + 0x1p-8;
  for (const double far : {-1000.0, -1e6, -1e300}) {
    expect(scored_row({0, far}, {tie, 2}), kBf16, 1 + 0x1p-7, false);
    expect(scored_row({0, far}, {tie, 0}), kBf16, 1, false);
    expect(scored_row({0, far, far}, {tie, 0, 3 * tie}), kBf16, 1 + 0x1p-7, false);
  }
  Row row = scored_row({0}, {1 + 0x3p-8});
  row.sink = -1000;  // a sink draws towards 0
  expect(row, kBf16, 1 + 0x1p-7, false);
}

TEST(CorrectlyRounded, TwoKeysOfDifferentScoreNeedNoClasses) {
  const RoundedOutput found = correctly_rounded(scored_row({0, 1}, {1, 2}), 0, kBf16);
  EXPECT_TRUE(found.decided);
  EXPECT_FALSE(found.exact);
  EXPECT_EQ(found.bits, kPrecisionLadder.front());
  EXPECT_EQ(found.value, round_to_format(1 + 1 / (1 + std::exp(-1.0)), kBf16));
}

TEST(CorrectlyRounded, SymmetricScoresOfOppositeValuesAreDecidedByTheirSign) {
  expect(scored_row({0x1p-60, -0x1p-60}, {1, -1}), kF32, 0x1p-60, false);
  // o = tanh(2^-200): the difference of two numbers that 128 and 192 bits hold equal.
  const RoundedOutput found =
      correctly_rounded(scored_row({0x1p-200, -0x1p-200}, {1, -1}), 0, kF64);
  EXPECT_TRUE(found.decided);
  EXPECT_EQ(found.bits, 384);
  EXPECT_EQ(found.value, 0x1p-200);
}

TEST(CorrectlyRounded, WhatTheLadderDoesNotReachIsUndecided) {
  // The scores differ by 2^-2000, so that the output is about 2^-2001: no 0, and not seen.
  Row row = row_of({0x1p-1000, 1}, {0x1p-1000, 1, 0, 1}, {1, -1});
  for (const double softcap : {0.0, 5.0}) {
    row.softcap = softcap;
    const RoundedOutput found = correctly_rounded(row, 0, kF64);
    EXPECT_FALSE(found.decided);
    EXPECT_TRUE(std::isnan(found.value));
    EXPECT_EQ(found.bits, kPrecisionLadder.back());
  }
}

TEST(CorrectlyRounded, UnderASoftcapClassesAreEqualPairsOfDotProductAndBias) {
  const double tie = 1 + 0x1p-8;
  Row row = scored_row({0.3, 4, 0.3, 4}, {tie + 3, tie - 0.5, tie - 3, tie + 0.5});
  row.softcap = 5;
  expect(row, kBf16, 1, true);
  row.addends = {added({0.5, -1, 0.5, -1})};
  expect(row, kBf16, 1, true);
  // Two sums that are equal, before and after the softcap.
  row.addends = {added({0.25, -1, 1, -1}), added({0.25, 0, -0.5, 0}),
                 added_before({1, 0x1p-70, 1, 0x1p-70})};
  expect(row, kBf16, 1, true);
  // A dot product of 0 and no bias is a score of 0, and so is this sink.
  Row with_sink = scored_row({0}, {2 + 0x1p-7 + 0x1p-8});
  with_sink.softcap = 5;
  with_sink.sink = 0;
  expect(with_sink, kBf16, 1 + 0x1p-7, true);
  with_sink.v = {2 * tie};
  expect(with_sink, kBf16, 1, true);
  // Equal products with other biases are other scores: 4 exp(0.5) and 0 against exp(0).
  row.addends = {added({0.5, -1, 0, -1})};
  const RoundedOutput found = correctly_rounded(row, 0, kBf16);
  EXPECT_TRUE(found.decided);
  EXPECT_FALSE(found.exact);
}

TEST(CorrectlyRounded, TheBiasIsPartOfTheScore) {
  Row row = scored_row({0.25, 0.5}, {1, 1 + 0x1p-7});
  row.addends = {added({0.5, 0}), added_before({0, 0.25})};
  expect(row, kBf16, 1, true);
  row.sink = 0.75;  // the mean of three with 0
  expect(row, kBf16, round_to_format((2 + 0x1p-7) / 3, kBf16), false);
}

TEST(CorrectlyRounded, ARowThatIsNotFiniteIsUndecided) {
  for (const double special : {kInfinite, std::nan("")}) {
    Row row = scored_row({1, 2}, {3, 4});
    row.v[1] = special;
    EXPECT_FALSE(correctly_rounded(row, 0, kF32).decided);
    row = scored_row({1, special}, {3, 4});
    EXPECT_FALSE(correctly_rounded(row, 0, kF32).decided);
    row = scored_row({1, 2}, {3, 4});
    row.sink = special;
    EXPECT_FALSE(correctly_rounded(row, 0, kF32).decided);
  }
  EXPECT_FALSE(correctly_rounded(row_of({0x1p600}, {0x1p600, 1}, {3, 4}), 0, kF32).decided);
}

TEST(CorrectlyRounded, RandomRowsAreTheirEnclosuresRounded) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    const Row row = random_row(seed);
    const std::optional<RowFacts> facts = enclose_row(row, kPrecisionLadder.back());
    ASSERT_TRUE(facts.has_value());
    for (const auto& [name, format] : formats()) {
      SCOPED_TRACE(name);
      const std::vector<RoundedOutput> all = correctly_rounded(row, format);
      ASSERT_EQ(all.size(), facts->output.size());
      for (std::size_t c = 0; c < all.size(); ++c) {
        EXPECT_TRUE(all[c].decided);
        // No random output comes within 2^-53 of a boundary.
        EXPECT_EQ(all[c].value, round_to_format(facts->output[c].high, format));
      }
    }
  }
}

}  // namespace
}  // namespace attest::reference
