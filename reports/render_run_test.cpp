// A run in each format: foreign text does no harm, and a long run stays small.
#include "reports/render_run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "reports/escape.hpp"
#include "reports/page_data.hpp"
#include "reports/run_history.hpp"
#include "reports/test_runs.hpp"

namespace attest::reports {
namespace {

using nlohmann::json;
using testing::Each;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

RunHistory history_of(reports::Run run) {
  RunHistory history;
  history.points = points_of(run);
  history.latest = std::move(run);
  return history;
}

/// Fields of RFC 4180, or a failure of the test.
std::vector<std::vector<std::string>> csv_rows(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> row(1);
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c != '"')
        row.back() += c;
      else if (i + 1 < text.size() && text[i + 1] == '"')
        row.back() += text[++i];
      else
        quoted = false;
    } else if (c == '"') {
      EXPECT_TRUE(row.back().empty()) << "a quote inside of a cell";
      quoted = true;
    } else if (c == ',') {
      row.emplace_back();
    } else if (c == '\r') {
      EXPECT_EQ(text[i + 1], '\n');
    } else if (c == '\n') {
      rows.push_back(std::move(row));
      row.assign(1, "");
    } else {
      row.back() += c;
    }
  }
  EXPECT_FALSE(quoted);
  return rows;
}

TEST(Csv, EveryRowHasTheCellsOfTheHeader) {
  CaseResult result = test::passed_case("builtin:tiled", 7);
  result.problem = "a,b\"c\"";
  const auto rows = csv_rows(csv_header() + csv_row(result));
  ASSERT_EQ(rows.size(), 2U);
  ASSERT_EQ(rows[1].size(), rows[0].size());
  EXPECT_EQ(rows[1][0], "builtin:tiled");
  EXPECT_EQ(rows[1][3], "a,b\"c\"");
  EXPECT_EQ(rows[1][7], "ok");
}

TEST(Csv, NoForeignCellIsAFormula) {
  for (const std::string hostile :
       {"=1+1", "+1", "-1", "@x", "|calc", " =1", "\t=1", "\r=1", "%x"}) {
    CaseResult result = test::passed_case(hostile, 7);
    result.problem = result.mask = result.dtype = result.law = result.replay = hostile;
    result.verdict.reason = hostile;
    const auto rows = csv_rows(csv_header() + csv_row(result));
    ASSERT_EQ(rows.size(), 2U) << hostile;
    for (const std::string& cell : rows[1]) {
      const std::size_t first = cell.find_first_not_of(' ');
      const bool formula = first != std::string::npos &&
                           std::string("=+-@|%").find(cell[first]) != std::string::npos;
      EXPECT_FALSE(formula) << cell;
    }
  }
}

TEST(Sarif, AViolationIsAResultOfItsRuleAtTheKernel) {
  const json log = json::parse(render_run_sarif(history_of(test::written_run().run)));
  EXPECT_EQ(log["version"], "2.1.0");
  const json& run = log["runs"][0];
  ASSERT_EQ(run["results"].size(), 1U);
  const json& result = run["results"][0];
  EXPECT_EQ(result["ruleId"], "law.window");
  const json& rule = run["tool"]["driver"]["rules"][result["ruleIndex"].get<std::size_t>()];
  EXPECT_EQ(rule["id"], "law.window");
  EXPECT_EQ(rule["shortDescription"]["text"], "A window has its edges.");
  EXPECT_THAT(rule["help"]["text"], HasSubstr("j >= p - L"));
  EXPECT_EQ(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
            "src/kernels/registry.cpp");
  EXPECT_THAT(result["message"]["text"], HasSubstr("attest replay"));
}

TEST(Sarif, NoMoreThanFiveThousandResults) {
  reports::Run run = test::written_run().run;
  run.checks.front().violations.assign(kMaxSarifResults + 7, test::violation());
  const json log = json::parse(render_run_sarif(history_of(std::move(run))));
  EXPECT_EQ(log["runs"][0]["results"].size(), kMaxSarifResults);
  EXPECT_EQ(log["runs"][0]["properties"]["resultsLeftOut"], 7);
}

TEST(Sarif, ATensorBeyondItsBoundIsAResultToo) {
  reports::Run run = test::written_run().run;
  run.accuracy.front().violations = 3;
  const json log = json::parse(render_run_sarif(history_of(std::move(run))));
  EXPECT_EQ(log["runs"][0]["results"].size(), 2U);
  EXPECT_EQ(log["runs"][0]["results"][1]["ruleId"], "tensors.bound");
}

TEST(Formats, AHostileNameStaysTextInEachOfThem) {
  const std::string hostile = "</script><b>`|\"'&\n\x1B[31m\xFF\u202E=x";
  const RunHistory history = history_of(test::written_run(hostile).run);
  const std::string text = render_run_text(history);
  EXPECT_THAT(text, Not(HasSubstr("\x1B")));
  EXPECT_THAT(text, Not(HasSubstr("\u202E")));
  const std::string markdown = render_run_markdown(history);
  EXPECT_THAT(markdown, Not(HasSubstr("\x1B")));
  EXPECT_THAT(markdown, Not(HasSubstr("\n\x1B")));
  const std::string html = render_run_html(history);
  EXPECT_THAT(html, Not(HasSubstr("</script><b>")));
  const json page = json::parse(page_json(history));
  EXPECT_THAT(page["kernels"][0]["name"].get<std::string>(), StartsWith("</script><b>`|\"'&\n"));
  const std::string sarif = render_run_sarif(history);
  EXPECT_THAT(json::parse(sarif)["runs"][0]["results"][0]["message"]["text"].get<std::string>(),
              Not(HasSubstr("\x1B")));
  const std::string junit = render_run_junit(history);
  EXPECT_THAT(junit, Not(HasSubstr("<b>")));
  EXPECT_THAT(junit, Not(HasSubstr("\x1B")));
  const std::string table = render_accuracy_table(history);
  EXPECT_THAT(table, Not(HasSubstr("\x1B")));
}

TEST(Junit, ARunThatIsNotWholeIsAnErrorAndNotGreen) {
  reports::Run run = test::written_checks(1, 1).run;
  EXPECT_THAT(render_run_junit(history_of(run)), HasSubstr("errors=\"0\""));
  run.unfinished = "unfinished: it was killed";
  EXPECT_THAT(render_run_junit(history_of(run)),
              HasSubstr("<error type=\"unfinished\" message=\"unfinished: it was killed\"/>"));
}

TEST(AccuracyTable, HasTheLargestErrorOfEachVariantWithItsWitness) {
  const reports::Run run = test::written_checks(1, 1).run;
  double largest = 0;
  std::string witness;
  for (std::int64_t number = 0; number < 100; ++number) {
    const CaseResult result = test::passed_case("builtin:tiled", number);
    if (result.variant != "plain" || result.dtype != "f32" || result.ulp <= largest) continue;
    largest = result.ulp;
    witness = result.replay;
  }
  const std::string table = render_accuracy_table(history_of(run));
  EXPECT_THAT(table, HasSubstr("| `plain` | `f32` | found >= 2.1 |"));
  EXPECT_EQ(largest, 2.1);
  EXPECT_THAT(table, HasSubstr("`" + witness + "`"));
}

// -- long runs ------------------------------------------------------------------------------------

constexpr std::int64_t kManyCases = 100'000;
/// The case that must not be lost, among all the others.
constexpr std::int64_t kExtreme = 77'777;
constexpr std::int64_t kViolated = 33'333;

/// As long as the longest runs; written, read back and thinned.
const RunHistory& long_run() {
  static const RunHistory history = [] {
    RunBuilder builder;
    builder.begin(test::run_header("builtin:tiled", "2026-12-01T07:33:01Z"));
    for (std::int64_t number = 0; number < kManyCases; ++number) {
      CaseResult result = test::passed_case("builtin:tiled", number);
      result.law = "law." + std::to_string(number % 60);
      if (number == kExtreme) result.verdict.worst_ratio = 0.99999;
      if (number == kViolated) {
        result.verdict.outcome = Outcome::fail;
        result.verdict.worst_ratio = 44;
      }
      EXPECT_TRUE(builder.add(result).ok());
    }
    builder.end_check(test::check_end("builtin:tiled"));
    builder.end({false, 100, "", ""});
    return history_of(builder.finish());
  }();
  return history;
}

TEST(LongRun, ThePageStaysBelowThreeMebibytesAndKeepsTheExtremes) {
  EXPECT_LT(render_run_html(long_run()).size(), std::size_t{3} << 20);
  const json page = json::parse(page_json(long_run()));
  EXPECT_EQ(page["cases_total"], kManyCases);
  EXPECT_GT(page["cases"].size(), 1000U);
  std::set<std::int64_t> kept;
  std::set<std::string> laws;
  for (const json& one : page["cases"]) {
    kept.insert(one["number"].get<std::int64_t>());
    laws.insert(one["law"].get<std::string>());
  }
  EXPECT_TRUE(kept.contains(kExtreme));
  EXPECT_TRUE(kept.contains(kViolated));
  EXPECT_EQ(laws.size(), 60U);
  EXPECT_EQ(page["violations"].size(), 1U);
  double largest = 0;
  for (const json& one : page["ratio_by_keys"])
    largest = std::max(largest, one["ratio"].get<double>());
  EXPECT_EQ(largest, 44);
}

TEST(LongRun, EveryWorstCaseByKeysIsTheWorstOfAllCases) {
  std::map<std::pair<std::string, int>, double> worst;
  for (std::int64_t number = 0; number < kManyCases; ++number) {
    const CaseResult result = test::passed_case("builtin:tiled", number);
    double ratio = number == kExtreme    ? 0.99999
                   : number == kViolated ? 44
                                         : result.verdict.worst_ratio;
    int power = -1;
    for (Index keys = result.keys; keys > 0; keys /= 2) ++power;
    double& kept = worst[{result.dtype, power}];
    kept = std::max(kept, ratio);
  }
  std::size_t seen = 0;
  for (const CaseResult* const result : long_run().latest.cases.worst_by_keys()) {
    int power = -1;
    for (Index keys = result->keys; keys > 0; keys /= 2) ++power;
    EXPECT_EQ(result->verdict.worst_ratio, (worst[{result->dtype, power}]));
    ++seen;
  }
  EXPECT_EQ(seen, worst.size());
}

TEST(LongRun, MarkdownStaysWithinItsLimits) {
  reports::Run run = long_run().latest;
  const Violation violation = test::violation();
  run.checks.front().violations.assign(5000, violation);
  for (Violation& one : run.checks.front().violations) one.values = std::string(60'000, 'x');
  const RunHistory history = history_of(std::move(run));
  const std::string summary = render_run_markdown(history);
  EXPECT_LT(summary.size(), std::size_t{1} << 20);
  EXPECT_THAT(summary, HasSubstr(" more in the artefact"));
  EXPECT_THAT(summary, HasSubstr("**FAILED**"));
  const std::string comment = render_run_markdown(history, kMaxComment);
  EXPECT_LT(comment.size(), 64'000U);
  EXPECT_THAT(comment, HasSubstr(" more in the artefact"));
  EXPECT_THAT(comment, HasSubstr("**FAILED**"));
}

TEST(LongRun, TheOrderOfTheCasesChangesNothingThatIsKept) {
  CaseSample forwards;
  CaseSample backwards;
  for (std::int64_t number = 0; number < 5000; ++number) {
    forwards.add(test::passed_case("builtin:tiled", number));
    backwards.add(test::passed_case("builtin:tiled", 4999 - number));
  }
  const auto names = [](const CaseSample& sample) {
    std::vector<std::string> found;
    for (const CaseResult* const result : sample.by_importance())
      found.push_back(result->law + " " + std::to_string(result->number));
    return found;
  };
  EXPECT_EQ(names(forwards), names(backwards));
}

}  // namespace
}  // namespace attest::reports
