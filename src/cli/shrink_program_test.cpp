// attest shrink: a case that fails becomes a smaller one that fails, and what passes is said to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "cli/test_program.hpp"
#include "cli/test_run_files.hpp"
#include "mutants/mutants.hpp"
#include "properties/check.hpp"
#include "properties/shrink.hpp"
#include "properties/test_case_of.hpp"

namespace attest::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

const std::string kWrong = "mutant:averages_tile_outputs";
const std::string kLine =
    "2x2:3x9:4 f32 mask=causal:br lse=ln tile=4 split=2 vals=ascending:3 law=bound.out";

class ShrinkProgram : public ProgramTest {};

TEST_F(ShrinkProgram, ASmallerCaseStillFailsAndReplays) {
  const Finished finished = run({"shrink", kWrong, kLine});
  SCOPED_TRACE(finished.out + finished.err);
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(finished.out, StartsWith("FAIL bound.out"));
  EXPECT_THAT(last_line(finished.out), StartsWith("FAILED  1 shrunk"));
  const Words replay = shell_words(labelled(finished.out, "replay"));
  ASSERT_EQ(replay.size(), 4U);
  const properties::Case smaller = properties::case_of(replay[3]);
  EXPECT_LT(properties::complexity(smaller), properties::complexity(properties::case_of(kLine)));
  EXPECT_TRUE(is_violation(properties::check_case(*mutants::find(kWrong)->kernel,
                                                  *properties::find_law("bound.out"), smaller)
                               .outcome));
  EXPECT_EQ(run({"replay", replay[2], replay[3]}).exit_code, 1);
}

TEST_F(ShrinkProgram, TheSmallerCaseIsSavedAndASavedCaseIsShrunk) {
  const Finished first = run({"shrink", kWrong, kLine, "--out", "small"});
  const std::string saved = labelled(first.out, "saved");
  EXPECT_TRUE(exists(saved + "/case.json"));
  EXPECT_EQ(run({"replay", saved}).exit_code, 1);
  const Finished again = run({"shrink", saved});
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_THAT(again.out, HasSubstr(" 0 kept"));
  EXPECT_EQ(labelled(again.out, "replay"), labelled(run({"shrink", kWrong, kLine}).out, "replay"));
}

TEST_F(ShrinkProgram, WhereNothingFailsThereIsNothingToShrink) {
  const Finished finished = run({"shrink", "builtin:scalar_tree", kLine});
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_THAT(finished.out, AllOf(StartsWith("ok "), HasSubstr("nothing to shrink")));
  EXPECT_THAT(last_line(finished.out), StartsWith("PASSED  0 shrunk  1 passed"));
  const Finished skipped = run({"shrink", "builtin:textbook", "1x1:1x2:1 f32 law=merge.any_tree"});
  EXPECT_EQ(skipped.exit_code, 3) << skipped.out;
}

TEST_F(ShrinkProgram, WrongUseIsRefused) {
  expect_refused({"shrink", kWrong}, {"shrink", "problem line"});
  expect_refused({"shrink", "1x1:1x2:1 f32"}, {"kernel"});
  expect_refused({"shrink", kWrong, kLine, "--time", "0"}, {"--time"});
}

}  // namespace
}  // namespace attest::cli
