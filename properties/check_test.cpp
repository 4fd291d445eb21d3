// The engine: results do not depend on the number of jobs, and nothing is lost or run twice.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/registry.hpp"
#include "mutants/mutants.hpp"
#include "properties/check.hpp"
#include "properties/hard_cases.hpp"
#include "properties/test_case_of.hpp"

namespace attest::properties {
namespace {

CheckPlan small_plan(int jobs) {
  CheckPlan plan;
  plan.laws = {find_law("bound.out"), find_law("mask.tables"), find_law("merge.commutes")};
  plan.drawn_cases = 15;
  plan.seed = 3;
  plan.jobs = jobs;
  return plan;
}

std::vector<std::string> run(const Kernel& kernel, const CheckPlan& plan) {
  std::vector<std::string> lines;
  run_check(kernel, plan, [&](CheckedCase&& checked) {
    lines.push_back(std::string(checked.law->name) + " " + std::to_string(checked.number) + "/" +
                    std::to_string(checked.of) + " " +
                    std::string(to_string(checked.verdict.outcome)) + " " +
                    minimal_text(to_text(checked.value)));
    return is_violation(checked.verdict.outcome) ? AfterCase::leave_law : AfterCase::next;
  });
  return lines;
}

TEST(Check, GivesTheSameResultsInTheSameOrderForAnyNumberOfJobs) {
  for (const char* const name : {"mutant:averages_tile_outputs", "mutant:lse_in_base_two"}) {
    const Kernel& kernel = *mutants::find(name)->kernel;
    const std::vector<std::string> one = run(kernel, small_plan(1));
    EXPECT_FALSE(one.empty());
    EXPECT_EQ(run(kernel, small_plan(2)), one);
    EXPECT_EQ(run(kernel, small_plan(5)), one);
  }
}

TEST(Check, RunsALawThatDependsOnNoCaseOnce) {
  const auto lines = run(*kernels::find_builtin("builtin:scalar_tree"), small_plan(2));
  EXPECT_EQ(lines.size(), 15U + 1U + 15U);
}

TEST(Check, LeavesALawAfterItsFirstViolation) {
  CheckPlan plan = small_plan(2);
  plan.laws = {find_law("empty.forward")};
  const auto lines = run(*mutants::find("mutant:fully_masked_row_gives_nan")->kernel, plan);
  ASSERT_FALSE(lines.empty());
  EXPECT_LT(lines.size(), 15U);
  EXPECT_NE(lines.back().find("fail"), std::string::npos);
}

TEST(Check, AGivenCaseRunsFirstAndOnlyForItsLaw) {
  CheckPlan plan = small_plan(1);
  plan.given.push_back({case_of("1x1:1x2:1 f32 vals=whole:5"), "bound.out"});
  const auto lines = run(*kernels::find_builtin("builtin:textbook"), plan);
  EXPECT_EQ(lines.front().substr(0, 14), "bound.out 0/16");
  EXPECT_NE(lines.front().find("1x1:1x2:1"), std::string::npos);
  EXPECT_EQ(lines.size(), 16U + 1U + 15U);
}

TEST(Check, AStopLeavesTheRestUndone) {
  const std::atomic<bool> stop{true};
  CheckPlan plan = small_plan(2);
  plan.stop = &stop;
  int seen = 0;
  EXPECT_FALSE(run_check(*kernels::find_builtin("builtin:textbook"), plan, [&](CheckedCase&&) {
    ++seen;
    return AfterCase::next;
  }));
  EXPECT_EQ(seen, 0);
}

TEST(Check, ASinkThatThrowsEndsTheRunAlthoughWorkersAreFarAhead) {
  CheckPlan plan = small_plan(2);
  plan.laws = {find_law("contract.repeat_bits")};
  plan.drawn_cases = 20'000;
  const auto run_with_throwing_sink = [&] {
    run_check(*kernels::find_builtin("builtin:textbook"), plan,
              [](CheckedCase&&) -> AfterCase { throw std::runtime_error("as planted"); });
  };
  EXPECT_THROW(run_with_throwing_sink(), std::runtime_error);
}

TEST(Check, StopRunLeavesEveryLawAtOnce) {
  int seen = 0;
  EXPECT_FALSE(
      run_check(*kernels::find_builtin("builtin:textbook"), small_plan(2), [&](CheckedCase&&) {
        ++seen;
        return AfterCase::stop_run;
      }));
  EXPECT_EQ(seen, 1);
}

/// A correct kernel but for its first call, as one with state that is not cleared.
class WrongAtFirst : public Kernel {
 public:
  const KernelDescription& description() const override { return inner_.description(); }
  DeclaredAccuracy accuracy(const Problem& problem) const override {
    return inner_.accuracy(problem);
  }
  Status forward(const Problem& problem, const Tiling& tiling,
                 const ForwardViews& views) const override {
    Status status = inner_.forward(problem, tiling, views);
    if (calls_++ == 0) views.out.as<float>()(0, 0, 0, 0) += 1;
    return status;
  }

 private:
  const Kernel& inner_ = *kernels::find_builtin("builtin:scalar_tree");
  mutable int calls_ = 0;
};

TEST(Check, AKernelThatFailsOnceIsFlakyAndNotAcquittedByTheSecondRun) {
  const Case on = case_of("1x1:1x2:1 f32 vals=lit:1;1,0;1,0");
  const Law& law = *find_law("bound.out");
  const WrongAtFirst kernel;
  const Verdict first = check_case(kernel, law, on);
  EXPECT_EQ(first.outcome, Outcome::flaky);
  EXPECT_TRUE(is_violation(first.outcome));
  EXPECT_TRUE(first.witness.has_value());
  EXPECT_EQ(first.reason, "a second run of the same case passed");
  EXPECT_EQ(check_case(kernel, law, on).outcome, Outcome::ok);
}

Verdict verdict_of_line(const Kernel& kernel, std::string_view line) {
  ProblemText text;
  TextError error;
  EXPECT_TRUE(parse_problem_text(line, text, error)) << with_caret(line, error);
  return check_case(kernel, *find_law(text.law), make_case(text, nullptr).value());
}

TEST(HardCases, APartThatIsNotFiniteLeavesAMergeUnproven) {
  for (const char* const values : {"1;0,1;1,nan", "1;0,1;inf,1", "1;0,nan;1,1", "1;inf,1;1,1"}) {
    for (const char* const law : {"merge.pairs_tree", "merge.pairs_agree", "merge.any_tree",
                                  "merge.associates", "merge.summary_bound"}) {
      const Verdict verdict =
          verdict_of_line(*kernels::find_builtin("builtin:scalar_tree"),
                          std::string("1x1:1x2:1 f32 tile=1 law=") + law + " vals=lit:" + values);
      EXPECT_EQ(verdict.outcome, Outcome::unproven) << law << " " << values;
      EXPECT_EQ(verdict.reason, "a visible input is not finite") << law << " " << values;
    }
  }
}

TEST(HardCases, EveryLineParsesAndHoldsOnEveryBuiltInKernel) {
  const auto lines = hard_case_lines();
  EXPECT_FALSE(lines.empty());
  for (const std::string_view line : lines) {
    ProblemText text;
    TextError error;
    ASSERT_TRUE(parse_problem_text(line, text, error)) << with_caret(line, error);
    const Result<Case> on = make_case(text, nullptr);
    ASSERT_TRUE(on.ok()) << line << on.status().message();
    for (const Law& law : laws()) {
      if (!text.law.empty() && text.law != law.name) continue;
      for (const auto& kernel : kernels::builtin_kernels()) {
        const Verdict verdict = check_case(*kernel, law, on.value());
        EXPECT_FALSE(is_violation(verdict.outcome)) << kernel->description().name << " " << law.name
                                                    << " '" << line << "' " << verdict.reason;
      }
    }
  }
}

}  // namespace
}  // namespace attest::properties
