// What a person reads at the terminal: one table, one line.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "reports/escape.hpp"
#include "reports/measured_lines.hpp"
#include "reports/numbers.hpp"
#include "reports/report.hpp"
#include "reports/report_tables.hpp"

namespace attest::reports {
namespace {

/// The table stays within about 130 columns; the whole text is in the files.
constexpr std::size_t kProblemWidth = 60;
constexpr std::size_t kTextWidth = 110;
/// A few outputs of correct kernels are beyond the probable error, where roundings are not
/// independent (ties, equal values): about one in ten thousand.
constexpr double kWarningShare = 1e-3;

/// Breaks at " | " so that no line is longer than kTextWidth, if the parts allow it.
std::string wrapped(const std::string& text) {
  constexpr std::string_view separator = " | ";
  std::string lines;
  std::size_t width = 0;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    const bool fits = width + separator.size() + part.size() <= kTextWidth;
    if (width > 0) lines += fits ? std::string(separator) : "\n";
    width = width > 0 && fits ? width + separator.size() + part.size() : part.size();
    lines += part;
    begin = end + separator.size();
  }
  return lines;
}

std::string last_line(const CheckReport& report) {
  return fmt::format("{}  {}\n", outcome_word(report), plain_text(outcome_details(report)));
}

}  // namespace

std::string render_check_text(const CheckReport& report) {
  std::string text = text_of(law_table(report, kProblemWidth)) + '\n';
  if (!report.rule.empty())
    text += fmt::format("override: bound.out and bound.lse compare by {}, not by the bound\n",
                        plain_text(report.rule));
  if (!report.distribution.empty()) text += wrapped(plain_text(report.distribution)) + '\n';
  for (const LawRow& row : report.laws)
    if (row.violations == 0 &&
        static_cast<double>(row.beyond_probable) > kWarningShare * static_cast<double>(row.values))
      text += fmt::format(
          "note {}: {} of {} beyond the probable error (6 sigma), within the bound: a warning\n",
          plain_text(row.law), row.beyond_probable, count_text(row.values, "value"));
  text += bits_line(report.measured.bit_equality) + power_line(report.measured.power);
  if (!report.rule.empty()) text += accepted_lines(report.measured.power);
  for (const std::string& line : report.ledger) text += plain_text(line) + '\n';
  return text + last_line(report);
}

std::string render_accuracy_text(const AccuracyReport& report) {
  std::string text = text_of(summary_table(report));
  text += fmt::format("{}\n\n", kUlpNote);
  for (const CheckReport& check : report.checks) {
    text += fmt::format("check {}  {}", plain_text(check.kernel), last_line(check));
    for (const std::string& line : check.ledger) text += "  " + plain_text(line) + '\n';
  }
  if (!report.oracle.empty()) text += plain_text(report.oracle) + '\n';
  return text + accuracy_totals(report) + '\n';
}

}  // namespace attest::reports
