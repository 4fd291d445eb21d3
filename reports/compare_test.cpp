// Two runs side by side, and the rule of the gate.
#include "reports/compare.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "reports/test_runs.hpp"

namespace attest::reports {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Gate gate_of(const std::string& rule) {
  Gate gate;
  EXPECT_TRUE(parse_gate(rule, gate).ok()) << rule;
  return gate;
}

/// A passing run whose largest ratio is `factor` times as large, at case 41.
Run run_with(double factor, const std::string& kernel = "builtin:tiled", double power = 1) {
  test::Writer writer(test::run_header(kernel, "2026-12-01T07:33:01Z"));
  for (std::int64_t number = 0; number < 60; ++number) {
    CaseResult result = test::passed_case(kernel, number);
    result.verdict.worst_ratio = number == 41 ? 0.4 * factor : 0.001 * static_cast<double>(number);
    writer.add(result);
  }
  ErrorStatistics errors;
  errors.add(factor);
  writer.add(StatisticsRow{kernel, "f32", "out", errors});
  writer.add(PowerCount{"zeros", "bound.out", 100, static_cast<std::int64_t>(100 * (1 - power))},
             kernel);
  writer.end_check(test::check_end(kernel));
  return writer.finish().run;
}

RunComparison compared(const reports::Run& before, const reports::Run& after) {
  auto comparison = compare_runs(before, after, false);
  EXPECT_TRUE(comparison.ok());
  return std::move(comparison).value();
}

const std::string kUsualRule = "ratio<=1.25 & new_fail==0 & rms<=1.1 & power>=0.99";

TEST(Gate, TwoEqualRunsPass) {
  const RunComparison equal = compared(run_with(1), run_with(1));
  const GateResult result = judge(gate_of(kUsualRule), equal);
  EXPECT_TRUE(result.passed) << render_gate(result);
  EXPECT_THAT(render_gate(result), StartsWith("GATE PASSED  ratio 1; new_fail 0; rms 1; power 1"));
  EXPECT_THAT(render_comparison(equal), HasSubstr("2 of 2 properties have the same"));
  EXPECT_THAT(render_comparison(equal), Not(HasSubstr("new worst")));
}

TEST(Gate, AGrownRatioFailsAndNamesTheNewWorstCase) {
  const RunComparison worse = compared(run_with(1), run_with(2));
  const GateResult result = judge(gate_of("ratio<=1.25"), worse);
  EXPECT_FALSE(result.passed);
  EXPECT_THAT(render_gate(result), StartsWith("GATE FAILED  ratio 2, not ratio<=1.25"));
  const CaseResult worst = test::passed_case("builtin:tiled", 41);
  EXPECT_THAT(render_comparison(worse),
              HasSubstr("new worst  builtin:tiled " + worst.law + "  " + worst.problem));
  EXPECT_THAT(render_comparison(worse), HasSubstr("  replay   " + worst.replay));
  EXPECT_THAT(render_comparison(worse), HasSubstr("+100 %"));
}

TEST(Gate, EveryQuantityIsLookedAt) {
  const RunComparison worse = compared(run_with(1), run_with(2, "builtin:tiled", 0.5));
  for (const std::string failing : {"rms<=1.9", "power>=0.6", "worst<0.8", "ratio<2"})
    EXPECT_FALSE(judge(gate_of(failing), worse).passed) << failing;
  for (const std::string passing :
       {"rms<=2", "power>=0.5", "worst<=0.8", "ratio==2", "fail==0", "gone<1", "new_fail<=0"})
    EXPECT_TRUE(judge(gate_of(passing), worse).passed) << passing;
}

TEST(Gate, ANewFailureFailsWhereItWasOnePieceBefore) {
  const reports::Run violated = test::written_run().run;
  const RunComparison worse = compared(run_with(1), violated);
  EXPECT_FALSE(judge(gate_of("new_fail==0"), worse).passed);
  EXPECT_THAT(render_comparison(worse), HasSubstr("new failure  builtin:tiled law.window"));
  EXPECT_THAT(render_comparison(worse), HasSubstr(test::shrunk_case().replay));
  // What failed before is no news.
  EXPECT_TRUE(judge(gate_of("new_fail==0"), compared(violated, violated)).passed);
  EXPECT_FALSE(judge(gate_of("fail==0"), compared(violated, violated)).passed);
}

TEST(Gate, WhatWasNotMeasuredDoesNotPass) {
  reports::Run without = run_with(1);
  without.checks.front().measured = {};
  const GateResult result = judge(gate_of("rms<=2 & power>=0"), compared(without, without));
  EXPECT_FALSE(result.passed);
  EXPECT_THAT(render_gate(result), HasSubstr("rms: both runs must have measured it; power:"));
}

TEST(Gate, ALawThatIsGoneIsSeen) {
  reports::Run fewer = run_with(1);
  fewer.checks.front().laws.pop_back();
  const RunComparison comparison = compared(run_with(1), fewer);
  EXPECT_FALSE(judge(gate_of("gone==0"), comparison).passed);
  EXPECT_THAT(render_comparison(comparison), HasSubstr("not checked"));
}

TEST(Gate, AnUnfinishedRunDoesNotPass) {
  reports::Run cut = run_with(1);
  cut.unfinished = "unfinished: it was killed";
  EXPECT_FALSE(judge(gate_of("ratio<=100"), compared(run_with(1), cut)).passed);
  EXPECT_FALSE(judge(gate_of("ratio<=100"), compared(cut, run_with(1))).passed);
}

TEST(Gate, WithoutARuleNothingIsSaid) {
  EXPECT_EQ(render_gate(judge(gate_of(""), compared(run_with(1), run_with(3)))), "");
}

TEST(Gate, ABadRuleIsShownWithACaret) {
  const auto message = [](const std::string& rule) {
    Gate gate;
    return parse_gate(rule, gate).message();
  };
  EXPECT_EQ(message("ratio<=1 & speed>2"),
            "cannot use this rule:\nratio<=1 & speed>2\n           ^ one of ratio, rms, new_fail, "
            "fail, gone, power, worst must stand here");
  EXPECT_THAT(message("ratio=1"), HasSubstr("\n     ^ one of <= >= == < > must stand here"));
  EXPECT_THAT(message("ratio<=x"), HasSubstr("\n       ^ a number"));
  EXPECT_THAT(message("ratio<=nan"), HasSubstr("^ a number"));
  EXPECT_THAT(message("ratio<=-1"), HasSubstr("^ a number"));
  EXPECT_THAT(message("ratio<=1 rms<=2"), HasSubstr("\n         ^ '&' or the end"));
  EXPECT_THAT(message("ratio<=1 &"), HasSubstr("^ one of ratio"));
}

TEST(Compare, OtherKernelsMustBeAllowed) {
  const reports::Run other = run_with(2, "builtin:other");
  EXPECT_THAT(compare_runs(run_with(1), other, false).status().message(),
              HasSubstr("builtin:tiled and builtin:other; --allow-other-kernel"));
  const auto allowed = compare_runs(run_with(1), other, true);
  ASSERT_TRUE(allowed.ok());
  EXPECT_EQ(allowed.value().values.at(Quantity::ratio), 2);
  EXPECT_EQ(allowed.value().values.at(Quantity::rms), 2);
}

}  // namespace
}  // namespace attest::reports
