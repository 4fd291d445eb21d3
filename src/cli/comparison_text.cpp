#include <fmt/core.h>

#include "cli/selftest_text.hpp"

namespace attest::cli {
namespace {

using selftest::Caught;
using selftest::Comparison;
using selftest::ComparisonRow;

/// The columns: every rule, then the laws.
std::size_t columns() {
  return selftest::rules().size() + 1;
}

bool is_caught(const Caught& caught, std::size_t column) {
  return column < caught.by_rule.size() ? caught.by_rule[column] : caught.by_laws;
}

std::string heading(std::string_view first) {
  std::string titles = fmt::format("| {} |", first);
  std::string line = "|---|";
  for (const selftest::Rule& rule : selftest::rules()) {
    titles += fmt::format(" {} |", rule.name);
    line += "---|";
  }
  return titles + " laws of attest |\n" + line + "---|\n";
}

/// How many rows are caught on some inputs.
std::string totals(std::string_view title, const std::vector<ComparisonRow>& rows,
                   Caught ComparisonRow::*inputs) {
  std::string text = fmt::format("| {} |", title);
  for (std::size_t column = 0; column < columns(); ++column) {
    std::size_t count = 0;
    for (const ComparisonRow& row : rows) count += is_caught(row.*inputs, column) ? 1 : 0;
    text += fmt::format(" {} |", count);
  }
  return text + "\n";
}

std::string row_text(const ComparisonRow& row) {
  const std::string& name = row.kernel->description().name;
  std::string text = fmt::format("| {} |", name.substr(name.find(':') + 1));
  for (std::size_t column = 0; column < columns(); ++column) {
    const bool normal = is_caught(row.normal, column);
    const bool families = is_caught(row.families, column);
    text += fmt::format(" {} |", normal && families ? "n f" : normal ? "n" : families ? "f" : "");
  }
  return text + "\n";
}

}  // namespace

std::string comparison_text(const Comparison& comparison) {
  std::string text = heading(fmt::format("of {} planted bugs, caught", comparison.bugs.size()));
  text += totals("on normal inputs", comparison.bugs, &ComparisonRow::normal);
  text += totals("on our families", comparison.bugs, &ComparisonRow::families);
  if (!comparison.correct.empty()) {
    text +=
        "\n" + heading(fmt::format("of {} correct kernels, accused", comparison.correct.size()));
    text += totals("on normal inputs", comparison.correct, &ComparisonRow::normal);
    text += totals("on our families", comparison.correct, &ComparisonRow::families);
  }
  text += "\n| rule | accepts if | source |\n|---|---|---|\n";
  for (const selftest::Rule& rule : selftest::rules()) {
    std::string formula(rule.formula);
    for (std::size_t at = 0; (at = formula.find('|', at)) != std::string::npos; at += 2)
      formula.insert(at, 1, '\\');
    text += fmt::format("| {} | {} | {} |\n", rule.name, formula, rule.source);
  }
  text += "\n" + heading("planted bug");
  for (const ComparisonRow& row : comparison.bugs) text += row_text(row);
  return text;
}

}  // namespace attest::cli
