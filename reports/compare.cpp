#include "reports/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "reports/numbers.hpp"

namespace attest::reports {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

using Key = std::pair<std::string, std::string>;  ///< kernel, name

/// One side of a comparison.
struct Side {
  double ratio = 0;
  std::int64_t violations = 0;
  std::string problem;
  std::string replay;
};

double growth_of(double before, double after) {
  if (std::isnan(after)) return kInfinity;
  if (after == 0 || after == before) return after == before ? 1 : 0;
  return before == 0 ? kInfinity : std::isnan(before) ? 1 : after / before;
}

/// The case behind a law's worst ratio, or its first violation.
void name_case(Side& side, const CheckReport& check, const LawRow& row) {
  side.problem = row.worst_problem;
  side.replay = row.worst_replay;
  for (const Violation& violation : check.violations) {
    if (violation.found.law != row.law) continue;
    const CaseResult& smallest = violation.shrunk.law.empty() ? violation.found : violation.shrunk;
    side.problem = smallest.problem;
    side.replay = smallest.replay.empty() ? violation.found.replay : smallest.replay;
    return;
  }
}

std::map<Key, Side> sides_of(const Run& run) {
  std::map<Key, Side> sides;
  for (const CheckReport& check : run.checks)
    for (const LawRow& row : check.laws) {
      if (row.cases == row.skipped) continue;  // nothing was checked
      Side& side = sides[{check.kernel, row.law}];
      side.ratio = row.worst_ratio;
      side.violations += row.violations;
      name_case(side, check, row);
    }
  for (const AccuracyRow& row : run.accuracy) {
    Side& side = sides[{row.kernel, fmt::format("{} ({})", row.tensor, row.dtype)}];
    const double ratio = is_worse_ratio(row.worst_lse_ratio, row.worst_ratio) ? row.worst_lse_ratio
                                                                              : row.worst_ratio;
    side.violations += row.violations;
    if (!side.problem.empty() && !is_worse_ratio(ratio, side.ratio)) continue;
    side.ratio = ratio;
    side.problem = row.problem;
    side.replay = row.replay;
  }
  return sides;
}

std::vector<Compared> pairs_of(const std::map<Key, Side>& before,
                               const std::map<Key, Side>& after) {
  std::map<Key, Compared> pairs;
  for (const auto& [key, side] : before) {
    Compared& pair = pairs[key];
    pair.in_old = true;
    pair.old_ratio = side.ratio;
    pair.old_violations = side.violations;
  }
  for (const auto& [key, side] : after) {
    Compared& pair = pairs[key];
    pair.in_new = true;
    pair.new_ratio = side.ratio;
    pair.new_violations = side.violations;
    pair.problem = side.problem;
    pair.replay = side.replay;
  }
  std::vector<Compared> compared;
  for (auto& [key, pair] : pairs) {
    std::tie(pair.kernel, pair.name) = key;
    compared.push_back(std::move(pair));
  }
  return compared;
}

std::vector<ComparedRms> rms_of(const Measurements& before, const Measurements& after) {
  std::vector<ComparedRms> compared;
  for (const StatisticsRow& one : before.statistics)
    for (const StatisticsRow& other : after.statistics)
      if (one.kernel == other.kernel && one.dtype == other.dtype && one.tensor == other.tensor &&
          one.errors.measured() > 0 && other.errors.measured() > 0)
        compared.push_back(
            {one.kernel, one.dtype, one.tensor, one.errors.rms(), other.errors.rms()});
  return compared;
}

double power_of(const Measurements& measured) {
  std::int64_t trials = 0;
  std::int64_t accepted = 0;
  for (const PowerCount& row : measured.power) {
    trials += row.trials;
    accepted += row.accepted;
  }
  return trials == 0 ? kNan : static_cast<double>(trials - accepted) / static_cast<double>(trials);
}

void note_difference(std::vector<std::string>& notes, std::string_view what,
                     const std::string& before, const std::string& after) {
  if (before != after) notes.push_back(fmt::format("{}: old {}, new {}", what, before, after));
}

void add_obstacle(std::vector<std::string>& obstacles, std::string_view which, const Run& run) {
  const std::string reason = !run.unfinished.empty() ? run.unfinished
                             : run.interrupted       ? "interrupted before every case was run"
                                                     : std::string();
  if (!reason.empty()) obstacles.push_back(fmt::format("the {} run is {}", which, reason));
}

/// Only where both runs have something of it.
void compute_values(RunComparison& comparison) {
  std::map<Quantity, double>& values = comparison.values;
  double gone = 0;
  double fail = 0;
  double new_fail = 0;
  for (const Compared& pair : comparison.laws) {
    gone += pair.in_old && !pair.in_new ? 1 : 0;
    fail += pair.new_violations > 0 ? 1 : 0;
    new_fail += pair.newly_fails() ? 1 : 0;
    if (pair.in_new) {
      const double worst = std::isnan(pair.new_ratio) ? kInfinity : pair.new_ratio;
      values[Quantity::worst] = std::max(values[Quantity::worst], worst);
    }
    if (pair.in_old && pair.in_new)
      values[Quantity::ratio] = std::max(values[Quantity::ratio], pair.growth());
  }
  values[Quantity::gone] = gone;
  values[Quantity::fail] = fail;
  values[Quantity::new_fail] = new_fail;
  for (const ComparedRms& pair : comparison.rms)
    values[Quantity::rms] = std::max(values[Quantity::rms], pair.growth());
  if (!std::isnan(comparison.new_power)) values[Quantity::power] = comparison.new_power;
}

std::string names_of(const Run& run) {
  std::string names;
  for (const KernelEntry& kernel : run.header.kernels)
    names += (names.empty() ? "" : ", ") + kernel.name;
  return names;
}

bool share_a_kernel(const Run& a, const Run& b) {
  return std::any_of(a.header.kernels.begin(), a.header.kernels.end(), [&](const auto& one) {
    return std::any_of(b.header.kernels.begin(), b.header.kernels.end(),
                       [&](const auto& other) { return one.name == other.name; });
  });
}

/// The same sides under another kernel's name.
std::map<Key, Side> renamed(const std::map<Key, Side>& sides, const std::string& kernel) {
  std::map<Key, Side> result;
  for (const auto& [key, side] : sides) result[{kernel, key.second}] = side;
  return result;
}

}  // namespace

double Compared::growth() const {
  return growth_of(old_ratio, new_ratio);
}

double ComparedRms::growth() const {
  return growth_of(old_rms, new_rms);
}

Result<RunComparison> compare_runs(const Run& old_run, const Run& new_run,
                                   bool allow_other_kernel) {
  std::map<Key, Side> before = sides_of(old_run);
  Measurements measured = all_measured(old_run);
  if (!share_a_kernel(old_run, new_run)) {
    if (!allow_other_kernel)
      return invalid_argument(
          fmt::format("the runs are of different kernels, {} and {}; --allow-other-kernel compares "
                      "them all the same",
                      names_of(old_run), names_of(new_run)));
    if (old_run.header.kernels.size() != 1 || new_run.header.kernels.size() != 1)
      return invalid_argument("--allow-other-kernel compares one kernel with one");
    const std::string& name = new_run.header.kernels.front().name;
    before = renamed(before, name);
    for (StatisticsRow& row : measured.statistics) row.kernel = name;
  }
  RunComparison comparison;
  const Measurements new_measured = all_measured(new_run);
  comparison.laws = pairs_of(before, sides_of(new_run));
  comparison.rms = rms_of(measured, new_measured);
  comparison.old_power = power_of(measured);
  comparison.new_power = power_of(new_measured);
  note_difference(comparison.notes, "kernel", names_of(old_run), names_of(new_run));
  note_difference(comparison.notes, "seed", seed_text(old_run.header.seed),
                  seed_text(new_run.header.seed));
  note_difference(comparison.notes, "tier", old_run.header.tier, new_run.header.tier);
  add_obstacle(comparison.obstacles, "old", old_run);
  add_obstacle(comparison.obstacles, "new", new_run);
  if (std::none_of(comparison.laws.begin(), comparison.laws.end(),
                   [](const Compared& pair) { return pair.in_old && pair.in_new; }))
    comparison.obstacles.emplace_back("the runs checked nothing in common");
  compute_values(comparison);
  return comparison;
}

GateResult judge(const Gate& gate, const RunComparison& comparison) {
  GateResult result;
  result.asked = !gate.conditions.empty();
  if (!result.asked) return result;
  std::vector<std::string> held;
  result.reasons = comparison.obstacles;
  for (const Condition& condition : gate.conditions) {
    const auto value = comparison.values.find(condition.quantity);
    if (value == comparison.values.end())
      result.reasons.push_back(
          fmt::format("{}: both runs must have measured it", to_string(condition.quantity)));
    else if (!holds(condition, value->second))
      result.reasons.push_back(fmt::format("{} {}, not {}", to_string(condition.quantity),
                                           ratio_text(value->second), condition.text));
    else
      held.push_back(
          fmt::format("{} {}", to_string(condition.quantity), ratio_text(value->second)));
  }
  result.passed = result.reasons.empty();
  if (result.passed) result.reasons = held;
  return result;
}

}  // namespace attest::reports
