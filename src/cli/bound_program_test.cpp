// attest bound: the numbers behind it, and the program as a user runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "cli/bound_job.hpp"
#include "cli/test_program.hpp"
#include "cli/test_run_files.hpp"
#include "kernels/registry.hpp"
#include "properties/stand_ins.hpp"
#include "properties/test_case_of.hpp"

namespace attest::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

BoundFindings findings_of(const std::string& line, std::vector<Tolerance> tolerances) {
  const properties::Case on = properties::case_of(line);
  const Kernel* const kernel = kernels::find_builtin("builtin:scalar_tree");
  return run_bound({kernel, &on, std::move(tolerances), 0, 1}).value();
}

const Acceptance& stand_in(const RuleFindings& rule, std::string_view name) {
  const auto all = properties::stand_ins();
  const auto at = std::find_if(all.begin(), all.end(),
                               [&](const properties::StandIn& one) { return one.name == name; });
  return rule.stand_ins.at(static_cast<std::size_t>(at - all.begin()));
}

TEST(BoundJob, CountsWhatAToleranceAcceptsOfAnExampleWorkedOutByHand) {
  // Equal weights: the output is (2, 0).
  const BoundFindings found =
      findings_of("1x1:1x2:1/2 f32 vals=lit:0;0,0;1,0.5,3,-0.5", {{1, 0}, {0, 0.5}});
  EXPECT_DOUBLE_EQ(found.output_rms, std::sqrt(2.0));
  ASSERT_EQ(found.rules.size(), 3U);
  EXPECT_TRUE(found.rules[0].certified);
  const Acceptance& zeros = stand_in(found.rules[1], "all zeros");
  EXPECT_EQ(zeros.elements, 2);
  EXPECT_EQ(zeros.different, 1);
  EXPECT_EQ(zeros.accepted, 1);  // 0 for 2 is refused, 0 for 0 is right
  EXPECT_EQ(zeros.accepted_different, 0);
  EXPECT_FALSE(zeros.passes_everywhere());
  const Acceptance& last = stand_in(found.rules[1], "V of the last key");  // (3, -0.5)
  EXPECT_EQ(last.accepted_different, 2);
  EXPECT_TRUE(last.passes_everywhere());
  EXPECT_EQ(stand_in(found.rules[0], "V of the last key").accepted, 0);
  // Within half of 2, but not within half of 0.
  EXPECT_EQ(stand_in(found.rules[2], "V of the last key").accepted, 1);
  EXPECT_EQ(stand_in(found.rules[0], "uniform weights").different, 0);
  for (const RuleFindings& rule : found.rules) EXPECT_EQ(rule.scale_error, kScaleNever);
}

TEST(BoundJob, FindsTheLargestScaleErrorThatIsAccepted) {
  // Two keys with scores 0 and 1, values 0 and 1: the output is a logistic function of the score.
  const BoundFindings found =
      findings_of("1x1:1x2:1 f32 vals=lit:1;0,1;0,1", {{0.01, 0}, {0.3, 0}});
  const double truth = 1 / (1 + std::exp(-1.0));
  const double accepted = truth + 0.01;
  const double expected = std::log(accepted / (1 - accepted)) - 1;
  EXPECT_NEAR(found.rules[1].scale_error, expected, expected * 0x1p-11);
  EXPECT_EQ(found.rules[2].scale_error, kScaleNever);  // 1 is nearer than 0.3
  EXPECT_GT(found.rules[0].scale_error, 0);
  EXPECT_LT(found.rules[0].scale_error, 1e-5);
}

TEST(BoundJob, ObservedErrorsAreBelowTheLimits) {
  const BoundFindings found = findings_of("2x2:7x40:8 f32 mask=causal:br lse=ln", {});
  EXPECT_EQ(found.rows_looked_at, 28);
  for (const ErrorSummary* const summary :
       {&found.absolute, &found.ulp, &found.relative, &found.lse}) {
    EXPECT_GT(summary->typical, 0);
    EXPECT_LE(summary->typical, summary->worst);
    EXPECT_LE(summary->limit_median, summary->limit_largest);
    EXPECT_LE(summary->worst, summary->limit_largest);
  }
  EXPECT_TRUE(found.worst_ratio > 0 && found.worst_ratio <= 1);
  EXPECT_TRUE(found.worst_lse_ratio > 0 && found.worst_lse_ratio <= 1);
  EXPECT_EQ(found.rules[0].kernel.accepted, found.rules[0].kernel.elements);
}

TEST(BoundJob, LooksAtDistinctRowsAscendingAndAtTheLastOne) {
  EXPECT_EQ(sampled_rows(3, 5), (std::vector<Index>{0, 1, 2}));
  const std::vector<Index> rows = sampled_rows(100000, 50);
  EXPECT_EQ(rows.size(), 50U);
  EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end()));
  EXPECT_EQ(std::set<Index>(rows.begin(), rows.end()).size(), 50U);
  EXPECT_EQ(rows.back(), 99999);
  EXPECT_EQ(sampled_rows(100000, 50), rows);
}

class Bound : public ProgramTest {
 protected:
  Json json(Words arguments) const {
    arguments.insert(arguments.begin(), "bound");
    arguments.insert(arguments.end(), {"--format", "json"});
    const Finished finished = run(arguments);
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    EXPECT_EQ(finished.err, "");
    return Json::parse(finished.out);
  }
};

TEST_F(Bound, PrintsErrorsLimitsAndWhatTheUsualTolerancesAccept) {
  const Finished finished = run({"bound", "1x2:16x64:16 f32 mask=causal:br"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(finished.err, "");
  for (const char* part : {"builtin:scalar_tree  1x2:16x64:16 f32 mask=causal:br",
                           "32 of 32 rows, 16 columns",
                           "typical",
                           "worst",
                           "limit, median",
                           "limit, largest",
                           "|O| rms",
                           "err, abs",
                           "err, ulp of f32",
                           "err / |O| rms",
                           "lse err, abs",
                           "largest err/bound",
                           "certified bound",
                           "atol=0.01",
                           "atol=0.001",
                           "atol=1e-5",
                           "this kernel",
                           "all zeros",
                           "mean of all V",
                           "V of the last key",
                           "uniform weights",
                           "last key dropped",
                           "one key too many",
                           "scale too large, up to",
                           "certified bound would pass as correct: "})
    EXPECT_THAT(finished.out, HasSubstr(part));
}

TEST_F(Bound, KnowsWhatIsAddedToAScoreTheSinkAndTheTypeOfTheOutput) {
  const Finished finished = run({"bound",
                                 "1x8:1x128:64 bf16 mask=causal:br win=63:0 cap=30 bias=h2d "
                                 "sink=head lse=log2 vals=normal:1"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(finished.err, "");
  EXPECT_THAT(finished.out, AllOf(HasSubstr("lse=log2"), HasSubstr("err, ulp of bf16"),
                                  HasSubstr("mean of all V"), HasSubstr("softcap forgotten"),
                                  HasSubstr("additions forgotten"), HasSubstr("sink forgotten")));
  EXPECT_THAT(run({"bound", "1x2:1x16:64 e4m3 descale=2;0.5;4"}).out,
              AllOf(HasSubstr("err, ulp of bf16"), Not(HasSubstr("sink forgotten"))));
}

TEST_F(Bound, LooksAtRowsThatExistAndAtNoneThatHasASinkAlone) {
  EXPECT_EQ(json({"*x1:{1,3}x{4,5}:2 f32"})["rows"], 4);
  EXPECT_EQ(json({"1x1:3x3:2 f32 mask=causal:off=-1 sink=one"})["rows_empty"], 1);
}

TEST_F(Bound, AProblemWithoutAMaskHasNoStandInThatNeedsOne) {
  const Finished finished = run({"bound", "1x1:4x8:2 f32"});
  EXPECT_THAT(finished.out,
              AllOf(Not(HasSubstr("mean of all V")), Not(HasSubstr("one key too many"))));
}

TEST_F(Bound, AToleranceOfTheUserIsTheOnlyOneAndAWideOneAcceptsNonsense) {
  const Json wide = json({"1x1:8x64:4 f32", "--atol", "100"});
  ASSERT_EQ(wide["rules"].size(), 2U);
  EXPECT_EQ(wide["rules"][0]["rule"], "bound");
  const Json& rule = wide["rules"][1];
  EXPECT_EQ(rule["atol"], 100.0);
  EXPECT_EQ(rule["rtol"], 0.0);
  EXPECT_EQ(rule["stand_ins"]["all zeros"]["passes_everywhere"], true);
  EXPECT_TRUE(rule["scale_too_large_by"].is_null());
  EXPECT_EQ(wide["rules"][0]["stand_ins"]["all zeros"]["passes_everywhere"], false);
  EXPECT_EQ(run({"bound", "1x1:8x64:4 f32", "--atol", "100"}).exit_code, 0);

  const Json strict = json({"1x1:8x64:4 f32", "--rtol", "0"});
  EXPECT_LT(strict["rules"][1]["kernel"]["accepted"], strict["rules"][1]["kernel"]["elements"]);
}

TEST_F(Bound, DoesNotDependOnTheJobs) {
  const Words problem{"2x4/2:9x33:8/3 f64 mask=causal:tl"};
  EXPECT_EQ(json({problem[0], "--jobs", "1"}), json({problem[0], "--jobs", "4"}));
}

TEST_F(Bound, TheSeedChangesTheValues) {
  const Json zero = json({"1x1:2x9:4 f32"});
  EXPECT_EQ(json({"1x1:2x9:4 f32", "--seed", "0"}), zero);
  const Json seven = json({"1x1:2x9:4 f32", "--seed", "0x7"});
  EXPECT_NE(seven["output_rms"], zero["output_rms"]);
  EXPECT_EQ(seven, json({"1x1:2x9:4 f32 vals=normal:7"}));
}

TEST_F(Bound, SaysHowManyRowsItLookedAt) {
  EXPECT_EQ(json({"1x1:50x9:4 f32", "--rows", "5"})["rows_looked_at"], 5);
  EXPECT_EQ(json({"1x1:50x9:4 f32", "--rows", "0"})["rows_looked_at"], 50);
  EXPECT_EQ(json({"1x1:50x9:4 f32 mask=causal:off=-9"})["rows_empty"], 9);
}

TEST_F(Bound, AWrongKernelIsBeyondItsBound) {
  const Finished finished =
      run({"bound", "1x1:4x32:4 f32", "--kernel", "mutant:forgets_the_scale"});
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_EQ(lines_of(finished.err).size(), 1U);
  EXPECT_THAT(finished.err,
              AllOf(HasSubstr("mutant:forgets_the_scale"), HasSubstr("attest check")));
  EXPECT_THAT(finished.out, HasSubstr("certified bound refuses "));
}

TEST_F(Bound, WhatHasNoProvenBoundIsUndecided) {
  const Finished finished = run({"bound", "1x1:1x2:1 f32 vals=lit:1e30;1e30,1e30;1,2"});
  EXPECT_EQ(finished.exit_code, 3);
  EXPECT_EQ(finished.out, "");
  EXPECT_EQ(lines_of(finished.err).size(), 1U);
  EXPECT_THAT(finished.err, HasSubstr("row (0, 0, 0) has no bound"));
}

TEST_F(Bound, BadInputIsRefusedAndNamed) {
  expect_refused({"bound"}, {"PROBLEM"});
  expect_refused({"bound", "1x1:1x2:1 f32", "--kernel", "builtin:nope"},
                 {"builtin:nope", "builtin:scalar_tree"});
  expect_refused({"bound", "1x1:0x4:1 f32"}, {"no output"});
  expect_refused({"bound", "1x1:2x4:1 f32 mask=causal:off=-5"}, {"sees a key"});
  expect_refused({"bound", "1x1:1x2:1 f32 vals=lit:nan;1,1;1,1"}, {"not finite"});
  expect_refused({"bound", "1x1:1x2:1 f32", "--format", "xml"}, {"xml", "json"});
  expect_refused({"bound", "1x1:1x2:1 f32", "--atol", "-1"}, {"--atol"});
  expect_refused({"bound", "1x1:1x2:1 f32", "--rtol", "inf"}, {"--rtol"});
  expect_refused({"bound", "1x1:1x2:1 f32", "--rows", "-2"}, {"--rows"});
  expect_refused({"bound", "1x1:1x2:1 f32", "--seed", "x"}, {"--seed", "'x'"});
  expect_refused({"bound", "1x1:1x2:1 f32 vals=lit:1;1,1;1,1", "--seed", "1"}, {"--seed", "lit"});
  expect_refused({"bound", "1x1:1x2:1 f32", "--tensors", "missing"}, {"missing"});
  expect_refused({"bound", "1x1:2x2:1 f32 mask=bits:00/11 empty=reject"}, {"no visible key"});
}

TEST_F(Bound, ABrokenProblemIsShownWithACaret) {
  for (const auto& [problem, word] : {std::pair<std::string, std::string>{"1x1:1x2:1 f99", "f99"},
                                      {"1x1:1x2:1 f32 mask=casual:tl", "casual"},
                                      {"1x1:1x2:1 f32 vals=bogus:1", "vals=bogus"}}) {
    const Finished finished = run({"bound", problem});
    EXPECT_EQ(finished.exit_code, 2);
    EXPECT_EQ(finished.out, "");
    expect_caret_below(finished, problem, word);
  }
}

}  // namespace
}  // namespace attest::cli
