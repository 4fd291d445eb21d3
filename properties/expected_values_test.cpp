// The comment of a replay line is read as it is meant, and a comparison with it can fail.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "properties/expected_values.hpp"

namespace attest::properties {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

ExpectedNumber number(const std::string& text) {
  const Result<Expectation> read = parse_expectation("want out=[" + text + "]");
  EXPECT_TRUE(read.ok()) << text << " " << read.status().message();
  return read.ok() ? read.value().want.front().numbers.front() : ExpectedNumber{};
}

std::string refusal(std::string_view comment) {
  const Result<Expectation> read = parse_expectation(comment);
  EXPECT_FALSE(read.ok()) << comment;
  return read.status().message();
}

TEST(ExpectedValues, AreReadWithTheirReportAndTheirWords) {
  const Expectation read =
      parse_expectation(" B01 want out=[2,0] lse=[0.693147,-inf] a row = [empty]").value();
  EXPECT_EQ(read.report, "B01");
  EXPECT_FALSE(read.also);
  EXPECT_FALSE(read.free);
  ASSERT_EQ(read.want.size(), 2U);
  EXPECT_EQ(read.want[0].name, "out");
  EXPECT_EQ(read.want[0].numbers.size(), 2U);
  EXPECT_EQ(read.want[1].name, "lse");
  EXPECT_EQ(read.want[1].numbers[1].value, -kInfinity);
  EXPECT_EQ(read.words, "a row = [empty]");
}

TEST(ExpectedValues, AFurtherLineOfAReportAndAReasonForNoneAreRead) {
  EXPECT_TRUE(parse_expectation("B04 also want out=[5]").value().also);
  const Expectation read = parse_expectation("B31 free values of a family").value();
  EXPECT_TRUE(read.free);
  EXPECT_EQ(read.report, "B31");
  EXPECT_EQ(read.words, "values of a family");
  EXPECT_EQ(parse_expectation("want out=[1]").value().report, "");
  EXPECT_TRUE(parse_expectation("want out=[]").value().want.front().numbers.empty());
}

TEST(ExpectedValues, ALineThatSaysNothingIsRefused) {
  EXPECT_EQ(refusal(""), "expected 'want' or 'free', got ''");
  EXPECT_EQ(refusal("B01 dead first tile"), "expected 'want' or 'free', got 'dead'");
  EXPECT_EQ(refusal("Bx want out=[1]"), "expected 'want' or 'free', got 'Bx'");
  EXPECT_EQ(refusal("free"), "free without a reason");
  EXPECT_EQ(refusal("want two blocks"), "want without a NAME=[...]");
  EXPECT_EQ(refusal("want out=[1] out=[1]"), "'out' is given twice");
  EXPECT_EQ(refusal("want o=[1]"), "unknown tensor in 'o=[1]'");
  EXPECT_EQ(refusal("want out=[1"), "no ']' at the end in 'out=[1'");
  EXPECT_EQ(refusal("want out=[1,]"), "a number is missing at the end in 'out=[1,]'");
  EXPECT_EQ(refusal("want out=[,1]"), "'' is no number in 'out=[,1]'");
  EXPECT_EQ(refusal("want out=[1x]"), "'1x' is no number in 'out=[1x]'");
  EXPECT_EQ(refusal("want out=[1.0e]"), "'1.0e' is no number in 'out=[1.0e]'");
}

TEST(ExpectedValues, DigitsMeanHalfAUnitOfTheLast) {
  EXPECT_EQ(number("0.693147").half_unit, 5e-7);
  EXPECT_EQ(number("-2.50").half_unit, 5e-3);
  EXPECT_EQ(number("200.").half_unit, 0.5);
  EXPECT_EQ(number("1.25e-39").half_unit, 5e-42);
  EXPECT_EQ(number("3e2").half_unit, 50);
  EXPECT_EQ(number("7").half_unit, 0);
  EXPECT_EQ(number("-inf").half_unit, 0);
}

TEST(ExpectedValues, AZeroMayHaveAnyExponentThatHasAUnit) {
  EXPECT_EQ(number("0.0e-300").half_unit, 5e-302);
  EXPECT_EQ(number("0.0e-400").half_unit, std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(refusal("want out=[0e400]"), "'0e400' is no number in 'out=[0e400]'");
  EXPECT_EQ(refusal("want out=[0.0e-2147483648]"),
            "'0.0e-2147483648' is no number in 'out=[0.0e-2147483648]'");
  EXPECT_EQ(refusal("want out=[0e9223372036854775807]"),
            "'0e9223372036854775807' is no number in 'out=[0e9223372036854775807]'");
}

TEST(ExpectedValues, AgreeOnlyWithinTheirDigits) {
  EXPECT_TRUE(number("0.75").agrees({0.754, 0, 0}));
  EXPECT_FALSE(number("0.75").agrees({0.756, 0, 0}));
  EXPECT_FALSE(number("0.75").agrees({0.75, 0, 0.25}));
  EXPECT_FALSE(number("0.75").agrees({kNan, 0, 0}));
  EXPECT_FALSE(number("0.75").agrees({-kInfinity, 0, 0}));
}

TEST(ExpectedValues, WholeNumbersInfinitiesAndNanAgreeExactly) {
  EXPECT_TRUE(number("200").agrees({200, 0, 0}));
  EXPECT_TRUE(number("200").agrees({200, 0x1p-90, 0x1p-80}));
  EXPECT_FALSE(number("200").agrees({200, 0x1p-90, 0}));
  EXPECT_TRUE(number("-inf").agrees({-kInfinity, 0, 0}));
  EXPECT_FALSE(number("-inf").agrees({kInfinity, 0, 0}));
  EXPECT_FALSE(number("-inf").agrees({-1e300, 0, 0}));
  EXPECT_FALSE(number("0").agrees({kNan, 0, 0}));
  EXPECT_TRUE(number("nan").agrees({kNan, 0, 0}));
  EXPECT_FALSE(number("nan").agrees({0, 0, 0}));
}

TEST(ExpectedValues, NothingStatedAgreesWithEverything) {
  EXPECT_TRUE(number("_").agrees({kNan, 0, 0}));
  EXPECT_TRUE(number("_").agrees({3, 0, 0}));
}

}  // namespace
}  // namespace attest::properties
