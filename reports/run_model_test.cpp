// A run written line by line, read back, merged and thinned.
#include "reports/run_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <sstream>
#include <string>

#include "reports/page_data.hpp"
#include "reports/render_run.hpp"
#include "reports/run_history.hpp"
#include "reports/run_lines.hpp"
#include "reports/test_runs.hpp"

namespace attest::reports {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

Result<RunHistory> read_text(const std::string& text) {
  std::istringstream stream(text);
  RunBuilder builder;
  if (Status status = read_run(stream, "run.jsonl", builder); !status.ok()) return status;
  RunHistory history;
  history.latest = builder.finish();
  history.points = points_of(history.latest);
  return history;
}

/// A folder of its own, removed at the end.
class RunFiles : public testing::Test {
 protected:
  RunFiles() {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~RunFiles() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  std::filesystem::path write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() /
      ("attest-run-model-" +
       std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
};

TEST(RunLines, WhatIsReadBackRendersAsWhatWasWritten) {
  const test::WrittenRun written = test::written_run();
  const auto read = read_text(written.text);
  ASSERT_TRUE(read.ok()) << read.status().message();
  RunHistory history;
  history.latest = written.run;
  history.points = points_of(written.run);
  for (const RunFormat format :
       {RunFormat::text, RunFormat::markdown, RunFormat::accuracy, RunFormat::json,
        RunFormat::jsonl, RunFormat::junit, RunFormat::sarif, RunFormat::csv})
    EXPECT_EQ(render_run(format, read.value()), render_run(format, history))
        << static_cast<int>(format);
}

TEST(RunLines, ACondensedRunRendersAsTheWholeOne) {
  const auto whole = read_text(test::written_run().text);
  ASSERT_TRUE(whole.ok());
  const auto condensed = read_text(condensed_lines(whole.value().latest));
  ASSERT_TRUE(condensed.ok()) << condensed.status().message();
  for (const RunFormat format : {RunFormat::text, RunFormat::markdown, RunFormat::accuracy,
                                 RunFormat::json, RunFormat::junit, RunFormat::sarif})
    EXPECT_EQ(render_run(format, condensed.value()), render_run(format, whole.value()))
        << static_cast<int>(format);
}

TEST(RunLines, EveryCutOfAFileIsReadAndCalledUnfinished) {
  const std::string text = test::written_run().text;
  const std::size_t first = text.find('\n') + 1;
  const std::size_t last = text.rfind('\n', text.size() - 2) + 1;
  std::int64_t cases = 0;
  for (std::size_t end = first; end < text.size() - 1; end += end + 40 < text.size() ? 37 : 1) {
    const auto read = read_text(text.substr(0, end));
    ASSERT_TRUE(read.ok()) << end << ": " << read.status().message();
    const reports::Run& run = read.value().latest;
    EXPECT_GE(run.cases.total(), cases);
    cases = run.cases.total();
    // The summary without its newline may be whole.
    if (end < last) {
      EXPECT_THAT(run.unfinished, StartsWith("unfinished"));
      EXPECT_NE(run_outcome(run), RunOutcome::passed);
    }
  }
  EXPECT_EQ(cases, test::written_run().run.cases.total());
}

TEST(RunLines, AFileThatEndsInItsFirstLineHasNothing) {
  const std::string text = test::written_run().text;
  EXPECT_THAT(read_text(text.substr(0, 30)).status().message(),
              StartsWith("run.jsonl:1: nothing of the run"));
  EXPECT_THAT(read_text("").status().message(), StartsWith("run.jsonl:1: the file is empty"));
}

TEST(RunLines, ADamagedOrForeignFileIsOneLineWithItsNumber) {
  const std::string text = test::written_run().text;
  const std::size_t second = text.find('\n') + 1;
  const auto message = [](const std::string& of) {
    const auto read = read_text(of);
    EXPECT_FALSE(read.ok());
    const std::string said = read.status().message();
    EXPECT_EQ(said.find('\n'), std::string::npos) << said;
    return said;
  };
  EXPECT_THAT(message("hello\n"), StartsWith("run.jsonl:1: not a run.jsonl"));
  EXPECT_THAT(message("{\"format\":\"attest-run\",\"version\":1}\n"), HasSubstr("version"));
  EXPECT_THAT(message(text.substr(0, second) + "garbage\n" + text.substr(second)),
              StartsWith("run.jsonl:2: this line is damaged"));
  EXPECT_THAT(message(text.substr(0, second) + "{\"type\":\"case\",\"kernel\":7}\n"),
              StartsWith("run.jsonl:2: 'kernel' of the case is no text"));
  EXPECT_THAT(message(text + text.substr(second, 1) + "}\n"), HasSubstr("after the summary"));
  EXPECT_THAT(message(text.substr(0, second) + std::string(kMaxRunLine + 2, 'x') + '\n'),
              StartsWith("run.jsonl:2: longer than"));
  std::string deep = text.substr(0, second) + "{\"type\":\"case\",\"x\":";
  deep += std::string(100, '[') + std::string(100, ']') + "}\n";
  EXPECT_THAT(message(deep), StartsWith("run.jsonl:2: this line is damaged"));
}

TEST(RunLines, ASummaryThatCountsOtherCasesIsDamage) {
  std::string text = test::written_run().text;
  const std::size_t begin = text.find("{\"type\":\"case\"");
  text.erase(begin, text.find('\n', begin) + 1 - begin);
  EXPECT_THAT(read_text(text).status().message(), HasSubstr("the summary counts"));
}

TEST(RunLines, ALineOfAnUnknownTypeIsPassedOver) {
  const std::string text = test::written_run().text;
  const std::size_t second = text.find('\n') + 1;
  const auto read = read_text(text.substr(0, second) + "{\"type\":\"tomorrow\",\"x\":[1]}\n" +
                              text.substr(second));
  EXPECT_TRUE(read.ok()) << read.status().message();
}

TEST(RunLines, AViolationWhoseShrinkingWasKilledIsStillThere) {
  const std::string text = test::written_run().text;
  const std::size_t violation = text.find("{\"type\":\"violation\"");
  const auto read = read_text(text.substr(0, violation));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read.value().latest.checks.front().violations.size(), 1U);
  EXPECT_EQ(run_outcome(read.value().latest), RunOutcome::violated);
}

TEST_F(RunFiles, ShardsAreTheWholeRun) {
  const test::WrittenRun whole = test::written_checks(1, 1);
  std::vector<std::filesystem::path> parts;
  for (int i = 3; i >= 1; --i)
    parts.push_back(write("part" + std::to_string(i) + ".jsonl", test::written_checks(i, 3).text));
  const auto merged = read_runs(parts);
  ASSERT_TRUE(merged.ok()) << merged.status().message();
  const reports::Run& run = merged.value().latest;
  EXPECT_EQ(run.unfinished, "");
  EXPECT_EQ(run.cases.total(), whole.run.cases.total());
  ASSERT_EQ(run.checks.size(), 1U);
  const auto laws = [](const reports::Run& of) {
    std::set<std::string> rows;
    for (const LawRow& row : of.checks.front().laws)
      rows.insert(row.law + " " + std::to_string(row.cases) + " " + std::to_string(row.ok) + " " +
                  std::to_string(row.worst_ratio) + " " + row.worst_problem);
    return rows;
  };
  EXPECT_EQ(laws(run), laws(whole.run));
  EXPECT_EQ(merged.value().points.size(), 1U);

  parts.pop_back();
  const auto two = read_runs(parts);
  ASSERT_TRUE(two.ok());
  EXPECT_EQ(two.value().latest.unfinished, "unfinished: 2 of 3 shards");
  EXPECT_EQ(run_outcome(two.value().latest), RunOutcome::undecided);
}

TEST_F(RunFiles, ACopyCountsOnceAndTheLongerOneIsRead) {
  const std::string text = test::written_checks(1, 1).text;
  const auto read =
      read_runs({write("cut.jsonl", text.substr(0, text.size() / 2)), write("whole.jsonl", text)});
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read.value().latest.cases.total(), test::written_checks(1, 1).run.cases.total());
  EXPECT_EQ(read.value().latest.unfinished, "");
}

TEST_F(RunFiles, EarlierRunsOfTheSameKernelAreItsHistory) {
  const auto read =
      read_runs({write("b.jsonl", test::written_checks(1, 1, "2026-12-02T00:00:00Z").text),
                 write("a.jsonl", test::written_checks(1, 1, "2026-12-01T00:00:00Z").text)});
  ASSERT_TRUE(read.ok());
  ASSERT_EQ(read.value().points.size(), 2U);
  EXPECT_EQ(read.value().points[0].started, "2026-12-01T00:00:00Z");
  EXPECT_EQ(read.value().latest.header.started, "2026-12-02T00:00:00Z");
  EXPECT_EQ(read.value().latest.cases.total(), test::written_checks(1, 1).run.cases.total());
  EXPECT_THAT(render_run_markdown(read.value()), HasSubstr("## Runs"));
}

TEST_F(RunFiles, AFolderStandsForItsRun) {
  write("run.jsonl", test::written_run().text);
  EXPECT_TRUE(read_runs({folder()}).ok());
  EXPECT_THAT(read_runs({folder() / "missing"}).status().message(), HasSubstr("does not exist"));
  EXPECT_THAT(read_runs({"/dev/null"}).status().message(), HasSubstr("is no file"));
}

}  // namespace
}  // namespace attest::reports
