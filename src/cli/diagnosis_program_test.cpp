// What the program says a wrong kernel acts like, and rules of users.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "cli/test_program.hpp"
#include "cli/test_run_files.hpp"

namespace attest::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string kLine = "1x2:4x6:4 f32 mask=causal:tl vals=normal:3";

class DiagnosisProgram : public ProgramTest {};

TEST_F(DiagnosisProgram, CheckSaysWhatAWrongKernelActsLike) {
  const Finished checked =
      run({"check", "mutant:causal_one_too_many", kLine, "--only", "bound.out", "--out", "out"});
  EXPECT_EQ(checked.exit_code, 1);
  EXPECT_THAT(checked.out, HasSubstr("  acts like causal +1 (mask=causal:off=1): explains "));
  bool seen = false;
  for (const Json& line : json_lines(read("out/run.jsonl")))
    if (line["type"] == "case") {
      ASSERT_TRUE(line.contains("acts_like")) << line;
      EXPECT_THAT(line["acts_like"].get<std::string>(), testing::StartsWith("causal +1"));
      seen = true;
    }
  EXPECT_TRUE(seen);
}

TEST_F(DiagnosisProgram, ReplayAndShrinkSayIt) {
  for (const std::string word : {"replay", "shrink"}) {
    const Finished finished = run({word, "mutant:causal_one_too_few", kLine + " law=bound.out"});
    EXPECT_EQ(finished.exit_code, 1) << finished.err;
    EXPECT_THAT(finished.out, HasSubstr("  acts like causal -1")) << word;
  }
}

TEST_F(DiagnosisProgram, NothingIsSaidWhereNothingExplains) {
  const Finished replayed = run(
      {"replay", "mutant:flushes_small_outputs", "1x1:1x1:1 f32 vals=lit:1;1;0.001 law=bound.out"});
  EXPECT_EQ(replayed.exit_code, 1) << replayed.out;
  EXPECT_THAT(replayed.out, Not(HasSubstr("acts like")));
}

TEST_F(DiagnosisProgram, ARuleReplacesTheBoundAndIsRecorded) {
  const Words base{"check",
                   "mutant:forgets_the_scale",
                   "1x2:4x6:4 f32 vals=normal:3",
                   "--only",
                   "bound.out",
                   "--out",
                   "out"};
  EXPECT_EQ(run(base).exit_code, 1);
  Words loose = base;
  loose.insert(loose.end(), {"--rule", "abs:100"});
  const Finished finished = run(loose);
  EXPECT_EQ(finished.exit_code, 3) << finished.out;
  EXPECT_THAT(finished.out,
              AllOf(HasSubstr("override: bound.out and bound.lse compare by abs:100,rel:0"),
                    HasSubstr("power 0.0 %"), HasSubstr("bound.out  would accept all zeros "),
                    HasSubstr("weak")));
  EXPECT_EQ(json_lines(read("out/run.jsonl")).front()["rule_override"], "abs:100,rel:0");
}

TEST_F(DiagnosisProgram, ABadRuleIsShownWithACaret) {
  const Finished finished = run({"check", "builtin:textbook", "--rule", "abs:1e-2,rel:x"});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.err, AllOf(HasSubstr("cannot use this rule:\n"),
                                  HasSubstr("abs:1e-2,rel:x\n             ^")));
}

}  // namespace
}  // namespace attest::cli
