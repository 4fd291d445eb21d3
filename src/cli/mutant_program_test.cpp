// Every wrong kernel is found by the law it names, and its replay line fails on its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "cli/test_program.hpp"
#include "cli/test_run_files.hpp"
#include "mutants/mutants.hpp"

namespace attest::cli {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::StartsWith;

/// A violation, or a crash.
const auto kIsRed = AnyOf(1, 4);

class Mutant : public ProgramTest, public testing::WithParamInterface<std::string> {};

TEST_P(Mutant, IsFoundByItsLawAndItsReplayFailsAlone) {
  const std::string name = "mutant:" + GetParam();
  const std::string law(mutants::find(name)->killed_by);
  const Finished check = run({"check", name, "--only", law, "--out", "out"});
  SCOPED_TRACE(check.out);
  EXPECT_THAT(check.exit_code, kIsRed);
  EXPECT_EQ(check.err, "");
  EXPECT_THAT(last_line(check.out), StartsWith("FAILED  "));
  const std::size_t found = check.out.find(check.exit_code == 1 ? "FAIL " : "CRASH ");
  ASSERT_NE(found, std::string::npos);
  EXPECT_LT(found, check.out.find("\nshrinking "));
  json_lines(read("out/run.jsonl"));

  // The replay line, split as a shell splits it, and nothing else.
  Words replay = shell_words(labelled(check.out, "replay"));
  ASSERT_GE(replay.size(), 3U);
  EXPECT_EQ(replay[0], "attest");
  replay.erase(replay.begin());
  const Finished again = run(replay);
  EXPECT_EQ(again.exit_code, check.exit_code) << again.out;
  EXPECT_THAT(again.out, HasSubstr(law));
  EXPECT_THAT(last_line(again.out), StartsWith("FAILED  0 passed  1 violated"));

  const std::string saved = labelled(check.out, "saved");
  EXPECT_TRUE(exists(saved + "/case.json") && exists(saved + "/case.safetensors"));
  EXPECT_EQ(run({"replay", saved}).exit_code, check.exit_code);

  // The same case on a correct kernel; weak or unproven there is no violation.
  ASSERT_EQ(replay[1], name);
  replay[1] = "builtin:scalar_tree";
  const Finished correct = run(replay);
  EXPECT_THAT(correct.exit_code, AnyOf(0, 3)) << correct.out;
}

INSTANTIATE_TEST_SUITE_P(Every, Mutant, testing::ValuesIn([] {
                           std::vector<std::string> names;
                           for (const mutants::Mutant& mutant : mutants::all())
                             names.push_back(mutant.kernel->description().name.substr(
                                 std::string("mutant:").size()));
                           return names;
                         }()),
                         [](const auto& name) { return name.param; });

using Shrinking = ProgramTest;

TEST_F(Shrinking, TheMergeThatAveragesTileOutputsShrinksToTwoKeysAndSmallWholeNumbers) {
  const Finished check =
      run({"check", "mutant:averages_tile_outputs", "--only", "bound.out", "--out", "out"});
  const Words replay = shell_words(labelled(check.out, "replay"));
  ASSERT_EQ(replay.size(), 4U) << check.out;
  EXPECT_THAT(replay.back(), StartsWith("1x1:1x2:1 f32 lse=ln tile=1 vals=lit:1;1,0;1,0 "));
}

TEST_F(Shrinking, WithoutTimeForItTheFoundCaseIsSavedAndReplayed) {
  const Finished check = run({"check", "mutant:forgets_the_scale", "--only", "bound.lse", "--out",
                              "out", "--shrink-time", "0"});
  EXPECT_EQ(check.exit_code, 1);
  EXPECT_THAT(check.out, HasSubstr("\nshrinking  not tried\n"));
  Words replay = shell_words(labelled(check.out, "replay"));
  replay.erase(replay.begin());
  EXPECT_EQ(run(replay).exit_code, 1);
}

/// Too long for a line in a terminal once all its numbers are written out.
std::string long_problem() {
  std::string numbers = "0.125";
  for (int key = 1; key < 2000; ++key) numbers += ",0.125";
  return "1x1:1x2000:1 f32 lse=ln law=bound.lse vals=lit:1;" + numbers + ";" + numbers;
}

class LongReplay : public ProgramTest {
 protected:
  void expect_replay_of_saved_folder(const std::string& out) const {
    const Finished check = run(
        {"check", "mutant:lse_in_base_two", long_problem(), "--out", out, "--shrink-time", "0"});
    EXPECT_EQ(check.exit_code, 1);
    Words replay = shell_words(labelled(check.out, "replay"));
    replay.erase(replay.begin());
    EXPECT_EQ(replay, (Words{"replay", labelled(check.out, "saved")}));
    EXPECT_EQ(run(replay).exit_code, 1);
  }
};

TEST_F(LongReplay, NamesTheSavedFolder) {
  expect_replay_of_saved_folder("out");
}

TEST_F(LongReplay, QuotesAFolderWithASpace) {
  expect_replay_of_saved_folder("a folder");
}

}  // namespace
}  // namespace attest::cli
