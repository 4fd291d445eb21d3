#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "reports/compare.hpp"
#include "reports/escape.hpp"
#include "reports/numbers.hpp"
#include "reports/table.hpp"

namespace attest::reports {
namespace {

using Kind = Column::Kind;

constexpr std::size_t kMaxFailures = 10;

std::string change_text(double growth) {
  if (growth == 1) return "=";
  if (!std::isfinite(growth)) return "new";
  return fmt::format("{:+.{}f} %", 100 * (growth - 1), std::abs(growth - 1) < 0.1 ? 1 : 0);
}

bool changed(const Compared& pair) {
  return pair.in_old != pair.in_new || pair.growth() != 1 ||
         pair.old_violations != pair.new_violations;
}

std::string side_text(bool there, double ratio) {
  return !there ? "not checked" : ratio == 0 ? "-" : ratio_text(ratio);
}

std::string law_rows(const RunComparison& comparison) {
  Table table;
  table.columns = {{"kernel", Kind::text},         {"property", Kind::text},
                   {"old err/bound", Kind::ratio}, {"new", Kind::ratio},
                   {"change", Kind::number},       {"old fail", Kind::number},
                   {"new fail", Kind::number}};
  std::int64_t same = 0;
  for (const Compared& pair : comparison.laws) {
    if (!changed(pair)) {
      ++same;
      continue;
    }
    table.rows.push_back({pair.kernel, pair.name, side_text(pair.in_old, pair.old_ratio),
                          side_text(pair.in_new, pair.new_ratio),
                          pair.in_old && pair.in_new ? change_text(pair.growth()) : "",
                          fmt::format("{}", pair.old_violations),
                          fmt::format("{}", pair.new_violations)});
  }
  std::string text = table.rows.empty() ? "" : text_of(table);
  return text + fmt::format("{} of {} properties have the same worst err/bound and failures\n",
                            same, comparison.laws.size());
}

std::string rms_rows(const RunComparison& comparison) {
  if (comparison.rms.empty()) return "rms error: not measured in both runs\n";
  Table table;
  table.columns = {{"kernel", Kind::text},        {"dtype", Kind::text}, {"tensor", Kind::text},
                   {"old rms, ulp", Kind::ratio}, {"new", Kind::ratio},  {"change", Kind::number}};
  for (const ComparedRms& pair : comparison.rms)
    if (pair.growth() != 1)
      table.rows.push_back({pair.kernel, pair.dtype, pair.tensor, ratio_text(pair.old_rms),
                            ratio_text(pair.new_rms), change_text(pair.growth())});
  return table.rows.empty() ? "rms error: the same\n" : '\n' + text_of(table);
}

std::string power_text(double power) {
  return std::isnan(power) ? "not measured" : fmt::format("{:.2f} %", 100 * power);
}

std::string case_text(std::string_view what, const Compared& pair) {
  std::string text = fmt::format("{}  {} {}  {}\n", what, plain_text(pair.kernel),
                                 plain_text(pair.name), cut(plain_text(pair.problem), 300));
  if (!pair.replay.empty()) text += fmt::format("  replay   {}\n", plain_text(pair.replay));
  return text;
}

/// The case that grew most, and every law that fails now and did not before.
std::string new_worst(const RunComparison& comparison) {
  std::string text;
  std::size_t shown = 0;
  for (const Compared& pair : comparison.laws)
    if (pair.newly_fails() && ++shown <= kMaxFailures) text += case_text("new failure", pair);
  if (shown > kMaxFailures) text += fmt::format("{} more\n", shown - kMaxFailures);
  const auto worst = std::max_element(comparison.laws.begin(), comparison.laws.end(),
                                      [](const Compared& a, const Compared& b) {
                                        const auto rank = [](const Compared& pair) {
                                          return pair.in_old && pair.in_new ? pair.growth() : 0;
                                        };
                                        return rank(a) < rank(b);
                                      });
  if (worst != comparison.laws.end() && worst->in_old && worst->in_new && worst->growth() > 1)
    text += case_text("new worst", *worst);
  return text;
}

}  // namespace

std::string render_comparison(const RunComparison& comparison) {
  std::string text;
  for (const std::string& note : comparison.notes)
    text += fmt::format("note {}\n", plain_text(note));
  text += law_rows(comparison) + rms_rows(comparison);
  text += fmt::format("power of the checks: old {}, new {}\n", power_text(comparison.old_power),
                      power_text(comparison.new_power));
  return text + new_worst(comparison);
}

std::string render_gate(const GateResult& result) {
  if (!result.asked) return {};
  std::string text = result.passed ? "GATE PASSED" : "GATE FAILED";
  for (std::size_t i = 0; i < result.reasons.size(); ++i)
    text += (i == 0 ? "  " : "; ") + plain_text(result.reasons[i]);
  return text + '\n';
}

}  // namespace attest::reports
