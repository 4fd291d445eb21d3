// attest world: exhaustive, interruptible, and the same whatever happens on the way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include "cli/test_program.hpp"
#include "cli/test_run_files.hpp"
#include "kernels/registry.hpp"

namespace attest::cli {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::ContainsRegex;
using testing::Each;
using testing::HasSubstr;
using testing::StartsWith;

class World : public ProgramTest {
 protected:
  Json state(const std::string& out) const { return Json::parse(read(out + "/world.json")); }
  Json found(const std::string& out) const { return without_times(state(out)); }

  Index groups_done(const std::string& out) const {
    if (!exists(out + "/world.json")) return 0;
    Index done = 0;
    const Json now = state(out);
    for (const Json& kernel : now["kernels"]) done += kernel["groups_done"].get<Index>();
    return done;
  }

  /// A run in the folder "cut" that gets the signal once it has saved progress of its own.
  Finished ended_by(int signal, const Words& arguments) const {
    const Index before = groups_done("cut");
    Running running(arguments, folder(), {});
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (groups_done("cut") <= before) {
      if (std::chrono::steady_clock::now() < deadline) {
        std::this_thread::sleep_for(std::chrono::milliseconds{2});
        continue;
      }
      ADD_FAILURE() << "nothing was saved";
      break;
    }
    running.send(signal);
    return running.wait();
  }
};

/// The words behind "attest" of a replay line that stands at the end of `line`.
Words replay_words(const std::string& line) {
  Words words = shell_words(line.substr(line.find("attest replay ")));
  words.erase(words.begin());
  return words;
}

TEST_F(World, EveryBuiltInKernelStaysWithinItsBoundAndTheWorstReplays) {
  const Finished world = run({"world", "all", "--out", "out"});
  EXPECT_EQ(world.exit_code, 0) << world.out;
  // A slow run shows its progress, and nothing else.
  EXPECT_THAT(lines_of(world.err), Each(ContainsRegex("^builtin:[^ ]+ +[0-9.]+ % .* values/s ")));
  EXPECT_THAT(last_line(world.out),
              AllOf(StartsWith("PASSED  1048576 inputs  "), HasSubstr("0 violations")));
  for (const auto& kernel : kernels::builtin_kernels())
    EXPECT_THAT(world.out, HasSubstr("\n" + kernel->description().name + " "));
  int lines = 0;
  for (const std::string& line : lines_of(world.out)) {
    if (!line.starts_with("worst ")) continue;
    ++lines;
    const Finished replay = run(replay_words(line));
    // Terms on a grid err most, as a share of the bound, where an output is far below the grid:
    // such a bound limits nothing, which a replay of the case alone says.
    if (line.find("simd_order_free") != std::string::npos && replay.exit_code != 0) {
      EXPECT_EQ(replay.exit_code, 3) << line << replay.out;
      EXPECT_THAT(replay.out, HasSubstr("no bound is smaller than the values it limits"));
      continue;
    }
    EXPECT_EQ(replay.exit_code, 0) << line << replay.out;
    const std::string ratio = line.substr(11, line.find(' ', 11) - 11);
    EXPECT_THAT(replay.out, HasSubstr("err/bound " + ratio));
  }
  EXPECT_EQ(lines, 2 * static_cast<int>(kernels::builtin_kernels().size()));
}

TEST_F(World, AWrongKernelIsFoundAndItsReplayFailsAlone) {
  const std::string name = "mutant:averages_tile_outputs";
  const Finished world = run({"world", name, "--out", "out"});
  EXPECT_EQ(world.exit_code, 1) << world.out;
  EXPECT_EQ(world.err, "");
  EXPECT_THAT(world.out, HasSubstr("\nFAIL bound.out "));
  EXPECT_THAT(last_line(world.out), StartsWith("FAILED  1048576 inputs  "));
  EXPECT_GT(state("out")["kernels"][0]["violations"], 0);
  Words replay = shell_words(labelled(world.out, "replay"));
  ASSERT_EQ(replay.size(), 4U) << world.out;
  replay.erase(replay.begin());
  EXPECT_EQ(run(replay).exit_code, 1);
  ASSERT_EQ(replay[1], name);
  replay[1] = "builtin:scalar_tree";
  EXPECT_THAT(run(replay).exit_code, AnyOf(0, 3));
}

TEST_F(World, TheSmokeTierHasOneKeyAndIsResumedWhenItIsOver) {
  const Finished world = run({"world", "builtin:textbook", "--tier", "smoke", "--out", "out"});
  EXPECT_EQ(world.exit_code, 0);
  EXPECT_THAT(last_line(world.out), StartsWith("PASSED  4096 inputs  4352 values compared"));
  const Json before = found("out");
  EXPECT_EQ(run({"world", "--resume", "out"}).exit_code, 0);
  EXPECT_EQ(found("out"), before);
}

TEST_F(World, FindsTheSameWithAnyJobsAndAcrossAnInterruptAndAKill) {
  EXPECT_EQ(run({"world", "all", "--jobs", "3", "--out", "whole"}).exit_code, 0);
  const Words begin{"world", "all", "--jobs", "1", "--out", "cut"};
  const Finished killed = ended_by(SIGKILL, begin);
  EXPECT_THAT(killed.signal, AnyOf(SIGKILL, 0));  // it may have been faster
  const Finished interrupted = ended_by(SIGINT, {"world", "--resume", "cut", "--jobs", "1"});
  EXPECT_EQ(interrupted.signal, 0);
  const Finished rest = run({"world", "all", "--resume", "cut"});
  EXPECT_EQ(rest.exit_code, 0);
  EXPECT_EQ(found("cut"), found("whole"));
  EXPECT_FALSE(exists("cut/cut"));
}

TEST_F(World, AnInterruptedRunHasNotPassedAndSaysHowToGoOn) {
  const Finished finished =
      ended_by(SIGINT, {"world", "builtin:scalar_tree", "--tier", "nightly", "--out", "cut"});
  EXPECT_TRUE(finished.in_time);
  EXPECT_EQ(finished.exit_code, 3);
  EXPECT_EQ(finished.err, "");
  EXPECT_THAT(finished.out, HasSubstr("\nUNDECIDED  268435456 inputs  "));
  EXPECT_THAT(last_line(finished.out),
              AllOf(StartsWith("interrupted at "), HasSubstr("attest world --resume 'cut'")));
}

TEST_F(World, BadInputIsRefusedAndNamed) {
  expect_refused({"world"}, {"KERNEL", "all", "--resume"});
  expect_refused({"world", "builtin:nope"}, {"builtin:nope", "builtin:scalar_tree"});
  expect_refused({"world", "all", "--tier", "huge"}, {"huge", "nightly"});
  expect_refused({"world", "all", "--jobs", "-1"}, {"--jobs", "-1"});
  expect_refused({"world", "--resume", "missing"}, {"missing/world.json"});
  EXPECT_FALSE(exists("missing"));
  expect_refused({"world", "--resume", "a", "--out", "b"}, {"--resume", "--out"});
  write("file", "");
  expect_refused({"world", "all", "--out", "file/below"}, {"file/below"});
}

TEST_F(World, AStateThatDoesNotFitIsRefusedAndLeftAlone) {
  EXPECT_EQ(run({"world", "builtin:textbook", "--tier", "smoke", "--out", "out"}).exit_code, 0);
  const Json good = state("out");
  const auto expect_broken = [&](const std::string& text, const Words& parts) {
    write("bad/world.json", text);
    Words all{"bad/world.json: "};
    all.insert(all.end(), parts.begin(), parts.end());
    expect_refused({"world", "--resume", "bad"}, all);
    EXPECT_EQ(read("bad/world.json"), text);
  };
  const auto changed = [&](const char* path, const Json& value) {
    Json json = good;
    json[Json::json_pointer(path)] = value;
    return json.dump();
  };
  expect_broken("", {"not the state"});
  expect_broken("{\"format\":\"attest-case\"}", {"not the state"});
  expect_broken(good.dump().substr(0, 100), {"not the state"});
  expect_broken(changed("/version", 7), {"version"});
  expect_broken(changed("/build", "other"), {"another build", "other"});
  expect_broken(changed("/kernels/0/version", "0"), {"builtin:textbook"});
  expect_broken(changed("/kernels/0/kernel", "builtin:nope"), {"builtin:nope"});
  expect_broken(changed("/kernels/0/groups_done", 1 << 20), {"inputs"});
  expect_broken(changed("/kernels/0/worst_out/pair", 1 << 20), {"inputs"});
  expect_broken(changed("/kernels/0/outputs", "many"), {"type"});
  expect_broken(changed("/kernels", Json::array()), {"no kernel"});
  expect_refused({"world", "builtin:scalar_tree", "--resume", "out"}, {"builtin:scalar_tree"});
}

TEST_F(World, AStateThatCannotBeWrittenIsNamed) {
  const Finished finished = run({"world", "all", "--tier", "smoke", "--out", "out"},
                                {.largest_file = 0, .standard_output = {}});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_EQ(lines_of(finished.err).size(), 1U);
  EXPECT_THAT(finished.err, HasSubstr("out/world.json"));
}

}  // namespace
}  // namespace attest::cli
