// A comparison must be able to fail, and must never pass what it cannot decide.
#include <gtest/gtest.h>

#include <limits>

#include "properties/combine.hpp"
#include "properties/tally.hpp"

namespace attest::properties {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
const Place kPlace{"out", {0, 1, 2}, 3};

Outcome outcome_of(double got, const Enclosure& want, double bound) {
  Tally tally;
  tally.within(kPlace, got, want, bound);
  tally.end_row();
  return tally.verdict().outcome;
}

TEST(Tally, AcceptsWhatLiesWithinTheBoundAndRejectsWhatDoesNot) {
  EXPECT_EQ(outcome_of(1.0, {1.0, 0, 0}, 0), Outcome::ok);
  EXPECT_EQ(outcome_of(1.25, {1.0, 0, 0}, 0.5), Outcome::ok);
  EXPECT_EQ(outcome_of(1.75, {1.0, 0, 0}, 0.5), Outcome::fail);
  EXPECT_EQ(outcome_of(1.0, {1.0, 0x1p-60, 0}, 0x1p-61), Outcome::fail);
}

TEST(Tally, NanAndInfinityNeverPassAsNumbers) {
  EXPECT_EQ(outcome_of(kNan, {1.0, 0, 0}, 1e300), Outcome::fail);
  EXPECT_EQ(outcome_of(kInfinity, {1.0, 0, 0}, 1e300), Outcome::fail);
  EXPECT_EQ(outcome_of(kInfinity, {-kInfinity, 0, 0}, 1e300), Outcome::fail);
  EXPECT_EQ(outcome_of(kNan, {-kInfinity, 0, 0}, 0), Outcome::fail);
  EXPECT_EQ(outcome_of(0.0, {-kInfinity, 0, 0}, 1e300), Outcome::fail);
  EXPECT_EQ(outcome_of(-kInfinity, {-kInfinity, 0, 0}, 0), Outcome::ok);
}

TEST(Tally, AnEnclosureThatIsTooWideIsUnprovenNotAPass) {
  EXPECT_EQ(outcome_of(1.0, {1.0, 0, 0.5}, 0.25), Outcome::unproven);
  EXPECT_EQ(outcome_of(3.0, {1.0, 0, 0.5}, 0.25), Outcome::fail);
}

TEST(Tally, NothingComparedIsWeak) {
  Tally tally;
  tally.end_row();
  EXPECT_EQ(tally.verdict().outcome, Outcome::weak);
}

TEST(Tally, OnlyUninformativeBoundsAreUnproven) {
  Tally tally;
  tally.within(kPlace, 1.0, {1.0, 0, 0}, 10, false);
  EXPECT_EQ(tally.verdict().outcome, Outcome::unproven);
  tally.within(kPlace, 1.0, {1.0, 0, 0}, 10, true);
  EXPECT_EQ(tally.verdict().outcome, Outcome::ok);
}

TEST(Tally, KeepsTheWorstViolationAsWitnessAndCountsRows) {
  Tally tally;
  tally.within(kPlace, 1.0, {1.0, 0, 0}, 0.5);
  tally.end_row();
  tally.within({"out", {1, 0, 0}, 0}, 4.0, {1.0, 0, 0}, 0.5);
  tally.end_row();
  tally.within({"out", {2, 0, 0}, 0}, 2.0, {1.0, 0, 0}, 0.5);
  tally.end_row();
  const Verdict verdict = tally.verdict();
  EXPECT_EQ(verdict.outcome, Outcome::fail);
  EXPECT_EQ(verdict.rows_checked, 3);
  EXPECT_EQ(verdict.rows_wrong, 2);
  ASSERT_TRUE(verdict.witness);
  EXPECT_EQ(verdict.witness->row, (RowIndex{1, 0, 0}));
}

TEST(Tally, BitsTellTheSignOfZeroAndTakeAllNansAsOne) {
  const auto same = [](double a, double b) {
    Tally tally;
    tally.same_bits(kPlace, a, b, "test");
    return tally.verdict().outcome == Outcome::ok;
  };
  EXPECT_TRUE(same(1.5, 1.5));
  EXPECT_TRUE(same(kNan, -kNan));
  EXPECT_FALSE(same(0.0, -0.0));
  EXPECT_FALSE(same(kNan, 1.0));
}

TEST(Tally, AgreementOfComputedValuesHasALimitAndNoRoomForNan) {
  const auto agree = [](double a, double b, double bound) {
    Tally tally;
    tally.agree(kPlace, a, b, bound);
    return tally.verdict().outcome == Outcome::ok;
  };
  EXPECT_TRUE(agree(1, 1.5, 0.5));
  EXPECT_FALSE(agree(1, 1.5, 0.25));
  EXPECT_FALSE(agree(kNan, 1, kInfinity));
  EXPECT_TRUE(agree(-kInfinity, -kInfinity, 0));
  EXPECT_FALSE(agree(-kInfinity, kInfinity, 1e300));
}

TEST(Combined, AViolationOutranksEverything) {
  Combined combined;
  combined.add({});
  combined.add(Verdict::weak("weak"));
  EXPECT_EQ(combined.verdict().outcome, Outcome::ok);
  combined.add(Verdict::of(Outcome::unproven, "unproven"));
  EXPECT_EQ(combined.verdict().outcome, Outcome::unproven);
  combined.add(Verdict::fail("first"));
  combined.add(Verdict::fail("second"));
  EXPECT_EQ(combined.verdict().reason, "first");
  EXPECT_EQ(Combined{}.verdict().outcome, Outcome::weak);
}

}  // namespace
}  // namespace attest::properties
