#include "cli/selftest_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "cli/case_text.hpp"
#include "reports/numbers.hpp"
#include "reports/table.hpp"

namespace attest::cli {
namespace {

using selftest::BugResult;
using selftest::Matrix;

std::string_view family_of(const properties::Law& law) {
  return law.name.substr(0, law.name.find('.'));
}

/// In the order of the catalogue.
std::vector<std::string_view> families(std::span<const properties::Law> laws) {
  std::vector<std::string_view> found;
  for (const properties::Law& law : laws)
    if (std::find(found.begin(), found.end(), family_of(law)) == found.end())
      found.push_back(family_of(law));
  return found;
}

/// A column has the width of its title.
std::string_view short_title(std::string_view family) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kShort{
      {{"tiling", "tile"},
       {"storage", "store"},
       {"symmetry", "symm"},
       {"gradient", "grad"},
       {"assume", "assum"},
       {"contract", "call"}}};
  for (const auto& [name, title] : kShort)
    if (name == family) return title;
  return family;
}

std::string short_name(const Kernel& kernel) {
  const std::string& name = kernel.description().name;
  return name.substr(name.find(':') + 1);
}

/// x: some law of the family killed the bug; '.': none did; ' ': none was asked.
char mark(const BugResult& row, std::span<const properties::Law> laws, std::string_view family) {
  bool asked = false;
  for (std::size_t i = 0; i < laws.size(); ++i) {
    if (family_of(laws[i]) != family || row.cells[i].cases == 0) continue;
    if (row.cells[i].killed) return 'x';
    asked = true;
  }
  return asked ? '.' : ' ';
}

std::string size_text(const BugResult& row) {
  if (!row.counterexample) return "-";
  if (!has_size(*row.counterexample)) return "table";
  const selftest::CaseSize size = selftest::size_of(row.counterexample->shrunk.smallest);
  return fmt::format("{}x{}x{}{}", size.keys, size.queries, size.head_dim,
                     row.counterexample->shrunk.finished ? "" : "+");
}

const selftest::Cell* named_cell(const BugResult& row, std::span<const properties::Law> laws) {
  for (std::size_t i = 0; i < row.cells.size(); ++i)
    if (laws[i].name == row.bug.law) return &row.cells[i];
  return nullptr;
}

std::string row_text(const BugResult& row, const Matrix& matrix, std::size_t width) {
  std::string text = fmt::format("{:<{}}", short_name(*row.bug.kernel), width);
  for (const std::string_view family : families(matrix.laws))
    text += fmt::format(" {:^{}}", mark(row, matrix.laws, family), short_title(family).size());
  const selftest::Cell* const cell = named_cell(row, matrix.laws);
  text += fmt::format(" | {:<3}  {:<30} {:>5}  {}", row.is_caught() ? "yes" : "NO", row.bug.law,
                      cell != nullptr && cell->killed ? std::to_string(cell->cases) : "-",
                      size_text(row));
  return text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
}

std::string names_text(const Matrix& matrix, const std::vector<std::size_t>& bugs) {
  std::string text;
  for (const std::size_t bug : bugs)
    text += (text.empty() ? "" : ", ") + short_name(*matrix.bugs[bug].bug.kernel);
  return text;
}

std::string alarm_text(const selftest::Alarm& alarm, const Kernel& kernel) {
  return fmt::format("ACCUSED   {} by {}: {}\n  {}\n", kernel.description().name, alarm.law->name,
                     alarm.verdict.reason,
                     replay_command_line(kernel, alarm.value, alarm.law->name, {}));
}

}  // namespace

std::string matrix_text(const Matrix& matrix) {
  std::size_t width = std::string_view("planted bug").size();
  for (const BugResult& row : matrix.bugs)
    width = std::max(width, short_name(*row.bug.kernel).size());
  std::string text = fmt::format("{:<{}}", "planted bug", width);
  for (const std::string_view family : families(matrix.laws))
    text += fmt::format(" {}", short_title(family));
  text += " | caught by its law                 cases  smallest (keys x queries x head_dim)\n";
  for (const BugResult& row : matrix.bugs) text += row_text(row, matrix, width);
  return text;
}

std::string complaints_text(const SelftestReport& report) {
  const Matrix& matrix = report.matrix;
  std::string text;
  for (const std::size_t i : report.summary.survivors) {
    const BugResult& row = matrix.bugs[i];
    text += fmt::format("SURVIVED  {}: {}; its law is {}\n", row.bug.kernel->description().name,
                        row.bug.kernel->description().summary, row.bug.law);
  }
  for (const std::size_t i : report.summary.missed) {
    const BugResult& row = matrix.bugs[i];
    text +=
        fmt::format("MISSED    {} by {}, which must kill it; {} does\n",
                    row.bug.kernel->description().name, row.bug.law, row.counterexample->law->name);
  }
  for (const properties::Law* law : report.summary.idle)
    text += fmt::format("IDLE      {} kills no planted bug\n", law->name);
  for (const std::size_t i : report.summary.accused)
    for (const selftest::Alarm& alarm : matrix.correct[i].alarms)
      text += alarm_text(alarm, *matrix.correct[i].kernel);
  return text;
}

std::string laws_text(const SelftestReport& report) {
  reports::Table table;
  using enum reports::Column::Kind;
  table.columns = {{"law", text}, {"kills", number}, {"named by", number}, {"only it kills", text}};
  for (const selftest::LawPower& law : report.summary.laws)
    table.rows.push_back({std::string(law.law->name), std::to_string(law.kills.size()),
                          std::to_string(law.named.size()), names_text(report.matrix, law.only)});
  return text_of(table);
}

std::string summary_text(const SelftestReport& report) {
  const Matrix& matrix = report.matrix;
  const selftest::Summary& summary = report.summary;
  const auto size = [](const selftest::CaseSize& of) {
    return fmt::format("{} x {} x {}", of.keys, of.queries, of.head_dim);
  };
  std::string text =
      fmt::format("{} of {} caught; ", summary.caught,
                  reports::count_text(static_cast<std::int64_t>(matrix.bugs.size()), "bug"));
  Index judged = 0;
  for (const selftest::CorrectResult& row : matrix.correct) judged += row.judged;
  text += fmt::format(
      "{} of {} raised {} on {} judged cases; ",
      summary.accused.empty() ? matrix.correct.size() : summary.accused.size(),
      reports::count_text(static_cast<std::int64_t>(matrix.correct.size()), "correct kernel"),
      summary.accused.empty() ? "no alarm" : "an alarm", judged);
  const auto busy = std::count_if(summary.laws.begin(), summary.laws.end(),
                                  [](const auto& law) { return !law.kills.empty(); });
  text += fmt::format("{} of {} laws kill a bug; ", busy, summary.laws.size());
  text += fmt::format("smallest counterexamples: median {}, largest {} (keys x queries x head_dim)",
                      size(summary.median), size(summary.largest));
  return text;
}

std::string alarms_text(const std::vector<selftest::CorrectResult>& results) {
  struct Counts {
    Index runs = 0, cases = 0, judged = 0, alarms = 0;
  };
  std::vector<std::pair<const Kernel*, Counts>> kernels;
  std::string accusations;
  for (const selftest::CorrectResult& result : results) {
    if (result.kernel == nullptr) continue;  // interrupted
    auto at = std::find_if(kernels.begin(), kernels.end(),
                           [&](const auto& entry) { return entry.first == result.kernel; });
    if (at == kernels.end()) at = kernels.insert(at, {result.kernel, {}});
    ++at->second.runs;
    at->second.cases += result.cases;
    at->second.judged += result.judged;
    at->second.alarms += static_cast<Index>(result.alarms.size());
    for (const selftest::Alarm& alarm : result.alarms)
      accusations += alarm_text(alarm, *result.kernel);
  }
  reports::Table table;
  using enum reports::Column::Kind;
  table.columns = {{"correct kernel", text},
                   {"runs", number},
                   {"cases", number},
                   {"judged", number},
                   {"alarms", number}};
  for (const auto& [kernel, counts] : kernels)
    table.rows.push_back({kernel->description().name, std::to_string(counts.runs),
                          std::to_string(counts.cases), std::to_string(counts.judged),
                          std::to_string(counts.alarms)});
  return text_of(table) + accusations;
}

}  // namespace attest::cli
