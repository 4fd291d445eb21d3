// attest report and attest compare on runs that attest check leaves behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <set>
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

const std::string kTree = "builtin:scalar_tree";

class ReportProgram : public ProgramTest {
 protected:
  Finished check(const std::string& kernel, const std::string& out, const Words& more = {}) const {
    Words arguments{"check", kernel, "--tier", "smoke", "--out", out};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }

  Finished report(const Words& arguments) const {
    Words words{"report"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    const Finished finished = run(words);
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    EXPECT_EQ(finished.err, "");
    return finished;
  }

  /// The JSON inside of report.html.
  static Json page_of(const std::string& json) {
    Json page = Json::parse(json, nullptr, false);
    EXPECT_FALSE(page.is_discarded());
    return page;
  }
};

TEST_F(ReportProgram, SaysLaterWhatTheRunItselfSaid) {
  EXPECT_EQ(check("mutant:causal_one_too_many", "out",
                  {"--format", "junit=a.xml", "--format", "sarif=a.sarif", "--format", "csv=a.csv"})
                .exit_code,
            1);
  const std::vector<std::pair<std::string, std::string>> pairs{{"out/summary.md", "b.md"},
                                                               {"out/report.html", "b.html"},
                                                               {"a.xml", "b.xml"},
                                                               {"a.sarif", "b.sarif"},
                                                               {"a.csv", "b.csv"}};
  for (const auto& [first, again] : pairs) {
    report({"out", "-o", again});
    EXPECT_TRUE(read(again) == read(first)) << again;
  }
  EXPECT_THAT(read("out/summary.md"), HasSubstr("**FAILED**"));
  EXPECT_THAT(report({"out/run.jsonl"}).out, HasSubstr("FAILED  "));
}

TEST_F(ReportProgram, CsvHasEveryCase) {
  check(kTree, "out");
  const std::string lines = read("out/run.jsonl");
  std::ptrdiff_t cases = 0;
  for (const Json& line : json_lines(lines)) cases += line["type"] == "case" ? 1 : 0;
  const std::string csv = report({"out", "--format", "csv"}).out;
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), cases + 1);
}

TEST_F(ReportProgram, EveryCaseLineHasWhatAReportNeeds) {
  check("mutant:causal_one_too_many", "out");
  std::set<std::string> types;
  for (const Json& line : json_lines(read("out/run.jsonl"))) {
    types.insert(line["type"]);
    if (line["type"] != "case") continue;
    EXPECT_EQ(line["kernel"], "mutant:causal_one_too_many");
    for (const char* name : {"dtype", "mask", "variant"}) EXPECT_NE(line[name], "") << line;
    EXPECT_GE(line["keys"], 0);
    if (line["outcome"] != "skipped" && line["problem"].get<std::string>().size() < 200) {
      EXPECT_THAT(line.value("replay", "attest replay mutant:"),
                  StartsWith("attest replay mutant:"));
      EXPECT_TRUE(line.contains("replay") || line["outcome"] != "fail");
    }
  }
  EXPECT_THAT(types, testing::IsSupersetOf({"environment", "case", "violation", "statistics",
                                            "power", "check", "summary"}));
  const Json first = json_lines(read("out/run.jsonl")).front();
  EXPECT_THAT(first["command"].get<std::string>(),
              HasSubstr("attest check mutant:causal_one_too_many --tier smoke"));
  for (const char* name : {"commit", "compiler", "flags", "rounding", "subnormals", "highway"})
    EXPECT_TRUE(first["environment"].contains(name)) << name;
}

TEST_F(ReportProgram, ShardsMergeIntoTheRun) {
  check(kTree, "whole");
  Words parts;
  for (const std::string i : {"1", "2", "3"}) {
    EXPECT_EQ(check(kTree, "part" + i, {"--shard", i + "/3"}).err, "");
    parts.push_back("part" + i);
  }
  const auto laws = [&](const std::string& file) {
    std::vector<std::string> rows;
    for (const Json& row : page_of(read(file))["laws"])
      rows.push_back(row["law"].get<std::string>() + " " + row["cases"].dump() + " " +
                     row["ok"].dump() + " " + row["worst_ratio"].dump() + " " +
                     row["worst_problem"].dump());
    std::sort(rows.begin(), rows.end());
    return rows;
  };
  report({"whole", "-o", "whole.json"});
  Words arguments = parts;
  arguments.insert(arguments.end(), {"-o", "merged.json"});
  report(arguments);
  EXPECT_EQ(laws("merged.json"), laws("whole.json"));
  const Json merged = page_of(read("merged.json"));
  EXPECT_EQ(merged["outcome"], "passed");
  EXPECT_EQ(merged["cases_total"], page_of(read("whole.json"))["cases_total"]);
  // Every part has its share.
  for (const std::string& part : parts)
    EXPECT_GT(json_lines(read(part + "/run.jsonl")).size(), 100U);
  report({"part1", "part3", "-o", "two.json"});
  EXPECT_EQ(page_of(read("two.json"))["outcome"], "undecided");
  expect_refused({"check", kTree, "--shard", "4/3"}, {"--shard", "4/3"});
  expect_refused({"check", kTree, "--shard", "0/3"}, {"--shard", "0/3"});
}

TEST_F(ReportProgram, AKilledRunIsReportedUpToTheKill) {
  Running running(
      {"check", "mutant:lse_in_base_two", "--tier", "nightly", "--skip", "merge.*", "--out", "out"},
      folder(), {});
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  std::ptrdiff_t before = 0;
  bool violated = false;
  while (std::chrono::steady_clock::now() < deadline && !(before >= 200 && violated)) {
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
    if (!exists("out/run.jsonl")) continue;
    const std::string text = read("out/run.jsonl");
    before = std::count(text.begin(), text.end(), '\n');
    violated = text.find("\"type\":\"violation\"") != std::string::npos;
  }
  running.send(SIGKILL);
  EXPECT_EQ(running.wait().signal, SIGKILL);
  ASSERT_GE(before, 200);
  ASSERT_TRUE(violated);

  const std::string text = read("out/run.jsonl");
  std::int64_t whole = 0;
  for (const std::string& line : lines_of(text.substr(0, text.rfind('\n') + 1)))
    whole += line.starts_with("{\"type\":\"case\"") ? 1 : 0;
  report({"out", "-o", "a.json"});
  const Json page = page_of(read("a.json"));
  EXPECT_EQ(page["cases_total"], whole);
  EXPECT_EQ(page["unfinished"], true);
  EXPECT_EQ(page["outcome"], "violated");
  EXPECT_FALSE(page["violations"].empty());
  report({"out", "-o", "a.md"});
  EXPECT_THAT(read("a.md"), AllOf(HasSubstr("**FAILED**"), HasSubstr("unfinished")));

  // Killed in the middle of a line.
  write("cut.jsonl", text.substr(0, text.size() - 20));
  report({"cut.jsonl", "-o", "b.json"});
  EXPECT_EQ(page_of(read("b.json"))["unfinished"], true);
}

TEST_F(ReportProgram, AKilledRunWithoutAViolationHasNotPassed) {
  check(kTree, "out", {"--only", "bound.out"});
  const std::string text = read("out/run.jsonl");
  const std::size_t summary = text.rfind("{\"type\":\"summary\"");
  write("cut.jsonl", text.substr(0, summary + 10));
  const std::string printed = report({"cut.jsonl"}).out;
  EXPECT_THAT(last_line(printed), StartsWith("UNDECIDED  unfinished"));
  EXPECT_THAT(printed, Not(HasSubstr("PASSED")));
}

TEST_F(ReportProgram, BadInputIsRefusedInOneLineWithItsPlace) {
  write("text", "hello\n");
  check(kTree, "out", {"--only", "bound.out"});
  const std::string lines = read("out/run.jsonl");
  write("bad.jsonl", lines.substr(0, lines.find('\n') + 1) + "no json\n" + lines);
  expect_refused({"report", "missing"}, {"missing", "does not exist"});
  expect_refused({"report", "text"}, {"text:1: not a run.jsonl"});
  expect_refused({"report", "bad.jsonl"}, {"bad.jsonl:2:"});
  expect_refused({"report", "out", "-o", "a.pdf"}, {"a.pdf", ".html"});
  expect_refused({"report", "out", "--format", "pdf"}, {"unknown format 'pdf'"});
  expect_refused({"report", "out", "-o", "no/such/a.md"}, {"no/such/a.md"});
  expect_refused({"compare", "out", "text"}, {"text:1:"});
}

TEST_F(ReportProgram, ACommentIsShortEnough) {
  check("mutant:causal_one_too_many", "out");
  const std::string comment = report({"out", "--comment"}).out;
  EXPECT_LT(comment.size(), 64'000U);
  EXPECT_THAT(comment, HasSubstr("**FAILED**"));
}

TEST_F(ReportProgram, TwoEqualRunsPassTheGate) {
  check(kTree, "old");
  check(kTree, "new");
  const Finished compared =
      run({"compare", "old", "new", "--gate", "ratio<=1.25 & new_fail==0 & rms<=1.1 & power>=0.9"});
  EXPECT_EQ(compared.exit_code, 0) << compared.out << compared.err;
  EXPECT_THAT(last_line(compared.out), StartsWith("GATE PASSED"));
  const Finished bad = run({"compare", "old", "new", "--gate", "ratio=<1"});
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_EQ(bad.out, "");
  expect_caret_below(bad, "ratio=<1", "=<1");
}

TEST_F(ReportProgram, AKernelThatSumsInBf16FailsTheGateAndItsWorstCaseIsNamed) {
  check("builtin:flash_bf16p", "old");
  check("mutant:numerator_in_bf16", "new");
  expect_refused({"compare", "old", "new"}, {"different kernels", "--allow-other-kernel"});
  const Finished compared =
      run({"compare", "old", "new", "--allow-other-kernel", "--gate", "ratio<=1.25 & new_fail==0"});
  EXPECT_EQ(compared.exit_code, 1) << compared.out;
  EXPECT_THAT(last_line(compared.out), StartsWith("GATE FAILED"));
  EXPECT_THAT(compared.out, HasSubstr("new failure  mutant:numerator_in_bf16 bound.out"));
  // The line that it names fails on its own.
  std::string replay;
  for (const std::string& line : lines_of(compared.out))
    if (line.starts_with("  replay   ")) replay = replay.empty() ? line.substr(11) : replay;
  Words words = shell_words(replay);
  ASSERT_GE(words.size(), 3U);
  words.erase(words.begin());
  EXPECT_EQ(run(words).exit_code, 1);
}

}  // namespace
}  // namespace attest::cli
