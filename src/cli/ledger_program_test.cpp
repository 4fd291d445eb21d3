// Runs with known failures, as a user sees them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/test_program.hpp"

namespace attest::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kWrong = "mutant:causal_one_too_many";
constexpr const char* kProblem = "1x2:8x8:4 f32 mask=causal:tl";
constexpr const char* kEntry =
    "mask=causal* law=bound.out issue=https://x.org/7 until=2099-12-31 run\n";

class LedgerProgram : public ProgramTest {
 protected:
  Finished check(const std::string& kernel, const Words& more = {}) const {
    Words words{"check",   kernel,      kProblem, "--only", "bound.out",
                "--known", "known.txt", "--out",  "out"};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }
};

TEST_F(LedgerProgram, AKnownFailureIsNotRed) {
  write("known.txt", kEntry);
  const Finished finished = check(kWrong, {"--format", "text", "--format", "junit=junit.xml"});
  EXPECT_EQ(finished.exit_code, 0) << finished.out << finished.err;
  EXPECT_THAT(finished.out, Not(HasSubstr("FAIL")));
  EXPECT_THAT(finished.out, HasSubstr("\nknown   known.txt:1  mask=causal* law=bound.out: 1 of 1 "
                                      "case failed  (https://x.org/7, until 2099-12-31)\n"));
  EXPECT_THAT(last_line(finished.out), StartsWith("PASSED  1 case"));
  EXPECT_THAT(last_line(finished.out), HasSubstr("  1 known  "));
  EXPECT_THAT(read("junit.xml"), HasSubstr("<skipped message=\"1 known failure; known   known"));
  EXPECT_THAT(read("out/run.jsonl"), HasSubstr("\"outcome\":\"known\""));
  EXPECT_THAT(read("out/summary.md"), HasSubstr("known.txt:1"));
  EXPECT_THAT(read("out/report.html"), HasSubstr("\"known\":1"));
  const Finished again = run({"report", "out"});
  EXPECT_THAT(again.out, HasSubstr("known.txt:1")) << again.err;
}

TEST_F(LedgerProgram, WithoutTheLedgerItIsRed) {
  write("known.txt", "mask=none law=bound.out issue=#1 until=2099-12-31 run\n");
  const Finished finished = check(kWrong);
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(finished.out, HasSubstr("\nunused  known.txt:1  mask=none law=bound.out: no case"));
}

TEST_F(LedgerProgram, AnUnexpectedPassIsRedWithItsOwnExitCode) {
  write("known.txt", kEntry);
  const Finished finished =
      check("builtin:textbook", {"--format", "text", "--format", "junit=j.xml"});
  EXPECT_EQ(finished.exit_code, 5) << finished.out << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("XPASS bound.out  case 1"));
  EXPECT_THAT(finished.out, HasSubstr("1 case of a known failure, and none fails: take out "
                                      "known.txt:1 (https://x.org/7)"));
  EXPECT_THAT(finished.out, HasSubstr("\nxpass   known.txt:1"));
  EXPECT_THAT(last_line(finished.out), StartsWith("FAILED  1 violation"));
  EXPECT_THAT(read("j.xml"), HasSubstr("<failure type=\"xpass\""));
  EXPECT_THAT(read("out/run.jsonl"), HasSubstr("\"outcome\":\"xpass\""));
}

TEST_F(LedgerProgram, ARealFailureOutweighsAnUnexpectedPass) {
  write("known.txt", "lk=3 law=bound.out issue=#1 until=2099-12-31 run\n");
  const Finished finished = run({"check", kWrong, "1x1:3x3:4 f32", kProblem, "--only", "bound.out",
                                 "--known", "known.txt", "--out", "out"});
  EXPECT_EQ(finished.exit_code, 1) << finished.out;
  EXPECT_THAT(finished.out, HasSubstr("XPASS"));
}

TEST_F(LedgerProgram, AnExpiredEntryIsNoExcuse) {
  write("known.txt", "law=bound.out issue=#1 until=2020-02-29 run\n");
  const Finished finished = check(kWrong);
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(finished.out, HasSubstr("\nexpired known.txt:1  law=bound.out: the entry no longer "
                                      "counts  (#1, until 2020-02-29)\n"));
}

TEST_F(LedgerProgram, WhatIsNeverLaunchedIsSkippedWithItsIssue) {
  write("known.txt", "lk>4 law=* issue=https://x.org/8 until=2099-12-31 never-launch\n");
  const Finished finished = check(kWrong);
  EXPECT_EQ(finished.exit_code, 3) << "nothing was checked";
  EXPECT_THAT(read("out/run.jsonl"),
              HasSubstr("\"reason\":\"known failure, never launched: https://x.org/8\""));
  EXPECT_THAT(finished.out, HasSubstr("not launched"));
}

TEST_F(LedgerProgram, ABadLineIsOneErrorWithACaret) {
  write("known.txt", "# fine\nspeed=fast law=* issue=#1 until=2099-12-31 run\n");
  const Finished finished = check(kWrong);
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_EQ(finished.out, "");
  EXPECT_THAT(finished.err,
              StartsWith("attest: known.txt:2: this is no known failure:\nspeed=fast"));
  EXPECT_THAT(finished.err, HasSubstr("\n^ unknown key 'speed'"));
  EXPECT_EQ(run({"check", kWrong, "--known", "missing.txt"}).exit_code, 2);
}

TEST_F(LedgerProgram, ReplayKnowsThemToo) {
  write("known.txt", kEntry);
  const std::string line = std::string(kProblem) + " law=bound.out";
  const Finished known = run({"replay", kWrong, line, "--known", "known.txt"});
  EXPECT_EQ(known.exit_code, 0) << known.out << known.err;
  EXPECT_THAT(last_line(known.out), StartsWith("PASSED  0 passed  0 violated"));
  EXPECT_THAT(last_line(known.out), HasSubstr("1 known"));
  EXPECT_EQ(run({"replay", kWrong, line}).exit_code, 1);
  EXPECT_EQ(run({"replay", "builtin:textbook", line, "--known", "known.txt"}).exit_code, 5);
}

}  // namespace
}  // namespace attest::cli
