#include "reports/run_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace attest::reports {
namespace {

std::string commit_of(const Environment& environment) {
  for (const auto& [name, value] : environment)
    if (name == "commit") return value;
  return {};
}

template <class Row, class Same>
Row* find_row(std::vector<Row>& rows, Same&& same) {
  const auto found = std::find_if(rows.begin(), rows.end(), same);
  return found == rows.end() ? nullptr : &*found;
}

void add_row(std::vector<StatisticsRow>& into, const StatisticsRow& row) {
  StatisticsRow* const known = find_row(into, [&](const StatisticsRow& one) {
    return one.kernel == row.kernel && one.dtype == row.dtype && one.tensor == row.tensor;
  });
  if (known != nullptr)
    known->errors.add(row.errors);
  else
    into.push_back(row);
}

void add_row(std::vector<BitEquality>& into, const BitEquality& row) {
  BitEquality* const known = find_row(into, [&](const BitEquality& one) {
    return one.kernel == row.kernel && one.dtype == row.dtype && one.kind == row.kind;
  });
  if (known == nullptr) return into.push_back(row);
  known->equal += row.equal;
  known->differ += row.differ;
  known->required = known->required || row.required;
  if (known->equal + known->differ > 0) known->reason.clear();
}

void add_row(std::vector<PowerCount>& into, const PowerCount& row) {
  PowerCount* const known = find_row(into, [&](const PowerCount& one) {
    return one.stand_in == row.stand_in && one.law == row.law;
  });
  if (known == nullptr) return into.push_back(row);
  known->trials += row.trials;
  known->accepted += row.accepted;
}

double worst_of(const HeatMap& heat) {
  double worst = 0;
  for (const double ratio : heat.ratio)
    if (!std::isnan(ratio)) worst = std::max(worst, ratio);
  return worst;
}

RunPoint& point_of(std::vector<RunPoint>& points, const Run& run, const std::string& kernel) {
  if (RunPoint* const known =
          find_row(points, [&](const RunPoint& point) { return point.kernel == kernel; }))
    return *known;
  RunPoint& fresh = points.emplace_back();
  fresh.started = run.header.started;
  fresh.kernel = kernel;
  fresh.git = commit_of(run.header.environment);
  fresh.rms_ulp = std::numeric_limits<double>::quiet_NaN();
  return fresh;
}

void keep_worse(double& kept, double candidate) {
  if (is_worse_ratio(candidate, kept)) kept = candidate;
}

}  // namespace

RunOutcome run_outcome(const Run& run) {
  const bool wrong_on_tensors = std::any_of(run.accuracy.begin(), run.accuracy.end(),
                                            [](const auto& row) { return row.violations > 0; });
  const bool breaks_a_law = std::any_of(
      run.checks.begin(), run.checks.end(),
      [](const CheckReport& check) { return run_outcome(check) == RunOutcome::violated; });
  const bool wrong_in_sweep =
      std::any_of(run.sweeps.begin(), run.sweeps.end(), [](const SweepReport& sweep) {
        return std::any_of(sweep.points.begin(), sweep.points.end(),
                           [](const SweepPoint& point) { return point.violations > 0; });
      });
  if (wrong_on_tensors || breaks_a_law || wrong_in_sweep) return RunOutcome::violated;
  return undecided_reason(run).empty() ? RunOutcome::passed : RunOutcome::undecided;
}

std::string undecided_reason(const Run& run) {
  if (!run.unfinished.empty()) return run.unfinished;
  if (run.interrupted) return "interrupted before every case was run";
  for (const CheckReport& check : run.checks)
    if (const std::string reason = undecided_reason(check); !reason.empty())
      return run.checks.size() == 1 ? reason : check.kernel + ": " + reason;
  if (run.checks.empty() && run.accuracy.empty() && run.sweeps.empty())
    return "nothing was checked";
  return {};
}

void add(Measurements& into, const Measurements& more) {
  for (const StatisticsRow& row : more.statistics) add_row(into.statistics, row);
  for (const BitEquality& row : more.bit_equality) add_row(into.bit_equality, row);
  for (const PowerCount& row : more.power) add_row(into.power, row);
  if (!more.heat_map) return;
  if (!into.heat_map || worst_of(*more.heat_map) > worst_of(*into.heat_map))
    into.heat_map = more.heat_map;
}

Measurements all_measured(const Run& run) {
  Measurements all = run.measured;
  for (const CheckReport& check : run.checks) add(all, check.measured);
  return all;
}

std::vector<RunPoint> points_of(const Run& run) {
  std::vector<RunPoint> points;
  for (const AccuracyRow& row : run.accuracy) {
    RunPoint& point = point_of(points, run, row.kernel);
    keep_worse(point.worst_ratio, row.worst_ratio);
    keep_worse(point.worst_ratio, row.worst_lse_ratio);
    point.violations += row.violations;
  }
  for (const CheckReport& check : run.checks) {
    RunPoint& point = point_of(points, run, check.kernel);
    for (const LawRow& row : check.laws) {
      keep_worse(point.worst_ratio, row.worst_ratio);
      point.violations += row.violations;
      point.cases += row.cases;
    }
  }
  const Measurements measured = all_measured(run);
  for (RunPoint& point : points) {
    ErrorStatistics all;
    for (const StatisticsRow& row : measured.statistics)
      if (row.kernel == point.kernel) all.add(row.errors);
    if (all.measured() > 0) point.rms_ulp = all.rms();
  }
  return points;
}

Run merged(std::vector<Run> runs) {
  if (runs.empty()) return {};
  Run all = std::move(runs.back());
  runs.pop_back();
  for (auto& run : runs) {
    for (const KernelEntry& kernel : run.header.kernels)
      if (std::find(all.header.kernels.begin(), all.header.kernels.end(), kernel) ==
          all.header.kernels.end())
        all.header.kernels.push_back(kernel);
    for (const LawText& law : run.header.laws)
      if (std::find(all.header.laws.begin(), all.header.laws.end(), law) == all.header.laws.end())
        all.header.laws.push_back(law);
    std::move(run.checks.begin(), run.checks.end(), std::back_inserter(all.checks));
    std::move(run.accuracy.begin(), run.accuracy.end(), std::back_inserter(all.accuracy));
    std::move(run.sweeps.begin(), run.sweeps.end(), std::back_inserter(all.sweeps));
    add(all.measured, run.measured);
    all.cases.add(run.cases);
    all.seconds += run.seconds;
    all.interrupted = all.interrupted || run.interrupted;
    if (all.unfinished.empty()) all.unfinished = run.unfinished;
    if (all.oracle.empty()) all.oracle = run.oracle;
  }
  return all;
}

AccuracyReport accuracy_report(const Run& run) {
  AccuracyReport report;
  report.environment = run.header.environment;
  report.rows = run.accuracy;
  report.checks = run.checks;
  report.oracle = run.oracle;
  report.seconds = run.seconds;
  report.measured = run.measured;
  return report;
}

}  // namespace attest::reports
