// attest selftest as a user runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "cli/test_program.hpp"
#include "mutants/mutants.hpp"
#include "properties/laws.hpp"

namespace attest::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

using Selftest = ProgramTest;
using Json = nlohmann::json;

// The test of the harness that every ./run test makes: every planted bug and its law, every other
// law on some cases, no correct kernel accused.
TEST_F(Selftest, CatchesEveryPlantedBugAndAccusesNobody) {
  const Finished run =
      Running({"selftest", "--tier", "smoke", "--json", "selftest.json"}, folder(), {})
          .wait(std::chrono::seconds{280});
  ASSERT_TRUE(run.in_time);
  SCOPED_TRACE(run.out);
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.err, "");
  const std::string bugs = std::to_string(mutants::all().size());
  EXPECT_THAT(last_line(run.out),
              AllOf(StartsWith("PASSED  " + bugs + " of " + bugs + " bugs caught; "),
                    HasSubstr(" correct kernels raised no alarm"),
                    HasSubstr(std::to_string(properties::laws().size()) + " of ")));
  const Json json = Json::parse(read("selftest.json"));
  EXPECT_TRUE(json["passed"]);
  EXPECT_EQ(json["bugs"].size(), mutants::all().size());
  EXPECT_EQ(json["laws"].size(), properties::laws().size());
  for (const Json& law : json["laws"]) EXPECT_FALSE(law["kills"].empty()) << law["name"];
  for (const Json& bug : json["bugs"]) {
    EXPECT_TRUE(bug["caught_by_its_law"]) << bug["name"];
    EXPECT_FALSE(bug["mistake"].get<std::string>().empty());
  }
  EXPECT_LE(json["median_size"]["keys"], 4);
  EXPECT_LE(json["median_size"]["queries"], 2);
  EXPECT_LE(json["median_size"]["head_dim"], 2);
}

TEST_F(Selftest, OfSomeBugsIsTheSameForAnyNumberOfJobs) {
  const Words words{"selftest", "--only", "lse_*,window_*", "--tier", "smoke", "--jobs"};
  const auto with_jobs = [&](const std::string& jobs, const std::string& file) {
    Words all = words;
    all.insert(all.end(), {jobs, "--json", file});
    return run(all);
  };
  const Finished one = with_jobs("1", "one.json");
  const Finished three = with_jobs("3", "three.json");
  EXPECT_EQ(one.exit_code, 0) << one.out;
  EXPECT_EQ(three.exit_code, 0);
  EXPECT_EQ(read("one.json"), read("three.json"));
  // A law that kills none of these few bugs is no failure.
  EXPECT_THAT(last_line(one.out), StartsWith("PASSED  "));
}

TEST_F(Selftest, ReplayLinesOfTheJsonFailAlone) {
  EXPECT_EQ(run({"selftest", "--only", "head_map_modulo", "--json", "s.json"}).exit_code, 0);
  const Json json = Json::parse(read("s.json"));
  const std::string line = json["bugs"][0]["counterexample"]["line"];
  EXPECT_EQ(run({"replay", "mutant:head_map_modulo", line}).exit_code, 1);
  EXPECT_EQ(run({"replay", "builtin:scalar_tree", line}).exit_code, 0);
}

TEST_F(Selftest, RefusesWhatItDoesNotKnow) {
  expect_refused({"selftest", "--tier", "all"}, {"unknown tier 'all'", "smoke, ci, nightly"});
  expect_refused({"selftest", "--only", "no_such_bug"}, {"no planted bug matches"});
  expect_refused({"selftest", "--seed", "x"}, {"seed"});
  expect_refused({"selftest", "--alarms", "2", "--only", "lse_*"}, {"no correct kernel matches"});
  expect_refused({"selftest", "--alarms", "2", "--compare"}, {"--alarms", "--compare"});
}

TEST_F(Selftest, ComparesRulesOnSomeBugs) {
  const Finished compared =
      run({"selftest", "--compare", "--only", "lse_in_base_two,averages_tile_outputs"});
  EXPECT_EQ(compared.exit_code, 0) << compared.err;
  EXPECT_THAT(compared.out, AllOf(HasSubstr("| of 2 planted bugs, caught |"),
                                  HasSubstr("| lse_in_base_two |  |  |  |  | n f |\n")));
}

TEST_F(Selftest, ListsEveryReport) {
  const Finished listed = run({"list", "reports"});
  EXPECT_EQ(listed.exit_code, 0);
  EXPECT_THAT(listed.out, HasSubstr("\nB79   a dead first tile stores 0 as the running maximum: "
                                    "dead_first_tile_stores_zero, maximum_starts_at_zero\n"));
}

}  // namespace
}  // namespace attest::cli
