// Byte for byte: people read these texts, and scripts cut them.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "reports/report.hpp"
#include "reports/test_models.hpp"

namespace attest::reports {
namespace {

std::string last_line_of(const CheckReport& report) {
  const std::string text = render_check_text(report);
  return text.substr(text.rfind('\n', text.size() - 2) + 1);
}

TEST(CheckText, FailedRun) {
  EXPECT_EQ(render_check_text(test::failed_check()),
            R"(property    cases   ok  weak  unproven  skipped  fail  worst err/bound  at
bound.out     600  598     2         0        0     0  0.412            2x8/2:97x1025:128 f32 mask=causal:br
law.window    120  108     0         0       11     1  3.84e3           2x8/2:97x1025:64 f32 mask=causal:br tile=16x64 split=4 merg…
bits.rerun    100  100     0         0        0     0  -

mask causal 38 %, Lq=1 17 %
FAILED  1 violation in 820 cases  2 weak  11 skipped  48 s  2 jobs  seed 0x5EED1A77  attest-out/one
)");
}

TEST(CheckText, PassedRun) {
  CheckReport report;
  report.laws = {test::row("bound.out", 1)};
  report.seconds = 0.04;
  EXPECT_EQ(render_check_text(report),
            "property   cases  ok  weak  unproven  skipped  fail  worst err/bound  at\n"
            "bound.out      1   1     0         0        0     0  -\n"
            "\n"
            "PASSED  1 case  0.0 s  1 job  seed 0x0\n");
  report.interrupted = true;
  EXPECT_EQ(last_line_of(report),
            "UNDECIDED  interrupted before every case was run  1 case  0.0 s  1 job  seed 0x0\n");
}

TEST(CheckText, UndecidedRun) {
  CheckReport report;
  EXPECT_EQ(last_line_of(report),
            "UNDECIDED  nothing was checked  0 cases  0.0 s  1 job  seed 0x0\n");
  LawRow row = test::row("bound.lse", 50);
  row.weak = 8;
  row.unproven = 3;
  report.laws = {row};
  EXPECT_EQ(last_line_of(report),
            "UNDECIDED  bound.lse: 11 of 50 cases weak or unproven, more than 20 %  50 cases"
            "  8 weak  3 unproven  0.0 s  1 job  seed 0x0\n");
}

TEST(CheckText, ForeignTextStaysOnItsLine) {
  CheckReport report;
  report.laws = {test::row(test::kHostile, 1)};
  report.laws[0].worst_problem = "\x1B[2J";
  report.laws[0].worst_ratio = std::nan("");
  report.out_directory = "out\n";
  report.distribution = "a\nb";
  EXPECT_EQ(render_check_text(report),
            "property             cases  ok  weak  unproven  skipped  fail  worst err/bound  at\n"
            "a|b<c>&\"\\n`\\x01\\xFF      1   1     0         0        0     0  nan              "
            "\\x1B[2J\n"
            "\n"
            "a\\nb\n"
            "PASSED  1 case  0.0 s  1 job  seed 0x0  out\\n\n");
}

TEST(ViolationText, BothBlocks) {
  EXPECT_EQ(render_violation_text(test::violation()),
            R"(FAIL law.window  case 57  seed 0x5EED1A77
  problem   2x8/2:97x1025:64 f32 mask=causal:br
  element   out[1,3,40,17]  got 0.4375  want 0.430293709  err 7.2e-3  bound 1.9e-6  (3.78e3 x bound)
  spread    97 of 1552 rows wrong

shrinking  75 tried, 14 kept, finished
  problem   1x1:1x3:1 f32 vals=lit:0;0,0,0;1,0,0
  Q = 0 (0x0p+0)
  V = 1 0 0 (0x1p+0 0x0p+0 0x0p+0)
  element   out[0,0,0,0]
  got       0.33333334  (0x1.555556p-2)
  want      0.25 - 8.673617379884035e-19 +- 7.703719777548943e-34
            (0x1p-2 - 0x1p-60 +- 0x1p-110)
  error     8.3e-2
  bound     9.5e-7
  ratio     8.74e4 x bound
  spread    1 of 1 rows wrong
replay     attest replay builtin:tiled '1x1:1x3:1 f32 vals=lit:0;0,0,0;1,0,0'
saved      attest-out/latest/cases/9f3c1d
)");
}

TEST(ViolationText, ALawThatComparesBitsHasOnlyAReason) {
  Violation violation;
  violation.found.law = "bits.rerun";
  violation.found.problem = "1x1:1x1:1 f32";
  violation.found.replay = "attest replay builtin:plain '1x1:1x1:1 f32'";
  violation.found.verdict = Verdict::of(Outcome::flaky, "two runs differ");
  violation.shrink_tries = 4;
  violation.shrink_finished = false;
  EXPECT_EQ(render_violation_text(violation), R"(FLAKY bits.rerun  case 0  seed 0x0
  problem   1x1:1x1:1 f32
  reason    two runs differ

shrinking  4 tried, 0 kept, stopped early, smaller may exist
  problem   1x1:1x1:1 f32
  reason    two runs differ
replay     attest replay builtin:plain '1x1:1x1:1 f32'
)");
}

TEST(ViolationText, NotShrunkAndNotFinite) {
  Violation violation;
  violation.found = test::drawn_case();
  Witness witness = test::drawn_witness();
  witness.tensor = "lse";
  witness.column = 0;
  witness.got = std::nan("");
  witness.want = {-std::numeric_limits<double>::infinity(), 0, 0};
  witness.error = std::numeric_limits<double>::infinity();
  witness.bound = 0;
  violation.found.verdict.witness = witness;
  EXPECT_EQ(render_violation_text(violation), R"(FAIL law.window  case 57  seed 0x5EED1A77
  problem   2x8/2:97x1025:64 f32 mask=causal:br
  element   lse[1,3,40]  got nan  want -inf  err inf  bound 0
  spread    97 of 1552 rows wrong

shrinking  not tried
  problem   2x8/2:97x1025:64 f32 mask=causal:br
  element   lse[1,3,40]
  got       nan  (nan)
  want      -inf
            (-inf)
  error     inf
  bound     0
  spread    97 of 1552 rows wrong
replay     attest replay builtin:tiled '2x8/2:97x1025:64 f32 mask=causal:br'
)");
}

TEST(ViolationText, AnElementHasTheIndicesThatItsTensorHas) {
  const auto element = [](const char* tensor, Index column) {
    CaseResult found = test::drawn_case();
    Witness witness = test::drawn_witness();
    witness.tensor = tensor;
    witness.column = column;
    found.verdict.witness = witness;
    const std::string text = render_found_text(found);
    const std::size_t begin = text.find("element   ") + 10;
    return text.substr(begin, text.find("  got", begin) - begin);
  };
  EXPECT_EQ(element("dq", 17), "dq[1,3,40,17]");
  EXPECT_EQ(element("dbias", 0), "dbias[1,3,40,0]");
  EXPECT_EQ(element("dsink", 0), "dsink[3]");
  EXPECT_EQ(element("lse", 0), "lse[1,3,40]");
  EXPECT_EQ(element("lse", 1), "lse[1,3,40,1]");
}

TEST(AccuracyText, OneRowAKernelAndDtype) {
  AccuracyReport report = test::accuracy();
  report.checks = {test::failed_check()};
  EXPECT_EQ(
      render_accuracy_text(report),
      R"(kernel  dtype  worst error  err/bound  lse error  lse err/bound  ulp median  ulp p99  ulp max  twin ratio  outputs  violations  worst tensor
plain   f32    1.2e-7       0.75       6.0e-8     0.25                 0.20     0.49      230  1.25            128           0  layer1
tiled   f32    1.2e-7       0.125      6.0e-8     0.25                 0.20     0.49     1.50  -                64           0  layer0
ulp: units in the last place of the correctly rounded result; twin ratio: largest error over that of the plain evaluation in the same dtype; each the largest over tensors and tilings

check builtin:tiled  FAILED  1 violation in 820 cases  2 weak  11 skipped  48 s  2 jobs  seed 0x5EED1A77  attest-out/one
2 kernels  2 tensors  192 outputs  0 violations  3.2 s
)");
}

TEST(CheckText, ALongDistributionBreaksBetweenItsParts) {
  CheckReport report;
  for (int part = 0; part < 12; ++part)
    report.distribution += (part == 0 ? "" : " | ") + std::string("class number ten 10 %");
  const std::string text = render_check_text(report);
  const std::string four =
      "class number ten 10 % | class number ten 10 % | class number ten 10 % | class number ten "
      "10 %\n";
  EXPECT_NE(text.find("\n\n" + four + four + four + "UNDECIDED"), std::string::npos) << text;
}

}  // namespace
}  // namespace attest::reports
