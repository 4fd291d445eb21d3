// Laws as GoogleTest tests.
#include <gtest/gtest-spi.h>

#include "attest/gtest.hpp"
#include "kernels/registry.hpp"
#include "mutants/mutants.hpp"

namespace attest::harness {
namespace {

/// A kernel of the library under shared ownership, as the tests take theirs.
std::shared_ptr<const Kernel> shared(const Kernel* kernel) {
  return {std::shared_ptr<const Kernel>(), kernel};
}
std::shared_ptr<const Kernel> right() {
  return shared(kernels::find_builtin("builtin:scalar_tree"));
}

ATTEST_ATTENTION_TEST(RightKernel, Short, right(),
                      {.laws = {"bound.*", "merge.two_empties"}, .dtypes = {Dtype::f32}});

/// Names of the registered tests of a suite.
std::vector<std::string> tests_of(const std::string& suite) {
  std::vector<std::string> names;
  const auto& all = *testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i)
    for (int j = 0; j < all.GetTestSuite(i)->total_test_count(); ++j)
      if (all.GetTestSuite(i)->name() == suite)
        names.emplace_back(all.GetTestSuite(i)->GetTestInfo(j)->name());
  return names;
}

TEST(LawTests, AreOneTestALaw) {
  EXPECT_EQ(tests_of("RightKernel_Short"),
            (std::vector<std::string>{"merge_two_empties", "bound_out", "bound_lse"}));
}

TEST(LawTests, HoldForARightKernel) {
  const LawResult result = run_law(*right(), *properties::find_law("bound.out"), {});
  EXPECT_EQ(result.outcome, LawOutcome::holds) << result.text;
}

TEST(LawTests, ShowAShrunkCaseOfAWrongKernel) {
  const Kernel& wrong = *mutants::find("mutant:averages_tile_outputs")->kernel;
  const LawResult result = run_law(wrong, *properties::find_law("bound.out"), {});
  EXPECT_EQ(result.outcome, LawOutcome::broken);
  for (const char* const part : {"FAIL bound.out", "shrinking ", "  ratio ",
                                 "replay     attest replay mutant:averages_tile_outputs '1x1:"})
    EXPECT_NE(result.text.find(part), std::string::npos) << part << "\n" << result.text;
}

TEST(LawTests, AreNoMatterWhereTheKernelDeclaresNothing) {
  const LawResult result = run_law(*kernels::find_builtin("builtin:eigen_materialised"),
                                   *properties::find_law("gradient.dq"), {});
  EXPECT_EQ(result.outcome, LawOutcome::no_matter) << result.text;
}

TEST(LawTests, RefuseWrongOptions) {
  EXPECT_FALSE(selected_laws({.laws = {"no.such_law"}}).ok());
  const properties::Law& law = *properties::find_law("bound.out");
  EXPECT_EQ(run_law(*right(), law, {.tier = "hourly"}).outcome, LawOutcome::broken);
  EXPECT_EQ(run_law(*mutants::find("mutant:averages_tile_outputs")->kernel, law,
                    {.dtypes = {Dtype::bf16}})
                .outcome,
            LawOutcome::broken);
}

TEST(LawTests, FailAsTestsOfGoogleTest) {
  EXPECT_NONFATAL_FAILURE(
      LawTest(shared(mutants::find("mutant:averages_tile_outputs")->kernel.get()),
              *properties::find_law("bound.out"), {.cases = 5, .shrink_seconds = 0})
          .TestBody(),
      "FAIL bound.out");
  EXPECT_NONFATAL_FAILURE(WrongLawTests("no law is like that").TestBody(), "no law is like that");
}

TEST(LawTests, RunTheCasesThatAreAskedFor) {
  const Kernel& wrong = *mutants::find("mutant:sink_of_decode_only")->kernel;
  const properties::Law& law = *properties::find_law("bound.out");
  EXPECT_EQ(run_law(wrong, law, {.tier = "ci", .shrink_seconds = 0}).outcome, LawOutcome::broken);
}

}  // namespace
}  // namespace attest::harness
