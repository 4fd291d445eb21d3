// The one decision of this room: which word a run earns.
#include <fmt/format.h>

#include <algorithm>

#include "reports/report.hpp"

namespace attest::reports {
namespace {

std::int64_t checked_cases(const LawRow& row) {
  return row.cases - row.skipped;
}

/// Exactly the allowed share is still allowed: 0.2 is not below one fifth in binary, so the product
/// never rounds to less than the whole number that it stands for.
bool exceeds_share(const LawRow& row) {
  return static_cast<double>(row.weak + row.unproven) >
         kMaxUndecidedShare * static_cast<double>(checked_cases(row));
}

bool any_violation(const CheckReport& report) {
  return !report.violations.empty() ||
         std::any_of(report.laws.begin(), report.laws.end(),
                     [](const LawRow& row) { return row.violations > 0; });
}

std::string share_reason(const LawRow& row) {
  return fmt::format("{}: {} of {} cases weak or unproven, more than {:.0f} %", row.law,
                     row.weak + row.unproven, checked_cases(row), 100 * kMaxUndecidedShare);
}

}  // namespace

std::string undecided_reason(const LawRow& row) {
  if (row.violations > 0) return {};
  if (checked_cases(row) == 0) return "nothing was checked";
  return exceeds_share(row) ? share_reason(row) : std::string();
}

std::string undecided_reason(const CheckReport& report) {
  if (any_violation(report)) return {};
  if (!report.unfinished.empty()) return report.unfinished;
  if (report.interrupted) return "interrupted before every case was run";
  if (std::all_of(report.laws.begin(), report.laws.end(),
                  [](const LawRow& row) { return checked_cases(row) == 0; })) {
    return "nothing was checked";
  }
  const auto first = std::find_if(report.laws.begin(), report.laws.end(), exceeds_share);
  if (first == report.laws.end()) return {};
  const auto others = std::count_if(first + 1, report.laws.end(), exceeds_share);
  std::string reason = share_reason(*first);
  if (others > 0) reason += fmt::format(" (and {} more {})", others, others == 1 ? "law" : "laws");
  return reason;
}

RunOutcome run_outcome(const CheckReport& report) {
  if (any_violation(report)) return RunOutcome::violated;
  return undecided_reason(report).empty() ? RunOutcome::passed : RunOutcome::undecided;
}

}  // namespace attest::reports
