// For a job summary, a pull request or the README of a kernel. Foreign text stands in code only:
// there no character formats, links or mentions.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "reports/escape.hpp"
#include "reports/markdown_parts.hpp"
#include "reports/report.hpp"

namespace attest::reports {

std::string outcome_paragraph(const CheckReport& report) {
  return fmt::format("**{}** {}\n", outcome_word(report), markdown_code(outcome_details(report)));
}

std::string environment_table(const Environment& environment) {
  Table table;
  table.columns = {{"name", Column::Kind::text}, {"value", Column::Kind::text}};
  for (const auto& [name, value] : environment) table.rows.push_back({name, value});
  return markdown_of(table);
}

std::string violation_details(const Violation& violation) {
  const CaseResult& found = violation.found;
  // The summary is HTML, not Markdown: entities hold there, backticks do not.
  return fmt::format("<details><summary><code>{}</code> case {}: <code>{}</code></summary>\n\n",
                     xml_text(plain_text(found.law)), found.number,
                     xml_text(plain_text(cut(found.problem, kMarkdownProblem)))) +
         markdown_block(render_violation_text(violation)) + "\n</details>\n\n";
}

std::string check_tables(const CheckReport& report) {
  std::string text = outcome_paragraph(report) + '\n';
  text += markdown_of(law_table(report, kMarkdownProblem)) + '\n';
  if (!report.distribution.empty()) text += markdown_code(report.distribution) + "\n\n";
  for (const std::string& line : report.ledger) text += markdown_code(line) + "\n\n";
  return text;
}

namespace {

/// Verdict, table, failures: the parts that a check and an accuracy report share.
std::string check_body(const CheckReport& report) {
  std::string text = check_tables(report);
  const std::size_t shown = std::min(report.violations.size(), kMaxViolationsShown);
  for (std::size_t i = 0; i < shown; ++i) text += violation_details(report.violations[i]);
  if (report.violations.size() > shown) {
    text += fmt::format("{} more\n\n", report.violations.size() - shown);
  }
  return text;
}

}  // namespace

std::string render_check_markdown(const CheckReport& report) {
  std::string text = fmt::format("# attest check {}\n\n", markdown_code(report.kernel));
  if (!report.declares.empty()) {
    text += fmt::format("declares {}\n\n", markdown_code(report.declares));
  }
  text += check_body(report);
  if (!report.environment.empty()) {
    text += "## Environment\n\n" + environment_table(report.environment);
  }
  return text;
}

std::string render_accuracy_markdown(const AccuracyReport& report) {
  std::string text =
      fmt::format("# Accuracy on real tensors\n\n{}\n{}\n\n{}\n",
                  markdown_of(summary_table(report)), kUlpNote, accuracy_totals(report));
  for (const std::string& tensor : tensor_names(report)) {
    text += fmt::format("\n## {}\n\n{}", markdown_code(tensor),
                        markdown_of(tensor_table(report, tensor, kMarkdownProblem)));
  }
  if (!report.environment.empty()) {
    text += "\n## Environment\n\n" + environment_table(report.environment);
  }
  if (!report.checks.empty()) text += "\n## Checks on generated cases\n";
  for (const CheckReport& check : report.checks) {
    text += fmt::format("\n### {}\n\n{}", markdown_code(check.kernel), check_body(check));
  }
  return text;
}

}  // namespace attest::reports
