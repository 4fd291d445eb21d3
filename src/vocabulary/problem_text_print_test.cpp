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
  const auto defaults = [](const std::string& out) {
    return " mask=none align=none win=*:* keep=first:0 scale=rsqrt cap=off bias=none alibi=none "
           "order=scale,cap,bias,alibi,mask sink=none qv=no v=own descale=none out=" +
           out + " empty=zero lse=none layout=bshd kv=dense bwd=none";
  };
  EXPECT_EQ(canonical_text(parsed("2x4:3x5:8 f32")),
            "2x4:3x5:8 f32" + defaults("f32") + " tile=16 split=1 merge=left vals=normal:0");
  EXPECT_EQ(canonical_text(parsed("1x1:1x1:1 f64 law=bound.lse")),
            "1x1:1x1:1 f64" + defaults("f64") +
                " tile=16 split=1 merge=left vals=normal:0 law=bound.lse");
  EXPECT_EQ(canonical_text(parsed("1x1:1x1:1 e4m3")),
            "1x1:1x1:1 e4m3" + defaults("bf16") + " tile=16 split=1 merge=left vals=normal:0");
}

TEST(ProblemText, MinimalFormLeavesOutEveryDefault) {
  EXPECT_EQ(minimal_text(ProblemText{}), "1x1:1x1:1 f32");
  const ProblemText spelt_out = parsed(
      "2x4/4:3x5:8/8 f32/f32/f32 mask=none align=none win=*:* keep=first:0 cap=off bias=none "
      "alibi=none order=scale,cap,bias,alibi,mask sink=none qv=no v=own descale=none out=f32 "
      "layout=bshd:pad=0:col=1 kv=dense bwd=none scale=rsqrt empty=zero lse=none tile=16x16 "
      "split=1 "
      "merge=left vals=normal:0");
  EXPECT_EQ(minimal_text(spelt_out), "2x4:3x5:8 f32");
  EXPECT_TRUE(same(spelt_out, parsed("2x4:3x5:8 f32")));
}

TEST(ProblemText, TypesThatAreTheSameAreWrittenOnce) {
  Problem problem;
  problem.dtype = Dtype::bf16;
  problem.k_storage = Dtype::bf16;
  problem.v_storage = Dtype::bf16;
  problem.out_storage = Dtype::bf16;
  EXPECT_EQ(minimal_text({problem, {}, {}, ""}), "1x1:1x1:1 bf16");
  problem.v_storage = Dtype::f16;
  EXPECT_EQ(minimal_text({problem, {}, {}, ""}), "1x1:1x1:1 bf16/bf16/f16");
  problem.bias = Bias{false, false, true, Dtype::f32};
  EXPECT_EQ(minimal_text({problem, {}, {}, ""}), "1x1:1x1:1 bf16/bf16/f16 bias=2d");
}

TEST(ProblemText, PagesInOrderAreWrittenWithoutTheirTable) {
  EXPECT_EQ(minimal_text(parsed("*x1:1x{3,0,4}:1 f32 kv=paged:2:4:0,1//2,3")),
            "3x1:1x{3,0,4}:1 f32 kv=paged:2");
  EXPECT_EQ(minimal_text(parsed("*x1:1x{3,0,4}:1 f32 kv=paged:2:5:0,1//2,3")),
            "3x1:1x{3,0,4}:1 f32 kv=paged:2:5:0,1//2,3");
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
