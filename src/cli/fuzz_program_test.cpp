// attest fuzz --climb: what it prints and keeps, that it goes on and repeats, and what it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
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

class Fuzz : public ProgramTest {
 protected:
  /// A short climb of one law and type.
  Finished climb(const std::string& store, const std::string& evaluations, const Words& more = {},
                 const std::string& kernel = "builtin:flash_bf16p") const {
    Words words{"fuzz", kernel,    "--climb", "--only",        "bound.out", "--dtype",
                "f32",  "--worst", store,     "--evaluations", evaluations};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }

  /// The only saved case below a folder, as a path from the folder of the test.
  std::string only_case(const std::string& store) const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder() / store))
      if (entry.path().filename() == "case.json")
        found.push_back(entry.path().parent_path().lexically_relative(folder()).string());
    EXPECT_EQ(found.size(), 1U);
    return found.empty() ? std::string{} : found.front();
  }
  /// Whether a whole case was saved; other processes may be at work there.
  bool has_case(const std::string& store) const {
    const std::filesystem::path law = folder() / store / "builtin-flash_bf16p/bound.out/f32";
    std::error_code error;
    std::filesystem::directory_iterator at(law, error);
    for (const std::filesystem::directory_iterator end; !error && at != end; at.increment(error))
      if (std::filesystem::exists(at->path() / "case.json", error)) return true;
    return false;
  }
  Json case_json(const std::string& store) const {
    return Json::parse(read(only_case(store) + "/case.json"));
  }
};

TEST_F(Fuzz, PrintsTheWorstCaseAndKeepsIt) {
  const Finished finished = climb("store", "3000", {"--compare-random"});
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_THAT(finished.out, HasSubstr("random normal"));
  EXPECT_THAT(last_line(finished.out), StartsWith("PASSED  3000 evaluations"));
  EXPECT_THAT(finished.err, HasSubstr("bound.out f32  3000 evaluations"));
  EXPECT_THAT(only_case("store"), StartsWith("store/builtin-flash_bf16p/bound.out/f32/"));
  const Json stored = case_json("store");
  EXPECT_EQ(stored["kernel"], "builtin:flash_bf16p");
  EXPECT_EQ(stored["seed"], "0x5EED1A77");
  EXPECT_EQ(stored["search"]["evaluations"], 3000);
  EXPECT_GT(stored["search"]["ratio"], 0.5);
  EXPECT_LE(stored["search"]["ratio"], 1);
  EXPECT_LE(stored["search"]["evaluation"], 3000);

  // The line and the folder replay the same ratio.
  const std::size_t at = finished.out.find("attest replay ");
  ASSERT_NE(at, std::string::npos);
  Words replay = shell_words(finished.out.substr(at, finished.out.find('\n', at) - at));
  replay.erase(replay.begin());
  const Finished line = run(replay);
  EXPECT_EQ(line.exit_code, 0);
  const std::size_t shown = line.out.find("err/bound ");
  ASSERT_NE(shown, std::string::npos) << line.out;
  EXPECT_NEAR(std::stod(line.out.substr(shown + 10)), stored["search"]["ratio"].get<double>(),
              0.001);
  EXPECT_EQ(run({"replay", only_case("store")}).exit_code, 0);
}

TEST_F(Fuzz, RepeatsForASeedAndACountWhateverTheJobs) {
  climb("one", "5000", {"--jobs", "1"});
  climb("again", "5000", {"--jobs", "3"});
  climb("other", "5000", {"--jobs", "1", "--seed", "5"});
  EXPECT_EQ(case_json("again"), case_json("one"));
  EXPECT_EQ(read(only_case("again") + "/case.safetensors"),
            read(only_case("one") + "/case.safetensors"));
  EXPECT_NE(read(only_case("other") + "/case.safetensors"),
            read(only_case("one") + "/case.safetensors"));
}

TEST_F(Fuzz, GoesOnFromTheStoreAndReplacesItOnlyByMore) {
  climb("store", "8192");
  const Json first = case_json("store");
  climb("store", "8192");
  const Json second = case_json("store");
  EXPECT_EQ(second["search"]["evaluations"], 16384);
  EXPECT_GE(second["search"]["ratio"], first["search"]["ratio"]);
  climb("whole", "16384");
  EXPECT_EQ(case_json("whole"), second);
  // Another search that finds less in a few cases leaves the case and its record as they are.
  climb("store", "30", {"--seed", "99"});
  EXPECT_EQ(case_json("store"), second);
  climb("store", "30", {"--max-keys", "12"});
  EXPECT_EQ(case_json("store"), second);
  // So that the first one goes on where it was.
  climb("store", "100");
  EXPECT_EQ(case_json("store")["search"]["evaluations"], 16484);
}

TEST_F(Fuzz, ACaseOfMoreKeysThanAreAskedForIsNoStart) {
  const auto stored = [this] { return case_json("attest-worst"); };
  const Words one_problem{"fuzz",   "builtin:scalar_tree", "1x1:1x9:3/1 f32 tile=4", "--climb",
                          "--only", "bound.out",           "--evaluations"};
  Words words = one_problem;
  words.emplace_back("500");
  EXPECT_EQ(run(words).exit_code, 0);
  const Json of_one_problem = stored();
  EXPECT_EQ(of_one_problem["search"]["among"], "1x1:1x9:3/1 f32 tile=4");
  EXPECT_THAT(of_one_problem["problem"], StartsWith("1x1:1x9:"));

  const Finished few = run({"fuzz", "builtin:scalar_tree", "--climb", "--only", "bound.out",
                            "--dtype", "f32", "--max-keys", "4", "--evaluations", "40"});
  EXPECT_EQ(few.exit_code, 0);
  EXPECT_THAT(few.out, AllOf(HasSubstr("attest replay "), Not(HasSubstr("1x1:1x9:"))));
  // The two compete: the smaller ratio leaves everything about the other one as it was.
  const Json left = stored();
  if (left["search"]["ratio"] == of_one_problem["search"]["ratio"]) {
    EXPECT_EQ(left, of_one_problem);
  } else {
    EXPECT_GT(left["search"]["ratio"], of_one_problem["search"]["ratio"]);
    EXPECT_EQ(left["search"]["among"], "at most 4 keys");
    EXPECT_EQ(left["search"]["evaluations"], 40);
  }
}

TEST_F(Fuzz, AKernelThatFailsNowAndThenIsFlaky) {
  const Finished finished =
      run({"fuzz", "mutant:dq_differs_now_and_then", "--climb", "--only", "gradient.dq", "--dtype",
           "f32", "--evaluations", "2000", "--shrink-time", "0", "--jobs", "1"});
  EXPECT_EQ(finished.exit_code, 1) << finished.out;
  EXPECT_THAT(finished.out, HasSubstr("a second run of the same case passed"));
  EXPECT_THAT(last_line(finished.out), StartsWith("FAILED  "));
}

TEST_F(Fuzz, ClimbsOneProblemThatIsNamed) {
  const Finished finished = run({"fuzz", "builtin:scalar_tree", "1x1:1x5:3/1 f32 tile=2", "--climb",
                                 "--only", "bound.out", "--evaluations", "2000"});
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_THAT(finished.out, HasSubstr("'1x1:1x5:3/1 f32 tile="));
  EXPECT_TRUE(exists("attest-worst/builtin-scalar_tree/bound.out/f32"));
}

TEST_F(Fuzz, AWrongKernelIsAViolationWithAReplayLine) {
  const Finished finished = climb("store", "20000", {}, "mutant:averages_tile_outputs");
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(finished.out, HasSubstr("FAIL bound.out"));
  EXPECT_THAT(last_line(finished.out), StartsWith("FAILED  "));
  Words replay = shell_words(labelled(finished.out, "replay"));
  ASSERT_GE(replay.size(), 3U) << finished.out;
  replay.erase(replay.begin());
  EXPECT_EQ(run(replay).exit_code, 1);
}

TEST_F(Fuzz, AKillLeavesAStoreThatIsWhole) {
  {
    Running running({"fuzz", "builtin:flash_bf16p", "--climb", "--only", "bound.out", "--dtype",
                     "f32", "--worst", "store", "--time", "90"},
                    folder(), {});
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (!has_case("store") && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds{5});
    std::this_thread::sleep_for(std::chrono::milliseconds{300});
    running.send(SIGKILL);
    EXPECT_EQ(running.wait().signal, SIGKILL);
  }
  const Finished replayed = run({"replay", "store"});
  EXPECT_EQ(replayed.exit_code, 0) << replayed.err;
  EXPECT_EQ(climb("store", "100").exit_code, 0);
}

TEST_F(Fuzz, AnInterruptionKeepsWhatWasFound) {
  Running running({"fuzz", "builtin:flash_bf16p", "--climb", "--worst", "store", "--time", "90"},
                  folder(), {});
  std::this_thread::sleep_for(std::chrono::seconds{2});
  running.send(SIGINT);
  const Finished finished = running.wait(std::chrono::seconds{30});
  EXPECT_TRUE(finished.in_time);
  EXPECT_EQ(finished.exit_code, 3);
  EXPECT_THAT(finished.out, AllOf(HasSubstr("interrupted"), HasSubstr("attest replay ")));
  EXPECT_EQ(run({"replay", "store"}).exit_code, 0);
}

TEST_F(Fuzz, SaysInOneLineWhatIsWrong) {
  expect_refused({"fuzz", "builtin:scalar_tree"}, {"--climb", "libFuzzer"});
  expect_refused({"fuzz", "builtin:nothing", "--climb"}, {"builtin:nothing"});
  expect_refused({"fuzz", "builtin:scalar_tree", "--climb", "--only", "mask.*"},
                 {"--only", "bound.*"});
  expect_refused({"fuzz", "builtin:scalar_tree", "--climb", "--dtype", "f33"}, {"f33"});
  expect_refused({"fuzz", "builtin:flash_bf16p", "--climb", "--dtype", "e4m3"},
                 {"builtin:flash_bf16p", "e4m3"});
  expect_refused({"fuzz", "builtin:scalar_tree", "--climb", "--time", "0"}, {"--time"});
  expect_refused({"fuzz", "builtin:scalar_tree", "--climb", "--max-keys", "0"}, {"--max-keys"});
  expect_refused({"fuzz", "builtin:scalar_tree", "1x1:1x2:1 f32", "--climb", "--dtype", "f32"},
                 {"PROBLEM", "--dtype"});
  expect_refused({"fuzz", "builtin:flash_bf16p", "1x1:1x2:1 bf16", "--climb"},
                 {"builtin:flash_bf16p"});
}

TEST_F(Fuzz, AStoreThatCannotBeWrittenIsNamed) {
  write("store", "a file");
  const Finished finished = climb("store", "100");
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.err, HasSubstr("store"));
}

/// The stored case of a correct kernel is the first on which a wrong one is judged.
TEST_F(Fuzz, StoredWorstCasesRunFirstInACheck) {
  run({"fuzz", "builtin:scalar_tree", "1x1:1x3:2 f32 lse=ln tile=2", "--climb", "--only",
       "bound.lse", "--evaluations", "500"});
  const std::string worst = only_case("attest-worst");
  const Words check{"check", "mutant:lse_in_base_two", "--only", "bound.lse", "--shrink-time", "0",
                    "--out"};
  const auto check_into = [&](const std::string& out, const Words& more) {
    Words words = check;
    words.push_back(out);
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  };
  const auto first_problem = [&](const std::string& out) {
    for (const Json& line : json_lines(read(out + "/run.jsonl")))
      if (line.value("type", "") == "case") return line["problem"].get<std::string>();
    return std::string{};
  };
  const Finished usual = check_into("usual", {});
  EXPECT_EQ(usual.exit_code, 1) << usual.out;
  const Finished named = check_into("named", {"--worst", worst});
  std::filesystem::rename(folder() / "attest-worst", folder() / "elsewhere");
  const Finished without = check_into("without", {});
  EXPECT_EQ(first_problem("usual"), first_problem("named"));
  EXPECT_NE(first_problem("usual"), first_problem("without"));
  EXPECT_THAT(usual.out, HasSubstr("FAIL bound.lse  case 0  "));
  EXPECT_EQ(named.exit_code, 1);
  EXPECT_EQ(without.exit_code, 1);

  expect_refused({"check", "builtin:scalar_tree", "--worst", "nowhere"}, {"nowhere"});
}

}  // namespace
}  // namespace attest::cli
