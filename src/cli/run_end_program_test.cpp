// Runs that do not reach their end: interrupted, killed, or out of space.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "cli/test_program.hpp"
#include "cli/test_run_files.hpp"

namespace attest::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// Far more than one case takes, far less than the nightly tier.
constexpr std::chrono::seconds kUntilStopped{20};

const Words kLongRun{"check", "builtin:scalar_tree", "--tier", "nightly", "--out", "out"};

class RunEnd : public ProgramTest {
 protected:
  Running start(const Surroundings& surroundings = {}) const {
    return {kLongRun, folder(), surroundings};
  }

  /// Until run.jsonl has that many lines.
  void wait_for_lines(std::ptrdiff_t count) const {
    wait_until([&] {
      if (!exists("out/run.jsonl")) return false;
      const std::string text = read("out/run.jsonl");
      return std::count(text.begin(), text.end(), '\n') >= count;
    });
  }

  template <class Condition>
  static void wait_until(const Condition& condition) {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (std::chrono::steady_clock::now() < deadline) {
      if (condition()) return;
      std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
    ADD_FAILURE() << "run.jsonl did not get what was waited for";
  }

  /// A long run, interrupted after some cases.
  Finished interrupted() const {
    Running running = start();
    wait_for_lines(100);
    running.send(SIGINT);
    Finished finished = running.wait(kUntilStopped);
    EXPECT_TRUE(finished.in_time);
    return finished;
  }

  static void expect_cannot_write(const Finished& finished, const std::string& file) {
    EXPECT_EQ(finished.exit_code, 2);
    EXPECT_EQ(lines_of(finished.err).size(), 1U) << finished.err;
    EXPECT_THAT(finished.err, AllOf(StartsWith("attest: "), HasSubstr(file)));
  }
};

TEST_F(RunEnd, AnInterruptedRunEndsSoonAndInOrder) {
  const Finished finished = interrupted();
  EXPECT_EQ(finished.exit_code, 3);
  EXPECT_EQ(finished.err, "");
  EXPECT_THAT(last_line(finished.out), HasSubstr("interrupted"));
  EXPECT_THAT(read("out/summary.md"), HasSubstr("interrupted"));
  const std::vector<Json> lines = json_lines(read("out/run.jsonl"));
  EXPECT_EQ(lines.back()["type"], "summary");
  EXPECT_EQ(lines.back()["interrupted"], true);
}

TEST_F(RunEnd, ATimeLimitThatLeftNoLawWithoutACaseIsAPass) {
  const Finished limited = run({"check", "builtin:scalar_tree", "--only", "contract.repeat_bits",
                                "--cases", "1000000", "--time", "1", "--out", "out"});
  EXPECT_EQ(limited.exit_code, 0);
  EXPECT_THAT(last_line(limited.out), StartsWith("PASSED"));
}

TEST_F(RunEnd, ATimeLimitThatLeftALawWithoutACaseIsUndecided) {
  const Finished limited =
      run({"check", "builtin:scalar_tree", "--time", "0.000001", "--out", "out"});
  EXPECT_EQ(limited.exit_code, 3);
}

TEST_F(RunEnd, AnInterruptedRunHasNotPassed) {
  EXPECT_THAT(last_line(interrupted().out), Not(StartsWith("PASSED")));
  EXPECT_THAT(read("out/summary.md"), Not(HasSubstr("PASSED")));
  EXPECT_NE(json_lines(read("out/run.jsonl")).back()["outcome"], "passed");
}

TEST_F(RunEnd, AViolationFoundBeforeTheInterruptIsStillAViolation) {
  Running running(
      {"check", "mutant:lse_in_base_two", "--tier", "nightly", "--skip", "merge.*", "--out", "out"},
      folder(), {});
  wait_for_lines(100);
  wait_until([this] { return read("out/run.jsonl").find("\"fail\"") != std::string::npos; });
  running.send(SIGINT);
  const Finished finished = running.wait(kUntilStopped);
  ASSERT_TRUE(finished.in_time);
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(last_line(finished.out), StartsWith("FAILED  "));
}

TEST_F(RunEnd, TheLinesOfAKilledRunAreWhole) {
  Running running = start();
  wait_for_lines(100);
  running.send(SIGKILL);
  EXPECT_EQ(running.wait().signal, SIGKILL);
  std::string text = read("out/run.jsonl");
  // A kill between the two writes of a line longer than the stream's buffer may cut the last one.
  text.resize(text.rfind('\n') + 1);
  EXPECT_GE(json_lines(text).size(), 100U);
}

TEST_F(RunEnd, ARunThatCannotWriteItsFirstLineSaysWhichFile) {
  const Finished finished = run(kLongRun, {.largest_file = 0, .standard_output = {}});
  expect_cannot_write(finished, "out/run.jsonl");
}

TEST_F(RunEnd, ARunThatCannotWriteItsLinesStopsAndSaysWhichFile) {
  const Finished finished =
      start({.largest_file = 100'000, .standard_output = {}}).wait(kUntilStopped);
  EXPECT_TRUE(finished.in_time) << "it goes on although its lines are lost";
  if (finished.in_time) expect_cannot_write(finished, "out/run.jsonl");
}

TEST_F(RunEnd, AViolationThatCannotBeSavedIsStillPrinted) {
  write("out/cases", "a file where the folder should be");
  const Finished finished =
      run({"check", "mutant:forgets_the_scale", "--only", "bound.lse", "--out", "out"});
  expect_cannot_write(finished, "out/");
  EXPECT_THAT(finished.out, AllOf(HasSubstr("FAIL bound.lse"), HasSubstr("\nreplay ")));
}

}  // namespace
}  // namespace attest::cli
