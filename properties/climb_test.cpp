// The search is a function of its plan and the number of evaluations, and finds more than chance.
#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "kernels/registry.hpp"
#include "mutants/mutants.hpp"
#include "properties/check.hpp"
#include "properties/climb.hpp"
#include "properties/test_case_of.hpp"

namespace attest::properties {
namespace {

const OutOfTime kNever = [] { return false; };

ClimbPlan plan_of(std::string_view kernel = "builtin:scalar_tree",
                  std::string_view law = "bound.out") {
  ClimbPlan plan;
  plan.kernel = kernels::find_builtin(kernel);
  plan.law = find_law(law);
  plan.seed = 7;
  return plan;
}

/// Everything about a result that must repeat.
std::string text_of(const Climb& climb) {
  if (!climb.best()) return "nothing";
  const Climbed& best = *climb.best();
  return std::to_string(climb.evaluations()) + " " + std::to_string(best.evaluation) + " " +
         number_text(best.ratio, Dtype::f64) + " " + minimal_text(to_text(best.value));
}

Climb climbed(const ClimbPlan& plan, Index evaluations, int jobs) {
  Climb climb(plan);
  while (climb.evaluations() < evaluations &&
         climb.run_round(evaluations - climb.evaluations(), jobs, kNever)) {
  }
  return climb;
}

TEST(Climb, RepeatsForASeedAndACountWhateverTheJobs) {
  for (const char* const law : {"bound.out", "bound.lse"}) {
    const ClimbPlan plan = plan_of("builtin:flash_bf16p", law);
    const Index evaluations = kRoundEvaluations + 700;
    const Climb once = climbed(plan, evaluations, 1);
    ASSERT_TRUE(once.best());
    EXPECT_EQ(once.evaluations(), evaluations);
    EXPECT_EQ(text_of(climbed(plan, evaluations, 1)), text_of(once));
    EXPECT_EQ(text_of(climbed(plan, evaluations, 3)), text_of(once));
    ClimbPlan other = plan;
    other.seed = 8;
    EXPECT_NE(text_of(climbed(other, evaluations, 1)), text_of(once));
  }
}

TEST(Climb, WhatIsCutShortIsTheBeginningOfTheSameSearch) {
  const ClimbPlan plan = plan_of();
  for (const int jobs : {1, 3}) {
    Climb cut(plan);
    std::atomic<int> asked{0};
    EXPECT_FALSE(cut.run_round(kRoundEvaluations, jobs, [&] { return ++asked > 3000; }));
    ASSERT_GT(cut.evaluations(), 0);
    ASSERT_LT(cut.evaluations(), kRoundEvaluations);
    EXPECT_EQ(text_of(climbed(plan, cut.evaluations(), 1)), text_of(cut)) << jobs << " jobs";
  }
}

TEST(Climb, GoesOnWithAnEarlierRunAsIfItHadNotEnded) {
  const ClimbPlan plan = plan_of();
  const Climb whole = climbed(plan, 2 * kRoundEvaluations, 2);
  const Climb first = climbed(plan, kRoundEvaluations, 2);
  Climb second(plan, first.best(), first.evaluations());
  second.run_round(kRoundEvaluations, 2, kNever);
  EXPECT_EQ(text_of(second), text_of(whole));
}

TEST(Climb, TheBestHasTheRatioThatTheLawGivesIt) {
  const ClimbPlan plan = plan_of("builtin:flash_e4m3p");
  const Climb climb = climbed(plan, 4096, 2);
  ASSERT_TRUE(climb.best());
  const Verdict verdict = check_case(*plan.kernel, *plan.law, climb.best()->value);
  EXPECT_EQ(verdict.outcome, Outcome::ok);
  EXPECT_EQ(verdict.worst_ratio, climb.best()->ratio);
  EXPECT_LE(climb.best()->ratio, 1);
  EXPECT_LE(climb.best()->value.problem.seq_kv, plan.max_keys);
}

/// The problem of which docs/fuzzing has a table: 8 keys, head_dim 8, 2 columns, one tile.
TEST(Climb, FindsMuchMoreThanEquallyManyRandomCases) {
  ClimbPlan plan = plan_of();
  plan.shape = case_of("1x1:1x8:8/2 f32 tile=16");
  const Climb climb = climbed(plan, 3 * kRoundEvaluations, 2);
  RandomTesting random(plan, RandomKind::normal);
  EXPECT_TRUE(random.run(climb.evaluations(), 2, kNever));
  EXPECT_EQ(random.evaluations(), climb.evaluations());
  ASSERT_TRUE(climb.best());
  EXPECT_GT(random.ratio(), 0.1);
  EXPECT_GE(climb.best()->ratio, 1.5 * random.ratio());
  EXPECT_EQ(climb.best()->value.problem.seq_kv, 8);
}

TEST(Climb, ReachesTheBoundOfNarrowWeights) {
  const Climb climb = climbed(plan_of("builtin:flash_bf16p"), 3 * kRoundEvaluations, 2);
  ASSERT_TRUE(climb.best());
  EXPECT_GE(climb.best()->ratio, 0.9);
  EXPECT_LE(climb.best()->ratio, 1);
}

TEST(Climb, ClimbsGradients) {
  const Climb climb = climbed(plan_of("builtin:scalar_tree", "gradient.dv"), 256, 2);
  ASSERT_TRUE(climb.best());
  EXPECT_GT(climb.best()->ratio, 0);
  EXPECT_LE(climb.best()->ratio, 1);
}

TEST(Climb, EndsWithTheViolationOfAWrongKernel) {
  ClimbPlan plan = plan_of();
  plan.kernel = mutants::find("mutant:averages_tile_outputs")->kernel.get();
  const Climb climb = climbed(plan, kRoundEvaluations, 2);
  ASSERT_TRUE(climb.violation());
  EXPECT_EQ(climb.violation()->verdict.outcome, Outcome::fail);
  EXPECT_EQ(check_case(*plan.kernel, *plan.law, climb.violation()->value).outcome, Outcome::fail);
  EXPECT_LT(climb.evaluations(), kRoundEvaluations);
}

/// The wrong call is every second one of a thread, so that the call that confirms it is right.
TEST(Climb, AViolationThatDoesNotRepeatIsFlaky) {
  ClimbPlan plan = plan_of("builtin:scalar_tree", "gradient.dq");
  plan.kernel = mutants::find("mutant:dq_differs_now_and_then")->kernel.get();
  Climb climb(plan);
  // So few that only one episode has any: another one would see the violation again.
  EXPECT_FALSE(climb.run_round(8, 1, kNever));
  ASSERT_TRUE(climb.violation());
  EXPECT_EQ(climb.violation()->verdict.outcome, Outcome::flaky);
  EXPECT_NE(climb.violation()->verdict.reason.find("a second run of the same case passed"),
            std::string::npos);
}

TEST(RandomTesting, AViolationThatDoesNotRepeatIsFlaky) {
  ClimbPlan plan = plan_of("builtin:scalar_tree", "gradient.dq");
  plan.kernel = mutants::find("mutant:dq_differs_now_and_then")->kernel.get();
  RandomTesting random(plan, RandomKind::normal);
  EXPECT_FALSE(random.run(200, 1, kNever));
  ASSERT_TRUE(random.violation());
  EXPECT_EQ(random.violation()->verdict.outcome, Outcome::flaky);
}

TEST(RandomTesting, RepeatsWhateverTheJobsAndThePieces) {
  const ClimbPlan plan = plan_of();
  RandomTesting whole(plan, RandomKind::drawn);
  whole.run(500, 1, kNever);
  RandomTesting pieces(plan, RandomKind::drawn);
  pieces.run(130, 3, kNever);
  pieces.run(370, 3, kNever);
  EXPECT_EQ(pieces.ratio(), whole.ratio());
  EXPECT_GT(whole.ratio(), 0);
}

TEST(SignsOfWeightErrors, MakeTheErrorsOfNarrowWeightsAddUp) {
  const Kernel& kernel = *kernels::find_builtin("builtin:flash_bf16p");
  const Law& law = *find_law("bound.out");
  double before = 0;
  double after = 0;
  for (int seed = 0; seed < 100; ++seed) {
    const Case of = case_of("1x1:1x16:4/3 f32 tile=4 vals=normal:" + std::to_string(seed));
    SeededDraw draw(1);
    const auto aligned = with_signs_of_weight_errors(kernel, of, draw);
    ASSERT_TRUE(aligned);
    EXPECT_EQ(aligned->k.bytes(), of.k.bytes());
    before += check_once(kernel, law, of).worst_ratio;
    after += check_once(kernel, law, *aligned).worst_ratio;
  }
  EXPECT_GT(after, 1.2 * before);
}

TEST(SignsOfWeightErrors, DoNotApplyWhereValuesAreKeys) {
  SeededDraw draw(1);
  EXPECT_FALSE(with_signs_of_weight_errors(*kernels::find_builtin("builtin:scalar_tree"),
                                           case_of("1x1:1x4:2 f32 v=view(k) vals=normal:1"), draw));
}

TEST(CanBeClimbed, LawsWithABound) {
  EXPECT_TRUE(can_be_climbed(*find_law("bound.lse")));
  EXPECT_TRUE(can_be_climbed(*find_law("gradient.dsink")));
  EXPECT_FALSE(can_be_climbed(*find_law("mask.tables")));
  EXPECT_FALSE(can_be_climbed(*find_law("gradient.repeat_bits")));
}

}  // namespace
}  // namespace attest::properties
