// For CI systems: one suite and one test a law. The test keeps its name from run to run, so that a
// CI system can tell when a law began to fail; the cases are in the properties and the text.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "attest/glob.hpp"
#include "reports/escape.hpp"
#include "reports/numbers.hpp"
#include "reports/page_data.hpp"
#include "reports/render_run.hpp"
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

/// A line of the ledger has its entry's word law=GLOB.
bool is_about(std::string_view line, std::string_view law) {
  constexpr std::string_view kWord = " law=";
  const std::size_t at = line.find(kWord);
  if (at == std::string_view::npos) return false;
  const std::string_view glob = line.substr(at + kWord.size());
  return glob_matches(glob.substr(0, glob.find_first_of(" :")), law);
}

/// A law with known failures is no pass, and their issues are named.
std::string skip_reason(const CheckReport& report, const LawRow& row) {
  if (row.known == 0) return undecided_reason(row);
  std::string reason = count_text(row.known, "known failure");
  for (const std::string& line : report.ledger)
    if (line.starts_with("known ") && is_about(line, row.law)) reason += "; " + line;
  return reason;
}

/// A violation whose law has no row still gets a suite: it must not be lost.
std::vector<Suite> suites_of(const CheckReport& report) {
  std::vector<Suite> suites;
  suites.reserve(report.laws.size());
  for (const LawRow& row : report.laws) suites.push_back({row, {}, skip_reason(report, row)});
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
  if (row.known > 0) append_property(text, "known", fmt::format("{}", row.known));
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

void append_suite(std::string& text, const CheckReport& report, const Suite& suite,
                  std::string_view prefix) {
  const std::string law = xml_attribute(suite.row.law);
  text += fmt::format(
      "  <testsuite name=\"{}{}\" tests=\"1\" failures=\"{}\" errors=\"0\" skipped=\"{}\">\n",
      xml_attribute(prefix), law, suite.failed() ? 1 : 0, suite.skipped() ? 1 : 0);
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

struct Totals {
  std::size_t tests = 0;
  std::size_t failures = 0;
  std::size_t errors = 0;
  std::size_t skipped = 0;
};

/// The suites of one check; with several checks in a file their names begin with the kernel's.
std::string check_suites(const CheckReport& report, std::string_view prefix, Totals& totals) {
  std::string text;
  for (const Suite& suite : suites_of(report)) {
    append_suite(text, report, suite, prefix);
    ++totals.tests;
    totals.failures += suite.failed() ? 1 : 0;
    totals.skipped += suite.skipped() ? 1 : 0;
  }
  return text;
}

std::string document(std::string_view name, const Totals& totals, double seconds,
                     const std::string& suites) {
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuites name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" "
      "skipped=\"{}\" time=\"{:.3f}\">\n{}</testsuites>\n",
      xml_attribute(name), totals.tests, totals.failures, totals.errors, totals.skipped, seconds,
      suites);
}

/// A kernel on one tensor, over all dtypes and tilings.
struct TensorCase {
  std::string kernel;
  std::string tensor;
  std::int64_t violations = 0;
  std::string text;
};

std::vector<TensorCase> tensor_cases(const std::vector<AccuracyRow>& rows) {
  std::vector<TensorCase> cases;
  for (const AccuracyRow& row : rows) {
    auto found = std::find_if(cases.begin(), cases.end(), [&](const TensorCase& one) {
      return one.kernel == row.kernel && one.tensor == row.tensor;
    });
    if (found == cases.end()) {
      TensorCase fresh;
      fresh.kernel = row.kernel;
      fresh.tensor = row.tensor;
      found = cases.insert(cases.end(), std::move(fresh));
    }
    found->violations += row.violations;
    if (row.violations > 0)
      found->text += fmt::format("{} of {} outputs beyond their bound, worst {} ({} x bound)\n{}\n",
                                 row.violations, row.outputs, row.worst_element,
                                 ratio_text(row.worst_ratio), row.replay);
  }
  return cases;
}

std::string tensor_suites(const std::vector<AccuracyRow>& rows, Totals& totals) {
  std::string text;
  for (const TensorCase& one : tensor_cases(rows)) {
    const bool failed = one.violations > 0;
    ++totals.tests;
    totals.failures += failed ? 1 : 0;
    const std::string kernel = xml_attribute(one.kernel);
    const std::string tensor = xml_attribute(one.tensor);
    text += fmt::format(
        "  <testsuite name=\"{} {}\" tests=\"1\" failures=\"{}\" errors=\"0\" skipped=\"0\">\n"
        "    <testcase classname=\"{}\" name=\"{}\"",
        kernel, tensor, failed ? 1 : 0, kernel, tensor);
    if (failed)
      text += fmt::format(
          ">\n      <failure type=\"fail\" message=\"{}\">{}</failure>\n    </testcase>\n",
          xml_attribute(count_text(one.violations, "violation")), xml_text(plain_lines(one.text)));
    else
      text += "/>\n";
    text += "  </testsuite>\n";
  }
  return text;
}

/// A run that is not whole must not look like one that passed.
std::string unfinished_suite(const Run& run, Totals& totals) {
  if (run.unfinished.empty() && !run.interrupted) return {};
  ++totals.tests;
  ++totals.errors;
  return fmt::format(
      "  <testsuite name=\"run\" tests=\"1\" failures=\"0\" errors=\"1\" skipped=\"0\">\n"
      "    <testcase classname=\"attest\" name=\"the run is complete\">\n"
      "      <error type=\"unfinished\" message=\"{}\"/>\n    </testcase>\n  </testsuite>\n",
      xml_attribute(undecided_reason(run)));
}

}  // namespace

std::string render_check_junit(const CheckReport& report) {
  Totals totals;
  const std::string suites = check_suites(report, {}, totals);
  return document("attest check " + report.kernel, totals, report.seconds, suites);
}

std::string render_run_junit(const RunHistory& history) {
  const Run& run = history.latest;
  Totals totals;
  std::string suites = tensor_suites(run.accuracy, totals);
  for (const CheckReport& check : run.checks)
    suites += check_suites(check, run.checks.size() > 1 ? check.kernel + " " : "", totals);
  suites += unfinished_suite(run, totals);
  return document(run_title(run), totals, run.seconds, suites);
}

}  // namespace attest::reports
