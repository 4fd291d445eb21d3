// The canonical and the minimal form of a problem.
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "test_problem_text.hpp"

namespace attest {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(ProblemText, MinimalFormOfAMinimalLineIsThatLine) {
  for (const std::string& line : minimal_lines()) EXPECT_EQ(minimal_text(parsed(line)), line);
}

TEST(ProblemText, CanonicalFormWritesEveryDefault) {
  EXPECT_EQ(canonical_text(parsed("2x4:3x5:8 f32")),
            "2x4:3x5:8 f32 mask=none scale=rsqrt empty=zero lse=none tile=16 split=1 merge=left "
            "vals=normal:0");
  EXPECT_EQ(canonical_text(parsed("1x1:1x1:1 f64 law=bound.lse")),
            "1x1:1x1:1 f64 mask=none scale=rsqrt empty=zero lse=none tile=16 split=1 merge=left "
            "vals=normal:0 law=bound.lse");
}

TEST(ProblemText, MinimalFormLeavesOutEveryDefault) {
  EXPECT_EQ(minimal_text(ProblemText{}), "1x1:1x1:1 f32");
  const ProblemText spelt_out = parsed(
      "2x4/4:3x5:8/8 f32 mask=none scale=rsqrt empty=zero lse=none tile=16x16 split=1 "
      "merge=left vals=normal:0");
  EXPECT_EQ(minimal_text(spelt_out), "2x4:3x5:8 f32");
  EXPECT_TRUE(same(spelt_out, parsed("2x4:3x5:8 f32")));
}

TEST(NumberText, IsTheShortestThatReadsBack) {
  EXPECT_EQ(number_text(static_cast<double>(0.1F), Dtype::f32), "0.1");
  EXPECT_EQ(number_text(static_cast<double>(0.1F), Dtype::f64), "0.10000000149011612");
  EXPECT_EQ(number_text(0.1, Dtype::f64), "0.1");
  EXPECT_EQ(number_text(0x1p-1074, Dtype::f64), "5e-324");
  EXPECT_EQ(number_text(0x1p-149, Dtype::f32), "1e-45");
  EXPECT_EQ(number_text(-0.0, Dtype::f32), "-0");
  EXPECT_EQ(number_text(kInfinity, Dtype::f32), "inf");
  EXPECT_EQ(number_text(-kInfinity, Dtype::f64), "-inf");
  EXPECT_EQ(number_text(std::numeric_limits<double>::quiet_NaN(), Dtype::f32), "nan");
}

}  // namespace
}  // namespace attest
