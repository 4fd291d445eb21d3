// For CI systems: one suite and one test a law. The test keeps its name from run to run, so that a
// CI system can tell when a law began to fail; the cases are in the properties and the text.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "reports/escape.hpp"
#include "reports/numbers.hpp"
#include "reports/report.hpp"
#include "reports/report_tables.hpp"

namespace attest::reports {
namespace {

struct Suite {
  LawRow row;
  std::vector<const Violation*> violations;
  std::string skip_reason;

  bool failed() const { return row.violations > 0 || !violations.empty(); }
  bool skipped() const { return !failed() && !skip_reason.empty(); }
};

/// A violation whose law has no row still gets a suite: it must not be lost.
std::vector<Suite> suites_of(const CheckReport& report) {
  std::vector<Suite> suites;
  suites.reserve(report.laws.size());
  for (const LawRow& row : report.laws) suites.push_back({row, {}, undecided_reason(row)});
  for (const Violation& violation : report.violations) {
    const std::string& law = violation.found.law;
    auto found = std::find_if(suites.begin(), suites.end(),
                              [&](const Suite& suite) { return suite.row.law == law; });
    if (found == suites.end()) {
      found = suites.insert(suites.end(), Suite{});
      found->row.law = law;
    }
    found->violations.push_back(&violation);
  }
  return suites;
}

void append_property(std::string& text, std::string_view name, std::string_view value) {
  text += fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", name, xml_attribute(value));
}

void append_properties(std::string& text, const CheckReport& report, const LawRow& row) {
  text += "    <properties>\n";
  append_property(text, "seed", seed_text(report.seed));
  append_property(text, "cases", fmt::format("{}", row.cases));
  append_property(text, "ok", fmt::format("{}", row.ok));
  append_property(text, "weak", fmt::format("{}", row.weak));
  append_property(text, "unproven", fmt::format("{}", row.unproven));
  append_property(text, "skipped", fmt::format("{}", row.skipped));
  append_property(text, "violations", fmt::format("{}", row.violations));
  append_property(text, "worst_ratio", ratio_text(row.worst_ratio));
  append_property(text, "worst_problem", row.worst_problem);
  if (report.interrupted) append_property(text, "interrupted", "true");
  text += "    </properties>\n";
}

void append_failure(std::string& text, const Suite& suite) {
  const auto recorded = static_cast<std::int64_t>(suite.violations.size());
  const std::int64_t count = std::max(suite.row.violations, recorded);
  std::string message =
      fmt::format("{} in {}", count_text(count, "violation"), count_text(suite.row.cases, "case"));
  std::string type = "fail";
  if (recorded > 0) {
    const CaseResult& first = suite.violations.front()->found;
    message += ", first: " + first.problem;
    type = to_string(first.verdict.outcome);
  }
  text += fmt::format("      <failure type=\"{}\" message=\"{}\">", type, xml_attribute(message));
  const std::size_t shown = std::min(suite.violations.size(), kMaxViolationsShown);
  for (std::size_t i = 0; i < shown; ++i) {
    if (i > 0) text += '\n';
    text += xml_text(render_violation_text(*suite.violations[i]));
  }
  if (suite.violations.size() > shown) {
    text += fmt::format("\n{} more\n", suite.violations.size() - shown);
  }
  text += "</failure>\n";
}

void append_suite(std::string& text, const CheckReport& report, const Suite& suite) {
  const std::string law = xml_attribute(suite.row.law);
  text += fmt::format(
      "  <testsuite name=\"{}\" tests=\"1\" failures=\"{}\" errors=\"0\" skipped=\"{}\">\n", law,
      suite.failed() ? 1 : 0, suite.skipped() ? 1 : 0);
  append_properties(text, report, suite.row);
  text +=
      fmt::format("    <testcase classname=\"{}\" name=\"{}\"", xml_attribute(report.kernel), law);
  if (suite.failed()) {
    text += ">\n";
    append_failure(text, suite);
    text += "    </testcase>\n";
  } else if (suite.skipped()) {
    text += fmt::format(">\n      <skipped message=\"{}\"/>\n    </testcase>\n",
                        xml_attribute(suite.skip_reason));
  } else {
    text += "/>\n";
  }
  text += "  </testsuite>\n";
}

}  // namespace

std::string render_check_junit(const CheckReport& report) {
  const std::vector<Suite> suites = suites_of(report);
  const auto failures = std::count_if(suites.begin(), suites.end(),
                                      [](const Suite& suite) { return suite.failed(); });
  const auto skipped = std::count_if(suites.begin(), suites.end(),
                                     [](const Suite& suite) { return suite.skipped(); });
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuites name=\"attest check {}\" tests=\"{}\" failures=\"{}\" errors=\"0\" "
      "skipped=\"{}\" time=\"{:.3f}\">\n",
      xml_attribute(report.kernel), suites.size(), failures, skipped, report.seconds);
  for (const Suite& suite : suites) append_suite(text, report, suite);
  return text + "</testsuites>\n";
}

}  // namespace attest::reports
