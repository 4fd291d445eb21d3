// attest accuracy on one real tensor.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "attest/element.hpp"
#include "cli/test_program.hpp"
#include "cli/test_run_files.hpp"
#include "kernels/registry.hpp"
#include "tensors/safetensors.hpp"

namespace attest::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

const std::string kTensor = "uselite-buffalo-layer00-head01";

class Accuracy : public ProgramTest {
 protected:
  Accuracy() {
    std::filesystem::create_directory(folder() / "real");
    std::filesystem::copy_file(
        std::filesystem::path(ATTEST_REAL_TENSORS) / (kTensor + ".safetensors"),
        folder() / "real" / (kTensor + ".safetensors"));
  }

  Finished accuracy(const Words& more, const Surroundings& surroundings = {}) const {
    Words arguments{"accuracy", "--tensors", "real", "--out", "out"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments, surroundings);
  }
  Json report() const { return Json::parse(read("out/accuracy.json")); }
};

TEST_F(Accuracy, EveryKernelStaysWithinItsBoundInEveryDtypeAndTiling) {
  const Finished finished = accuracy({"--cases", "20"});
  EXPECT_EQ(finished.exit_code, 0) << finished.out;
  EXPECT_EQ(finished.err, "");
  EXPECT_THAT(finished.out, AllOf(HasSubstr("out/accuracy.md"), HasSubstr("out/accuracy.json")));
  std::set<std::pair<std::string, std::string>> problems;
  std::map<std::pair<std::string, std::string>, int> tilings;
  const Json written = report();
  for (const Json& row : written["rows"]) {
    EXPECT_EQ(row["tensor"], kTensor);
    EXPECT_EQ(row["violations"], 0);
    for (const char* ratio : {"worst_ratio", "worst_lse_ratio"})
      EXPECT_TRUE(row[ratio] > 0 && row[ratio] <= 1) << row;
    EXPECT_TRUE(problems.emplace(row["kernel"], row["problem"]).second) << "twice: " << row;
    EXPECT_THAT(row["problem"], HasSubstr(row["dtype"].get<std::string>()));
    ++tilings[{row["kernel"], row["dtype"]}];
  }
  for (const auto& kernel : kernels::builtin_kernels()) {
    const std::string& name = kernel->description().name;
    SCOPED_TRACE(name);
    const int in_f32 = tilings[{name, "f32"}];
    const int in_f64 = tilings[{name, "f64"}];
    const std::vector<Dtype>& dtypes = kernel->description().capabilities.dtypes;
    const bool has_f64 = std::find(dtypes.begin(), dtypes.end(), Dtype::f64) != dtypes.end();
    EXPECT_EQ(in_f64, has_f64 ? in_f32 : 0);
    if (kernel->description().capabilities.tiles)
      EXPECT_GT(in_f32, 1);
    else
      EXPECT_EQ(in_f32, 1);
    EXPECT_THAT(read("out/accuracy.md"), HasSubstr(name));
  }
  EXPECT_EQ(tilings.size(), 2 * kernels::builtin_kernels().size());
}

TEST_F(Accuracy, RunsTheLawsOnAsManyGeneratedCasesAsAsked) {
  EXPECT_EQ(accuracy({"builtin:textbook", "--cases", "0"}).exit_code, 0);
  EXPECT_EQ(report()["checks"].size(), 0U);
  EXPECT_EQ(accuracy({"builtin:textbook", "builtin:scalar_tree", "--cases", "2"}).exit_code, 0);
  EXPECT_EQ(report()["checks"].size(), 2U);
}

TEST_F(Accuracy, ANarrowRecordingRunsInItsOwnTypeAndInThoseThatHoldIt) {
  tensors::SafetensorsFile file;
  for (const char* name : {"q", "k", "v"}) {
    tensors::Entry entry{name, Dtype::bf16, {4, 3}, std::vector<std::byte>(4 * 3 * 2)};
    for (std::size_t i = 0; i < 12; ++i)
      store_element(Dtype::bf16, &entry.bytes[2 * i], 0.25 * static_cast<double>(i % 5) - 0.5);
    file.entries.push_back(std::move(entry));
  }
  std::filesystem::create_directory(folder() / "narrow");
  ASSERT_TRUE(tensors::write_safetensors(folder() / "narrow/a.safetensors", file).ok());
  const Finished finished =
      run({"accuracy", "builtin:textbook", "--tensors", "narrow", "--out", "out", "--cases", "0"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  std::set<std::string> dtypes;
  const Json written = report();
  for (const Json& row : written["rows"]) {
    dtypes.insert(row["dtype"]);
    EXPECT_EQ(row["violations"], 0) << row;
  }
  EXPECT_EQ(dtypes, (std::set<std::string>{"bf16", "f32", "f64"}));
}

TEST_F(Accuracy, AWrongKernelIsAViolationOnRealTensors) {
  for (const std::string kernel : {"mutant:forgets_the_scale", "mutant:averages_tile_outputs"}) {
    SCOPED_TRACE(kernel);
    const Finished finished = accuracy({kernel, "--cases", "0"});
    EXPECT_EQ(finished.exit_code, 1) << finished.out;
    const Json written = report();
    EXPECT_FALSE(written["rows"].empty());
    for (const Json& row : written["rows"]) {
      EXPECT_GT(row["violations"], 0) << row;
      EXPECT_GT(row["worst_ratio"], 1) << row;
    }
  }
}

TEST_F(Accuracy, ViolationsDoNotOutnumberWhatWasCompared) {
  accuracy({"mutant:forgets_the_scale", "--cases", "0"});
  const Json written = report();
  for (const Json& row : written["rows"]) EXPECT_LE(row["violations"], row["outputs"]) << row;
}

TEST_F(Accuracy, AViolationThatOnlyGeneratedCasesShowIsAViolation) {
  const Finished finished = accuracy({"mutant:fully_masked_row_gives_nan", "--cases", "20"});
  EXPECT_EQ(finished.exit_code, 1) << finished.out;
  const Json written = report();
  for (const Json& row : written["rows"]) EXPECT_EQ(row["violations"], 0);
}

/// One kernel fails as listed, another does not any more.
TEST_F(Accuracy, KnownFailuresOfGeneratedCasesAreNotRedAndAPassIs) {
  write("known.txt",
        "law=* kernel=mutant:* issue=https://x.org/9 until=2099-12-31 run\n"
        "law=bound.out dtype=f64 kernel=builtin:* issue=#10 until=2099-12-31 run\n");
  const Words known{"mutant:fully_masked_row_gives_nan", "--cases", "20", "--known", "known.txt"};
  const Finished listed = accuracy(known);
  EXPECT_EQ(listed.exit_code, 0) << listed.out;
  EXPECT_THAT(listed.out, HasSubstr("check mutant:fully_masked_row_gives_nan  PASSED"));
  EXPECT_THAT(listed.out, HasSubstr("\n  known   known.txt:1  law=* kernel=mutant:*: "));
  EXPECT_THAT(read("out/report.md"), HasSubstr("known.txt:1"));

  Words both = known;
  both.insert(both.begin() + 1, "builtin:textbook");
  const Finished passed = accuracy(both);
  EXPECT_EQ(passed.exit_code, 5) << passed.out;
  EXPECT_THAT(passed.out, HasSubstr("check builtin:textbook  FAILED  1 violation"));
  EXPECT_THAT(passed.out, HasSubstr("\n  xpass   known.txt:2  law=bound.out dtype=f64 "));
  EXPECT_THAT(read("out/report.md"), HasSubstr("take out known.txt:2 (#10)"));

  write("known.txt", "law=bound.* kernel=mutant:* issue=#9 until=2099-12-31 run\n");
  EXPECT_EQ(accuracy(known).exit_code, 1) << "laws that are not listed fail as well";
  write("known.txt", "law=* issue=#9 until=soon run\n");
  const Finished refused = accuracy(known);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("known.txt:1: this is no known failure"));
}

TEST_F(Accuracy, BadInputIsRefusedAndNamed) {
  write("file", "");
  expect_refused({"accuracy", "builtin:nope"}, {"builtin:nope", "builtin:scalar_tree"});
  expect_refused({"accuracy", "--tensors", "missing"}, {"missing"});
  expect_refused({"accuracy", "--tensors", "real", "--out", "file/below"}, {"file/below"});
  write("cut/a.safetensors", "short");
  expect_refused({"accuracy", "--tensors", "real,cut"}, {"cut/a.safetensors: byte 5"});
}

TEST_F(Accuracy, ANegativeNumberIsRefusedAndNotTakenAsNone) {
  for (const std::string option : {"--cases", "--jobs"})
    expect_refused({"accuracy", "builtin:textbook", "--tensors", "real", option, "-5"},
                   {option, "-5"});
}

TEST_F(Accuracy, AReportThatCannotBeWrittenIsNamed) {
  std::filesystem::create_directories(folder() / "out/accuracy.md");
  for (const auto& [limit, file] : {std::pair{std::optional<rlim_t>{100}, "out/run.jsonl"},
                                    std::pair{std::optional<rlim_t>{}, "out/accuracy.md"}}) {
    const Finished finished = accuracy({"builtin:textbook", "--cases", "0"},
                                       {.largest_file = limit, .standard_output = {}});
    EXPECT_EQ(finished.exit_code, 2);
    EXPECT_EQ(lines_of(finished.err).size(), 1U);
    EXPECT_THAT(finished.err, AllOf(StartsWith("attest: "), HasSubstr(file)));
  }
}

TEST_F(Accuracy, EndsByPrintingThePathOfThePageAndStreamsItsRows) {
  const Finished finished = accuracy({"builtin:textbook", "builtin:scalar_tree", "--cases", "2"});
  EXPECT_EQ(last_line(finished.out), "wrote out/report.html");
  EXPECT_TRUE(exists("out/report.html"));
  std::size_t rows = 0;
  std::map<std::string, int> types;
  for (const Json& line : json_lines(read("out/run.jsonl"))) {
    ++types[line["type"]];
    if (line["type"] != "accuracy") continue;
    ++rows;
    EXPECT_THAT(line["replay"].get<std::string>(), HasSubstr("vals=real:" + kTensor));
  }
  EXPECT_EQ(rows, report()["rows"].size());
  EXPECT_EQ(types["check"], 2);
  EXPECT_EQ(types["summary"], 1);
  EXPECT_GE(types["statistics"], 2);
  // The replay line of a row runs on its own.
  const Json row = json_lines(read("out/run.jsonl"))[1];
  ASSERT_EQ(row["type"], "accuracy");
  Words words = shell_words(row["replay"].get<std::string>());
  words.erase(words.begin());
  words.insert(words.end(), {"--tensors", "real"});
  EXPECT_EQ(run(words).exit_code, 0);
  // Later the same reports come of it.
  run({"report", "out", "-o", "again.md"});
  EXPECT_TRUE(read("again.md") == read("out/report.md"));
  run({"report", "out", "-o", "again.html"});
  EXPECT_TRUE(read("again.html") == read("out/report.html"));
}

}  // namespace
}  // namespace attest::cli
