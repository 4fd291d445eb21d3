// Help, version, wrong use, list and doctor.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "cli/test_program.hpp"
#include "kernels/registry.hpp"
#include "mutants/mutants.hpp"
#include "properties/laws.hpp"
#include "properties/values.hpp"

namespace attest::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;

class Program : public ProgramTest {};

TEST_F(Program, HelpNamesTheCommandsAndTheExitCodes) {
  const Finished help = run({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_EQ(help.err, "");
  for (const char* part :
       {"check", "replay", "accuracy", "bound", "world", "bench", "list", "doctor",
        "Exit codes:", "0 all", "1 a law", "2 wrong use", "3 undecided", "4 the kernel"})
    EXPECT_THAT(help.out, HasSubstr(part));
}

TEST_F(Program, HelpOfEveryCommandNamesItsOptionsAndTheExitCodes) {
  const std::vector<std::pair<std::string, Words>> commands{
      {"check",
       {"KERNEL", "PROBLEM", "--file", "--seed", "--tier", "--cases", "--time", "--shrink-time",
        "--only", "--skip", "--jobs", "--out", "--format", "--tensors"}},
      {"replay", {"WHAT", "--tensors"}},
      {"accuracy", {"KERNEL", "--tensors", "--out", "--cases", "--jobs"}},
      {"bound",
       {"PROBLEM", "--kernel", "--seed", "--atol", "--rtol", "--rows", "--format", "--jobs",
        "--tensors"}},
      {"world", {"KERNEL", "--tier", "--jobs", "--out", "--resume"}},
      {"bench",
       {"--filter", "--kernel", "--seconds", "--quick", "--long", "--markdown", "--json",
        "--no-peers", "--no-memory", "--list", "--out"}},
      {"list",
       {"WHAT", "kernels", "mutants", "laws", "families", "masks", "features", "tiers", "dtypes"}},
      {"doctor", {}}};
  for (const auto& [command, parts] : commands) {
    const Finished help = run({command, "--help"});
    EXPECT_EQ(help.exit_code, 0) << command;
    EXPECT_EQ(help.err, "");
    EXPECT_THAT(help.out, HasSubstr("Exit codes:"));
    for (const std::string& part : parts) EXPECT_THAT(help.out, HasSubstr(part)) << command;
  }
}

TEST_F(Program, PrintsItsVersion) {
  const Finished version = run({"--version"});
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_THAT(version.out, MatchesRegex("attest [0-9]+\\.[0-9]+\\.[0-9]+\n"));
  EXPECT_EQ(version.err, "");
}

TEST_F(Program, RefusesWrongUseInOneLineThatNamesTheWrongWord) {
  expect_refused({}, {"command", "--help"});
  expect_refused({"bogus"}, {"bogus"});
  expect_refused({"check"}, {"KERNEL"});
  expect_refused({"check", "builtin:scalar_tree", "--bogus"}, {"--bogus"});
  expect_refused({"check", "builtin:scalar_tree", "--seed"}, {"--seed"});
  expect_refused({"check", "builtin:scalar_tree", "--cases", "many"}, {"--cases", "many"});
  expect_refused({"replay"}, {"WHAT"});
  expect_refused({"accuracy", "--bogus"}, {"--bogus"});
  expect_refused({"bench", "--seconds", "0"}, {"--seconds"});
  expect_refused({"bench", "--quick", "--long"}, {"--long"});
  expect_refused({"list"}, {"WHAT"});
  expect_refused({"list", "bogus"}, {"bogus", "kernels", "laws"});
  expect_refused({"doctor", "bogus"}, {"bogus"});
}

TEST_F(Program, AnUnknownFlagIsNamedEvenWhereSomethingElseIsMissing) {
  expect_refused({"--bogus"}, {"--bogus"});
  expect_refused({"check", "--bogus"}, {"--bogus"});
  expect_refused({"replay", "--bogus"}, {"--bogus"});
}

TEST_F(Program, ListsEverythingThatThisBuildKnows) {
  const auto list = [this](const std::string& what) {
    const Finished finished = run({"list", what});
    EXPECT_EQ(finished.exit_code, 0) << what;
    EXPECT_EQ(finished.err, "") << what;
    return finished.out;
  };
  const std::string kernels = list("kernels");
  for (const auto& kernel : kernels::builtin_kernels())
    EXPECT_THAT(kernels, AllOf(HasSubstr(kernel->description().name),
                               HasSubstr(kernel->description().summary)));
  const std::string mutants = list("mutants");
  for (const mutants::Mutant& mutant : mutants::all())
    EXPECT_THAT(mutants, AllOf(HasSubstr(mutant.kernel->description().name),
                               HasSubstr(std::string(mutant.killed_by))));
  const std::string laws = list("laws");
  for (const properties::Law& law : properties::laws())
    EXPECT_THAT(laws, AllOf(HasSubstr(std::string(law.name)), HasSubstr(std::string(law.sentence)),
                            HasSubstr(std::string(law.formula))));
  EXPECT_EQ(list("properties"), laws);
  const std::string families = list("families");
  for (const properties::ValueFamily& family : properties::value_families())
    EXPECT_THAT(families, HasSubstr(std::string(family.name)));
  EXPECT_THAT(list("masks"), AllOf(HasSubstr("causal:tl"), HasSubstr("causal:br"),
                                   HasSubstr("causal:off=N"), HasSubstr("bits:")));
  EXPECT_THAT(list("tiers"), AllOf(HasSubstr("smoke"), HasSubstr("ci"), HasSubstr("nightly")));
  EXPECT_THAT(list("dtypes"), AllOf(HasSubstr("\nf32  "), HasSubstr("\nbf16 "),
                                    HasSubstr("\ne4m3 "), HasSubstr("descale")));
  const std::string features = list("features");
  for (const Feature feature : all_features())
    EXPECT_THAT(features, HasSubstr(std::string(to_string(feature)) + " "));
  EXPECT_THAT(features, HasSubstr("builtin:scalar_tree"));
}

TEST_F(Program, DoctorSaysWhatResultsDependOn) {
  const Finished doctor = run({"doctor"});
  EXPECT_EQ(doctor.exit_code, 0) << doctor.out;
  EXPECT_EQ(doctor.err, "");
  EXPECT_THAT(doctor.out, HasSubstr("rounding         to nearest\n"));
  EXPECT_THAT(doctor.out, HasSubstr("subnormals       gradual underflow\n"));
  for (const char* part : {"mpfr", "compiler", "commit", "kernels", "laws", "hard cases"})
    EXPECT_THAT(doctor.out, HasSubstr(part));
}

TEST_F(Program, ARunThatCannotPrintSaysSo) {
  for (const Words& arguments :
       {Words{"list", "laws"}, Words{"doctor"}, Words{"check", "--help"},
        Words{"check", "builtin:textbook", "--tier", "smoke", "--only", "bound.out"},
        Words{"replay", "builtin:textbook", "1x1:1x2:1 f32 law=bound.out"}}) {
    const Finished finished = run(arguments, {.largest_file = {}, .standard_output = "/dev/full"});
    EXPECT_EQ(finished.exit_code, 2) << testing::PrintToString(arguments);
    EXPECT_EQ(lines_of(finished.err).size(), 1U) << finished.err;
    EXPECT_THAT(finished.err, HasSubstr("output"));
  }
}

}  // namespace
}  // namespace attest::cli
