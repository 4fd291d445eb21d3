// The selftest itself can fail: a bug made harmless, a correct kernel that is wrong, a law that
// finds nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include "kernels/registry.hpp"
#include "mutants/mutants.hpp"
#include "selftest/comparison.hpp"
#include "selftest/correct_kernels.hpp"
#include "selftest/in_threads.hpp"
#include "selftest/summary.hpp"

namespace attest::selftest {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

PlantedBug bug(std::string_view name) {
  const mutants::Mutant* const mutant = mutants::find(name);
  return {mutant->kernel.get(), mutant->killed_by};
}

const Kernel* correct_kernel() {
  return kernels::find_builtin("builtin:scalar_tree");
}

/// Few cases of few laws.
Plan small_plan() {
  Plan plan;
  plan.bugs = {bug("mutant:averages_tile_outputs"), bug("mutant:lse_in_base_two")};
  plan.correct = {correct_kernel()};
  plan.effort = {20, 3, 3, 2000};
  return plan;
}

bool same(const Matrix& left, const Matrix& right) {
  for (std::size_t row = 0; row < left.bugs.size(); ++row) {
    const BugResult& a = left.bugs[row];
    const BugResult& b = right.bugs[row];
    for (std::size_t i = 0; i < a.cells.size(); ++i)
      if (a.cells[i].cases != b.cells[i].cases || a.cells[i].killed != b.cells[i].killed)
        return false;
    if (a.is_caught() != b.is_caught()) return false;
    if (a.is_caught() && minimal_text(properties::to_text(a.counterexample->shrunk.smallest)) !=
                             minimal_text(properties::to_text(b.counterexample->shrunk.smallest)))
      return false;
  }
  return true;
}

TEST(Selftest, PassesWhereEveryBugIsCaughtByItsLaw) {
  const Matrix matrix = run_matrix(small_plan());
  const Summary summary = summarise(matrix, false);
  EXPECT_TRUE(summary.passed);
  EXPECT_EQ(summary.caught, 2U);
  EXPECT_THAT(summary.accused, IsEmpty());
  EXPECT_GT(matrix.correct[0].judged, 0);
  EXPECT_LE(summary.largest.keys, 4);
}

TEST(Selftest, FailsWhereABugWasMadeHarmless) {
  Plan plan = small_plan();
  plan.bugs[1].kernel = correct_kernel();  // still said to be killed by its law
  const Summary summary = summarise(run_matrix(plan), false);
  EXPECT_FALSE(summary.passed);
  EXPECT_THAT(summary.survivors, ElementsAre(1U));
}

TEST(Selftest, FailsWhereAnotherLawThanTheNamedOneCatchesABug) {
  Plan plan = small_plan();
  plan.bugs[1].law = "contract.inputs_untouched";
  const Summary summary = summarise(run_matrix(plan), false);
  EXPECT_FALSE(summary.passed);
  EXPECT_THAT(summary.survivors, IsEmpty());
  EXPECT_THAT(summary.missed, ElementsAre(1U));
}

TEST(Selftest, FailsWhereACorrectKernelIsAccused) {
  Plan plan = small_plan();
  plan.correct.push_back(mutants::find("mutant:forgets_the_scale")->kernel.get());
  const Matrix matrix = run_matrix(plan);
  const Summary summary = summarise(matrix, false);
  EXPECT_FALSE(summary.passed);
  EXPECT_THAT(summary.accused, ElementsAre(1U));
  EXPECT_THAT(matrix.correct[0].alarms, IsEmpty());
}

Verdict always_ok(const Kernel&, const properties::Case&) {
  return Verdict::ok();
}

TEST(Selftest, FailsWhereALawCatchesNothing) {
  const std::vector<Law> laws{*properties::find_law("bound.out"),
                              *properties::find_law("bound.lse"),
                              {"never.fails", "", "", always_ok}};
  Plan plan = small_plan();
  plan.laws = laws;
  const Matrix matrix = run_matrix(plan);
  EXPECT_TRUE(summarise(matrix, false).passed);
  const Summary of_all = summarise(matrix, true);
  EXPECT_FALSE(of_all.passed);
  ASSERT_THAT(of_all.idle, SizeIs(1));
  EXPECT_EQ(of_all.idle[0]->name, "never.fails");
}

TEST(Selftest, FailsWhereALawIsDeletedThatABugNames) {
  const std::vector<Law> laws{*properties::find_law("bound.out")};
  Plan plan = small_plan();
  plan.laws = laws;
  const Summary summary = summarise(run_matrix(plan), false);
  EXPECT_FALSE(summary.passed);
  EXPECT_THAT(summary.survivors, ElementsAre(1U));
}

TEST(Selftest, SaysWhichBugsOnlyOneLawCatches) {
  const std::vector<Law> laws{*properties::find_law("bound.out"),
                              *properties::find_law("bound.lse")};
  Plan plan = small_plan();
  plan.laws = laws;
  plan.effort.others = 20;
  const Summary summary = summarise(run_matrix(plan), false);
  EXPECT_THAT(summary.laws[0].only, ElementsAre(0U));
  EXPECT_THAT(summary.laws[1].only, ElementsAre(1U));
  EXPECT_THAT(summary.laws[1].named, ElementsAre(1U));
}

TEST(Selftest, GivesTheSameMatrixForAnyNumberOfJobs) {
  Plan plan = small_plan();
  // One whose calls are counted by a thread.
  plan.bugs.push_back(bug("mutant:order_depends_on_call"));
  plan.bugs.push_back(bug("mutant:dq_differs_now_and_then"));
  const Matrix alone = run_matrix(plan);
  plan.jobs = 3;
  EXPECT_TRUE(same(alone, run_matrix(plan)));
  plan.seed = 1;
  EXPECT_FALSE(same(alone, run_matrix(plan)));
}

TEST(Selftest, SaysThatItWasInterrupted) {
  const std::atomic<bool> stop{true};
  Plan plan = small_plan();
  plan.stop = &stop;
  const Matrix matrix = run_matrix(plan);
  EXPECT_FALSE(matrix.complete);
  const Summary summary = summarise(matrix, true);
  EXPECT_FALSE(summary.passed);
  EXPECT_THAT(summary.survivors, IsEmpty());
}

TEST(CorrectKernels, AreManyAndNoWrongOneIsAmongThem) {
  const std::vector<const Kernel*> kernels = correct_kernels();
  EXPECT_GE(kernels.size(), 40U);
  for (const Kernel* kernel : kernels)
    EXPECT_EQ(mutants::find(kernel->description().name), nullptr) << kernel->description().name;
}

// The merge laws once took the kernel's own tiling for that of their leaves.
TEST(CorrectKernels, WithATilingOfTheirOwnKeepTheLawsThatCutTheRowThemselves) {
  ProblemText text;
  TextError error;
  ASSERT_TRUE(
      parse_problem_text("3x1:7x4:96 f64 mask=causal:br lse=ln tile=5x4 split=at:1,2,2,4 "
                         "vals=normal:212230",
                         text, error));
  const auto on = properties::make_case(text, nullptr);
  ASSERT_TRUE(on.ok());
  const auto kernels = correct_kernels();
  const auto kernel = std::find_if(kernels.begin(), kernels.end(), [](const Kernel* each) {
    return each->description().name == "mutant:declares_its_own_tiling";
  });
  ASSERT_NE(kernel, kernels.end());
  const Law& law = *properties::find_law("merge.summary_bound");
  EXPECT_EQ(properties::check_case(**kernel, law, on.value()).outcome, Outcome::ok);
}

TEST(CorrectKernels, AreJudgedAgainWithEverySeed) {
  Plan plan = small_plan();
  const std::vector<CorrectResult> results = run_correct(plan, 3);
  ASSERT_THAT(results, SizeIs(3));
  EXPECT_EQ(results[2].seed, plan.seed + 2);
  for (const CorrectResult& result : results) {
    EXPECT_TRUE(result.complete);
    EXPECT_THAT(result.alarms, IsEmpty());
  }
}

TEST(Comparison, RulesOverlookWhatLawsCatch) {
  Plan plan = small_plan();
  plan.bugs.push_back(bug("mutant:changes_an_input"));
  const Comparison comparison = compare_rules(plan, 20);
  const std::size_t twin = 1;
  EXPECT_TRUE(comparison.bugs[0].families.by_rule[twin]);   // an output of another size
  EXPECT_FALSE(comparison.bugs[1].families.by_rule[twin]);  // the lse, which no rule looks at
  for (const ComparisonRow& row : comparison.bugs) EXPECT_TRUE(row.families.by_laws);
  EXPECT_FALSE(comparison.correct[0].families.by_laws);
}

TEST(InThreads, RunsEveryTaskOnceAndThrowsWhatATaskThrows) {
  std::vector<std::atomic<int>> times(50);
  Index last = 0;
  in_threads(
      50, 4, nullptr, [&](Index task) { ++times[static_cast<std::size_t>(task)]; },
      [&](Index finished) { last = finished; });
  for (const auto& count : times) EXPECT_EQ(count, 1);
  EXPECT_EQ(last, 50);
  EXPECT_THROW(in_threads(3, 2, nullptr, [](Index) { throw std::runtime_error("a task"); }, {}),
               std::runtime_error);
}

}  // namespace
}  // namespace attest::selftest
