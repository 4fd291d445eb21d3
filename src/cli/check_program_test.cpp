// attest check: what a run prints and writes, seeds, tiers and problem lines.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/test_program.hpp"
#include "cli/test_run_files.hpp"
#include "properties/laws.hpp"

namespace attest::cli {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::string kTree = "builtin:scalar_tree";
const std::string kDefaultSeed = "0x5EED1A77";

class CheckProgram : public ProgramTest {
 protected:
  /// The lines of run.jsonl of a smoke run into `out`.
  std::vector<Json> smoke(const std::string& kernel, const std::string& out,
                          const Words& more) const {
    Words arguments{"check", kernel, "--tier", "smoke", "--out", out};
    arguments.insert(arguments.end(), more.begin(), more.end());
    EXPECT_EQ(run(arguments).err, "");
    return without_times(json_lines(read(out + "/run.jsonl")));
  }

  /// A run on one problem.
  Finished check(const std::string& problem, const Words& more = {}) const {
    Words arguments{"check", kTree, problem, "--out", "out"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }

  /// Law and problem of every case of the run in `out`.
  std::vector<std::string> cases() const {
    std::vector<std::string> found;
    for (const Json& line : json_lines(read("out/run.jsonl")))
      if (line["type"] == "case")
        found.push_back(line["law"].get<std::string>() + " " + line["problem"].get<std::string>());
    return found;
  }
};

TEST_F(CheckProgram, PassesACorrectKernelAndShowsEveryLaw) {
  const Finished smoke = run({"check", kTree, "--tier", "smoke", "--out", "out"});
  EXPECT_EQ(smoke.exit_code, 0) << smoke.out;
  EXPECT_EQ(smoke.err, "");
  for (const properties::Law& law : properties::laws())
    EXPECT_THAT(smoke.out, HasSubstr("\n" + std::string(law.name) + " "));
  EXPECT_THAT(last_line(smoke.out),
              AllOf(StartsWith("PASSED  "), HasSubstr("seed " + kDefaultSeed), EndsWith("  out")));
  EXPECT_THAT(read("out/summary.md"), AllOf(HasSubstr("PASSED"), HasSubstr("`bound.out`")));
  EXPECT_FALSE(exists("out/cases"));
}

TEST_F(CheckProgram, WritesOneJsonLineACaseBetweenEnvironmentAndSummary) {
  const std::vector<Json> lines = smoke(kTree, "out", {});
  ASSERT_GT(lines.size(), 2U);
  EXPECT_EQ(lines.front()["type"], "environment");
  EXPECT_EQ(lines.front()["kernel"], kTree);
  EXPECT_EQ(lines.front()["seed"], kDefaultSeed);
  EXPECT_EQ(lines.back()["type"], "summary");
  EXPECT_EQ(lines.back()["outcome"], "passed");
  EXPECT_EQ(lines.back()["laws"].size(), properties::laws().size());
  std::size_t counted = 0;
  for (const Json& law : lines.back()["laws"]) counted += law["cases"].get<std::size_t>();
  std::size_t cases = 0;
  for (std::size_t i = 1; i + 1 < lines.size(); ++i) {
    EXPECT_THAT(lines[i]["type"].get<std::string>(),
                testing::AnyOf("case", "statistics", "power", "bits", "heat", "check"));
    cases += lines[i]["type"] == "case" ? 1 : 0;
  }
  EXPECT_EQ(counted, cases);
  EXPECT_EQ(lines.back()["cases"], cases);
}

TEST_F(CheckProgram, TheSameSeedGivesTheSameRunAndAnotherSeedAnother) {
  const std::vector<Json> first = smoke(kTree, "first", {"--seed", "17"});
  EXPECT_TRUE(smoke(kTree, "again", {"--seed", "0x11"}) == first);
  EXPECT_FALSE(smoke(kTree, "other", {"--seed", "18"}) == first);
}

TEST_F(CheckProgram, TheNumberOfJobsChangesNoVerdict) {
  for (const std::string& kernel : {kTree, std::string("mutant:causal_one_too_many")}) {
    const std::vector<Json> one = smoke(kernel, "one", {"--jobs", "1"});
    EXPECT_TRUE(smoke(kernel, "two", {"--jobs", "2"}) == one) << kernel;
    EXPECT_TRUE(smoke(kernel, "five", {"--jobs", "5"}) == one) << kernel;
  }
}

TEST_F(CheckProgram, ARandomSeedIsPrintedSoThatTheRunCanBeRepeated) {
  const Finished random =
      run({"check", kTree, "--tier", "smoke", "--seed", "random", "--out", "random"});
  const std::string seed = json_lines(read("random/run.jsonl")).front()["seed"];
  EXPECT_THAT(last_line(random.out), HasSubstr("seed " + seed));
  EXPECT_TRUE(smoke(kTree, "again", {"--seed", seed}) ==
              without_times(json_lines(read("random/run.jsonl"))));
}

TEST_F(CheckProgram, WithoutOutEveryRunHasItsOwnFolderAndLatestIsTheLast) {
  std::vector<std::string> folders;
  for (int times = 0; times < 2; ++times) {
    const std::string line =
        last_line(run({"check", kTree, "--tier", "smoke", "--only", "bound.out"}).out);
    folders.push_back(line.substr(line.find("attest-out/")));
    EXPECT_TRUE(exists(folders.back() + "/run.jsonl"));
    EXPECT_EQ(read("attest-out/latest/run.jsonl"), read(folders.back() + "/run.jsonl"));
  }
  EXPECT_NE(folders[0], folders[1]);
}

TEST_F(CheckProgram, OnlyAndSkipChooseLawsByGlobs) {
  const std::vector<Json> lines =
      smoke(kTree, "out", {"--only", "bound.*,empty.forward", "--skip", "*.lse"});
  Words laws;
  for (const Json& law : lines.back()["laws"]) laws.push_back(law["law"]);
  EXPECT_THAT(laws, testing::UnorderedElementsAre("empty.forward", "bound.out"));
}

TEST_F(CheckProgram, AProblemLineIsTheOnlyCaseOfEveryLaw) {
  for (const std::string problem :
       {"1x1:2x5:2 f32 mask=bits:10110/00001 lse=ln", "1x2/1:3x4:2/3 f64 lse=ln",
        "1x1:2x6:2 f32 lse=ln tile=2 merge=tree:0.2.+.1.+"}) {
    const Finished finished = check(problem);
    EXPECT_EQ(finished.exit_code, 0) << finished.out;
    EXPECT_EQ(cases().size(), properties::laws().size());
    for (const std::string& one : cases()) EXPECT_THAT(one, EndsWith(" " + problem));
  }
}

TEST_F(CheckProgram, ALawInAProblemLineIsTheOnlyOneThatRuns) {
  EXPECT_EQ(check("1x1:2x5:2 f32 lse=ln law=bound.out").exit_code, 0);
  EXPECT_THAT(cases(), testing::ElementsAre("bound.out 1x1:2x5:2 f32 lse=ln"));
}

TEST_F(CheckProgram, AProblemFileMayHaveCommentsAndBlankLines) {
  write("lines", "# a comment\n\n1x1:2x5:2 f32 law=bound.out # another\r\n1x1:1x1:1 f64\t\n");
  EXPECT_EQ(run({"check", kTree, "-f", "lines", "--only", "bound.out", "--out", "out"}).exit_code,
            0);
  EXPECT_THAT(cases(), testing::ElementsAre("bound.out 1x1:2x5:2 f32", "bound.out 1x1:1x1:1 f64"));
}

TEST_F(CheckProgram, ARejectProblemIsSkippedByTheLawsThatNeedAnOutput) {
  const Finished reject = check("1x1:3x4:2 f64 mask=bits:0000/1010/1111 empty=reject lse=ln",
                                {"--only", "empty.reject,bound.out"});
  EXPECT_EQ(reject.exit_code, 0) << reject.out;
  EXPECT_THAT(reject.out, ContainsRegex("empty.reject +1 +1 +0 +0 +0 +0 "));
  EXPECT_THAT(reject.out, ContainsRegex("bound.out +1 +0 +0 +0 +1 +0 "));
}

TEST_F(CheckProgram, AProblemWithoutQueriesLeavesNothingToGetWrong) {
  const Finished none = check("1x1:0x5:2 f32 lse=ln");
  EXPECT_EQ(none.exit_code, 3) << none.out;
  EXPECT_THAT(last_line(none.out), StartsWith("UNDECIDED  "));
}

TEST_F(CheckProgram, ARunThatCheckedNothingIsUndecided) {
  for (const Words& more : {Words{"--cases", "0"}, Words{"1x1:1x2:1 f32 lse=ln"},
                            Words{"1x1:1x2:1 f32 law=bound.out"}}) {
    Words arguments{"check", "builtin:textbook", "--only", "merge.any_tree", "--out", "out"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Finished nothing = run(arguments);
    EXPECT_EQ(nothing.exit_code, 3) << nothing.out;
    EXPECT_THAT(last_line(nothing.out), StartsWith("UNDECIDED  nothing was checked"));
  }
}

TEST_F(CheckProgram, NumbersThatAreNotFiniteAreNoViolationOfACorrectKernel) {
  // No exact row exists, so that no law can be decided; but none is broken either.
  for (const std::string values : {"1;nan,1,1;1,1,1", "1;inf,1,1;1,1,1", "1;-inf,1,1;1,1,1",
                                   "nan;1,1,1;1,1,1", "inf;1,1,1;1,1,1", "1;1,1,1;nan,inf,-inf"}) {
    const Finished finished = check("1x1:1x3:1 f32 lse=ln vals=lit:" + values);
    EXPECT_EQ(finished.exit_code, 3) << finished.out;
    EXPECT_THAT(finished.out, Not(HasSubstr("FAIL "))) << values;
  }
}

TEST_F(CheckProgram, AnExcludedNanIsNoReasonForDoubt) {
  const Finished finished = check("1x1:1x3:1 f32 mask=bits:011 lse=ln vals=lit:1;nan,1,1;nan,1,1");
  EXPECT_EQ(finished.exit_code, 0) << finished.out;
}

}  // namespace
}  // namespace attest::cli
