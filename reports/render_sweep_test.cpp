#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "reports/measured_lines.hpp"
#include "reports/report.hpp"
#include "reports/run_lines.hpp"
#include "reports/test_models.hpp"

namespace attest::reports {
namespace {

using testing::HasSubstr;

SweepPoint point(const std::string& x) {
  SweepPoint made;
  made.x = x;
  made.dtype = "bf16";
  made.problem = "1x4:4x" + x + ":64 bf16";
  made.outputs = 1024;
  made.max_error = 0.0019;
  made.rms_error = 0.00021;
  made.bias.add(1e-7);
  made.bias.add(3e-7);
  made.ulp_max = 0.51;
  made.ratio = 0.38;
  made.twin_ratio = 1.5;
  made.worst_element = "out[0,1,2,3]";
  made.replay = "attest replay builtin:simd '" + made.problem + " law=bound.out'";
  return made;
}

SweepReport sweep() {
  SweepReport report;
  report.kernel = "builtin:simd";
  report.over = "lk";
  report.base = "1x4:4x1024:64 bf16";
  report.points = {point("64"), point("256")};
  report.points[1].ratio = 0.39;
  report.seconds = 2;
  return report;
}

TEST(SweepText, IsATableOfOneRowAPoint) {
  EXPECT_EQ(render_sweep_text(sweep()), R"(sweep lk of builtin:simd  1x4:4x1024:64 bf16

lk   dtype  max err  rms err  bias (95 %)        ulp max  err/bound  twin ratio
64   bf16   1.9e-3   2.1e-4   +2.0e-7 +- 1.3e-6  0.51     0.38       1.5
256  bf16   1.9e-3   2.1e-4   +2.0e-7 +- 1.3e-6  0.51     0.39       1.5

worst   lk=256 bf16  out[0,1,2,3]
replay  attest replay builtin:simd '1x4:4x256:64 bf16 law=bound.out'
2 points  0 outputs beyond the bound  2.0 s
)");
}

TEST(SweepText, SaysWhyAPointWasNotMeasured) {
  SweepReport report = sweep();
  report.points[0].reason = "dtype bf16 is not " + test::kHostile;
  const std::string text = render_sweep_text(report);
  EXPECT_THAT(text, HasSubstr("64   bf16   -"));
  EXPECT_THAT(text, HasSubstr("lk=64 bf16: not measured: dtype bf16 is not a|b<c>&\"\\n`\\x01"));
}

TEST(SweepCsv, HasAsManyFieldsInEveryLineAndQuotesForeignText) {
  SweepReport report = sweep();
  report.kernel = "a,\"b\"";
  report.points[0].twin_ratio = std::numeric_limits<double>::quiet_NaN();
  std::istringstream lines(render_sweep_csv(report));
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(std::count(line.begin(), line.end(), ','), 15);
  std::getline(lines, line);
  EXPECT_EQ(line,
            "\"a,\"\"b\"\"\",lk,64,bf16,1024,0.0019,0.00021,2e-07,"
            "1.2706000000000002e-06,0.51,0.38,,0,1x4:4x64:64 bf16,"
            "attest replay builtin:simd '1x4:4x64:64 bf16 law=bound.out',");
}

TEST(SweepJsonl, IsOneLineAPointWithWordsForWhatIsNotFinite) {
  SweepReport report = sweep();
  report.kernel = test::kHostile;
  report.points[0].twin_ratio = std::numeric_limits<double>::infinity();
  const std::string line = sweep_line(report, report.points[0]);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const auto json = nlohmann::json::parse(line);
  EXPECT_EQ(json.at("twin_ratio"), "inf");
  EXPECT_EQ(json.at("max_error"), 0.0019);
  EXPECT_EQ(json.at("x"), "64");
  EXPECT_LT(json.at("bias_low").get<double>(), json.at("bias").get<double>());
}

TEST(PowerLine, CountsTrialsOverAllStandIns) {
  EXPECT_EQ(
      power_line({{"all zeros", "bound.out", 1500, 0}, {"last key dropped", "bound.out", 550, 6}}),
      "power 99.7 %: 6 of 2050 accept/reject trials would have let a stand-in pass\n");
  EXPECT_EQ(power_line({}), "");
}

TEST(PowerLine, SaysHundredPercentOnlyOfAllTrials) {
  EXPECT_THAT(power_line({{"a", "b", 100000, 1}}), HasSubstr("power 99.9 %"));
  EXPECT_THAT(power_line({{"a", "b", 1000, 0}}), HasSubstr("power 100.0 %"));
}

TEST(BitsLine, SumsOverDtypesAndKeepsWhatIsNoQuestionApart) {
  EXPECT_EQ(bits_line({{"k", "f32", "rerun", 10, 0, true, ""},
                       {"k", "f32", "batch", 8, 2, false, ""},
                       {"k", "f32", "threads", 0, 0, false, "the kernel works on one thread"},
                       {"k", "bf16", "rerun", 9, 1, true, ""},
                       {"k", "bf16", "batch", 10, 0, false, ""}}),
            "bits  rerun 1 of 20 cases differ (must be equal) | batch 2 of 20 cases differ (not "
            "required) | threads -\n");
  EXPECT_EQ(bits_line({}), "");
}

}  // namespace
}  // namespace attest::reports
