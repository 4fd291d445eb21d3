// What a person reads at the terminal: one table, one line.
#include <fmt/format.h>

#include <string>

#include "reports/escape.hpp"
#include "reports/report.hpp"
#include "reports/report_tables.hpp"

namespace attest::reports {
namespace {

/// The table stays within about 130 columns; the whole text is in the files.
constexpr std::size_t kProblemWidth = 60;

std::string last_line(const CheckReport& report) {
  return fmt::format("{}  {}\n", outcome_word(report), plain_text(outcome_details(report)));
}

}  // namespace

std::string render_check_text(const CheckReport& report) {
  std::string text = text_of(law_table(report, kProblemWidth)) + '\n';
  if (!report.distribution.empty()) text += plain_text(report.distribution) + '\n';
  return text + last_line(report);
}

std::string render_accuracy_text(const AccuracyReport& report) {
  std::string text = text_of(summary_table(report));
  text += fmt::format("{}\n\n", kUlpNote);
  for (const CheckReport& check : report.checks) {
    text += fmt::format("check {}  {}", plain_text(check.kernel), last_line(check));
  }
  return text + accuracy_totals(report) + '\n';
}

}  // namespace attest::reports
