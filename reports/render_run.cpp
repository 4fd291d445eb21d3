#include "reports/render_run.hpp"

#include <array>
#include <utility>

#include "reports/escape.hpp"
#include "reports/measured_tables.hpp"
#include "reports/page_data.hpp"
#include "reports/render_page.hpp"
#include "reports/run_lines.hpp"

namespace attest::reports {
namespace {

constexpr std::array kNames{std::pair{std::string_view("text"), RunFormat::text},
                            std::pair{std::string_view("md"), RunFormat::markdown},
                            std::pair{std::string_view("accuracy"), RunFormat::accuracy},
                            std::pair{std::string_view("json"), RunFormat::json},
                            std::pair{std::string_view("jsonl"), RunFormat::jsonl},
                            std::pair{std::string_view("junit"), RunFormat::junit},
                            std::pair{std::string_view("sarif"), RunFormat::sarif},
                            std::pair{std::string_view("csv"), RunFormat::csv},
                            std::pair{std::string_view("html"), RunFormat::html}};

constexpr std::array kEndings{std::pair{std::string_view(".txt"), RunFormat::text},
                              std::pair{std::string_view("accuracy.md"), RunFormat::accuracy},
                              std::pair{std::string_view(".md"), RunFormat::markdown},
                              std::pair{std::string_view(".sarif.json"), RunFormat::sarif},
                              std::pair{std::string_view(".json"), RunFormat::json},
                              std::pair{std::string_view(".jsonl"), RunFormat::jsonl},
                              std::pair{std::string_view(".xml"), RunFormat::junit},
                              std::pair{std::string_view(".sarif"), RunFormat::sarif},
                              std::pair{std::string_view(".csv"), RunFormat::csv},
                              std::pair{std::string_view(".html"), RunFormat::html}};

std::string sampled_csv(const Run& run) {
  std::string text = csv_header();
  for (const CaseResult* const result : run.cases.by_importance()) text += csv_row(*result);
  return text;
}

}  // namespace

std::optional<RunFormat> format_of_name(std::string_view name) {
  for (const auto& [known, format] : kNames)
    if (name == known) return format;
  return {};
}

std::optional<RunFormat> format_of_file(std::string_view file) {
  for (const auto& [ending, format] : kEndings)
    if (file.ends_with(ending)) return format;
  return {};
}

std::string render_run_text(const RunHistory& history) {
  const Run& run = history.latest;
  std::string text;
  for (const CheckReport& check : run.checks) {
    for (const Violation& violation : check.violations)
      text += render_violation_text(violation) + '\n';
    if (run.accuracy.empty()) text += render_check_text(check);
  }
  if (!run.accuracy.empty()) text += render_accuracy_text(accuracy_report(run));
  for (const SweepReport& sweep : run.sweeps) text += text_of(sweep_table(sweep));
  if (history.points.size() > points_of(run).size())
    text += '\n' + text_of(history_table(history.points));
  if (run.checks.size() != 1 || !run.accuracy.empty())
    text += plain_text(run_outcome_line(run)) + '\n';
  return text;
}

std::string render_run_html(const RunHistory& history) {
  return render_report_page(page_json(history));
}

std::string render_run(RunFormat format, const RunHistory& history) {
  switch (format) {
    case RunFormat::text:
      return render_run_text(history);
    case RunFormat::markdown:
      return render_run_markdown(history);
    case RunFormat::accuracy:
      return render_accuracy_table(history);
    case RunFormat::json:
      return page_json(history) + '\n';
    case RunFormat::jsonl:
      return condensed_lines(history.latest);
    case RunFormat::junit:
      return render_run_junit(history);
    case RunFormat::sarif:
      return render_run_sarif(history);
    case RunFormat::csv:
      return sampled_csv(history.latest);
    case RunFormat::html:
      return render_run_html(history);
  }
  return {};
}

}  // namespace attest::reports
