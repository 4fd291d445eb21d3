#include "cli/acceptance.hpp"

#include <algorithm>
#include <cmath>

namespace attest::cli {
namespace {

/// Between a factor that is accepted and one that is not: the boundary to three digits.
double bisect_scale(const Rule& rule, const properties::ScoreParts& parts, double accepted,
                    double refused) {
  for (int step = 0; step < 12; ++step) {
    const double middle = (accepted + refused) / 2;
    const auto output = properties::output_with_scale_times(parts, rule.facts, 1 + middle);
    (rule.accepts_all(output) ? accepted : refused) = middle;
  }
  return accepted;
}

}  // namespace

bool Rule::accepts(std::size_t column, double output) const {
  if (certified) return facts.output[column].distance_lower(output) <= bound.output[column];
  const double want = facts.output[column].high;
  return std::abs(output - want) <= tolerance.atol + tolerance.rtol * std::abs(want);
}

bool Rule::accepts_all(const std::vector<double>& output) const {
  for (std::size_t c = 0; c < output.size(); ++c)
    if (!accepts(c, output[c])) return false;
  return true;
}

void count(Acceptance& into, const Rule& rule, const std::vector<double>& output) {
  for (std::size_t c = 0; c < output.size(); ++c) {
    const bool accepted = rule.accepts(c, output[c]);
    const bool different = properties::differs(rule.facts, c, output[c]);
    ++into.elements;
    into.accepted += accepted ? 1 : 0;
    into.different += different ? 1 : 0;
    into.accepted_different += accepted && different ? 1 : 0;
  }
}

std::vector<double> scale_errors(const std::vector<Rule>& rules,
                                 const properties::ScoreParts& parts) {
  constexpr double kSmallest = 0x1p-44;
  std::vector<double> found(rules.size(), kScaleNever);
  std::vector<bool> open(rules.size(), true);
  for (double x = kSmallest; x <= kScaleNever; x *= 2) {
    if (std::find(open.begin(), open.end(), true) == open.end()) break;
    const auto output = properties::output_with_scale_times(parts, rules.front().facts, 1 + x);
    for (std::size_t r = 0; r < rules.size(); ++r) {
      if (!open[r] || rules[r].accepts_all(output)) continue;
      open[r] = false;
      found[r] = x == kSmallest ? 0 : bisect_scale(rules[r], parts, x / 2, x);
    }
  }
  return found;
}

}  // namespace attest::cli
