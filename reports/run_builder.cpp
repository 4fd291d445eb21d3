#include "reports/run_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "reports/escape.hpp"

namespace attest::reports {
namespace {

/// Of one text of a violation. A case that needs more is in its saved folder.
constexpr std::size_t kMaxViolationText = std::size_t{1} << 16;
constexpr const char* kNoLastLine = "unfinished: it was killed, or still runs";

void cut_texts(CaseResult& result) {
  result.verdict.statistics.reset();
  result.verdict.stand_ins = {};
  if (result.problem.size() > kMaxViolationText) result.problem.resize(kMaxViolationText);
  if (result.replay.size() > kMaxViolationText) result.replay.clear();
}

bool same_case(const CaseResult& a, const CaseResult& b) {
  return a.law == b.law && a.number == b.number && a.kernel == b.kernel;
}

void count_outcome(LawRow& row, Outcome outcome) {
  switch (outcome) {
    case Outcome::ok:
      ++row.ok;
      break;
    case Outcome::weak:
      ++row.weak;
      break;
    case Outcome::unproven:
      ++row.unproven;
      break;
    case Outcome::skipped:
      ++row.skipped;
      break;
    case Outcome::fail:
    case Outcome::flaky:
    case Outcome::crash:
    case Outcome::timeout:
    case Outcome::xpass:
      ++row.violations;
      break;
    case Outcome::known:
      ++row.known;
      break;
  }
}

LawRow& row_of(std::vector<LawRow>& rows, const std::string& law) {
  // Cases come law by law.
  if (!rows.empty() && rows.back().law == law) return rows.back();
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const LawRow& row) { return row.law == law; });
  if (found != rows.end()) return *found;
  rows.emplace_back().law = law;
  return rows.back();
}

template <class Entry>
void append_new(std::vector<Entry>& entries, const std::vector<Entry>& more) {
  for (const Entry& entry : more)
    if (std::find(entries.begin(), entries.end(), entry) == entries.end()) entries.push_back(entry);
}

std::size_t place_of(const std::vector<KernelEntry>& kernels, const std::string& name) {
  const auto found = std::find_if(kernels.begin(), kernels.end(),
                                  [&](const KernelEntry& kernel) { return kernel.name == name; });
  return static_cast<std::size_t>(found - kernels.begin());
}

}  // namespace

void RunBuilder::begin(const RunHeader& header) {
  current_ = header;
  condensed_ = header.condensed;
  ended_checks_.clear();
  shards_.push_back(header.shard.index);
  if (shards_.size() == 1) {
    run_.header = header;
  } else {
    append_new(run_.header.kernels, header.kernels);
    append_new(run_.header.laws, header.laws);
    run_.header.jobs = std::max(run_.header.jobs, header.jobs);
    run_.header.condensed = run_.header.condensed || header.condensed;
  }
  // A run that was killed before its first case is still a run of its kernels.
  if (header.kind == "check")
    for (const KernelEntry& kernel : header.kernels) check_of(kernel.name);
}

CheckReport& RunBuilder::check_of(const std::string& kernel) {
  const auto found = std::find_if(run_.checks.rbegin(), run_.checks.rend(),
                                  [&](const CheckReport& check) { return check.kernel == kernel; });
  if (found != run_.checks.rend()) return *found;
  CheckReport& fresh = run_.checks.emplace_back();
  fresh.kernel = kernel;
  for (const KernelEntry& entry : current_.kernels)
    if (entry.name == kernel) fresh.declares = entry.declares;
  fresh.seed = current_.seed;
  fresh.tier = current_.tier;
  fresh.rule = current_.rule;
  fresh.jobs = current_.jobs;
  fresh.environment = current_.environment;
  return fresh;
}

bool RunBuilder::is_new(const CaseResult& result, bool& contradicts) {
  if (!several_) return true;
  const std::size_t hash = std::hash<std::string>{}(result.problem) * 31 +
                           static_cast<std::size_t>(result.verdict.outcome);
  const auto [known, fresh] = seen_[{result.kernel, result.law}].try_emplace(result.number, hash);
  contradicts = !fresh && known->second != hash;
  return fresh;
}

Result<bool> RunBuilder::add(const CaseResult& result) {
  bool contradicts = false;
  if (!is_new(result, contradicts)) {
    if (!contradicts) return false;
    return invalid_argument(fmt::format("case {} of {} is another one in another of the runs",
                                        result.number, result.law));
  }
  run_.cases.add(result);
  if (!condensed_) count(result);
  if (!is_violation(result.verdict.outcome)) return true;
  // What shrinking finds comes later, or never.
  CheckReport& check = check_of(result.kernel);
  const bool known =
      std::any_of(check.violations.rbegin(), check.violations.rend(),
                  [&](const Violation& violation) { return same_case(violation.found, result); });
  if (known || check.violations.size() >= CaseSample::kMaxViolations) return true;
  Violation& fresh = check.violations.emplace_back();
  fresh.found = result;
  cut_texts(fresh.found);
  return true;
}

void RunBuilder::count(const CaseResult& result) {
  LawRow& row = row_of(check_of(result.kernel).laws, result.law);
  // An unexpected pass is about cases that are counted already.
  if (result.verdict.outcome != Outcome::xpass) ++row.cases;
  count_outcome(row, result.verdict.outcome);
  row.values += result.verdict.values_compared;
  if (result.verdict.outcome != Outcome::known)
    row.beyond_probable += result.verdict.beyond_probable;
  if (result.verdict.outcome == Outcome::known ||
      !is_worse_ratio(result.verdict.worst_ratio, row.worst_ratio))
    return;
  row.worst_ratio = result.verdict.worst_ratio;
  row.worst_problem = cut(result.problem, kMaxExtremeText);
  row.worst_replay = result.replay.size() > kMaxExtremeText ? std::string() : result.replay;
}

void RunBuilder::add(Violation violation) {
  cut_texts(violation.found);
  cut_texts(violation.shrunk);
  if (violation.values.size() > kMaxViolationText) violation.values.resize(kMaxViolationText);
  std::vector<Violation>& known = check_of(violation.found.kernel).violations;
  const auto found = std::find_if(known.rbegin(), known.rend(), [&](const Violation& one) {
    return same_case(one.found, violation.found);
  });
  if (found != known.rend())
    *found = std::move(violation);
  else if (known.size() < CaseSample::kMaxViolations)
    known.push_back(std::move(violation));
}

void RunBuilder::add(const AccuracyRow& row) {
  const bool known =
      several_ &&
      std::any_of(run_.accuracy.begin(), run_.accuracy.end(), [&](const AccuracyRow& one) {
        return one.kernel == row.kernel && one.tensor == row.tensor && one.problem == row.problem;
      });
  if (!known) run_.accuracy.push_back(row);
}

Measurements& RunBuilder::measured(const std::string& kernel, bool of_tensors) {
  return of_tensors ? run_.measured : check_of(kernel).measured;
}

void RunBuilder::add_statistics(const StatisticsRow& row, bool of_tensors) {
  reports::add(measured(row.kernel, of_tensors), {{row}, {}, {}, {}});
}

void RunBuilder::add_power(const PowerCount& row, const std::string& kernel) {
  reports::add(measured(kernel, kernel.empty()), {{}, {}, {}, {row}});
}

void RunBuilder::add_bit_equality(const BitEquality& row, bool of_tensors) {
  reports::add(measured(row.kernel, of_tensors), {{}, {}, {row}, {}});
}

void RunBuilder::add_heat_map(const HeatMap& heat, bool of_tensors) {
  reports::add(measured(heat.kernel, of_tensors), {{}, heat, {}, {}});
}

void RunBuilder::end_check(const CheckReport& end) {
  CheckReport& check = check_of(end.kernel);
  ended_checks_.push_back(end.kernel);
  // Shares of classes cannot be added up.
  const bool first = check.seconds == 0 && check.distribution.empty();
  check.distribution =
      first || check.distribution == end.distribution ? end.distribution : std::string{};
  check.seconds += end.seconds;
  check.interrupted = check.interrupted || end.interrupted;
  if (check.out_directory.empty()) check.out_directory = end.out_directory;
  if (check.unfinished.empty()) check.unfinished = end.unfinished;
  append_new(check.ledger, end.ledger);
}

void RunBuilder::add_sweep_point(const SweepReport& of, const SweepPoint& point) {
  auto found = std::find_if(run_.sweeps.begin(), run_.sweeps.end(), [&](const SweepReport& sweep) {
    return sweep.kernel == of.kernel && sweep.over == of.over && sweep.base == of.base;
  });
  if (found == run_.sweeps.end()) {
    SweepReport fresh;
    fresh.kernel = of.kernel;
    fresh.over = of.over;
    fresh.base = of.base;
    fresh.seed = current_.seed;
    fresh.environment = current_.environment;
    found = run_.sweeps.insert(run_.sweeps.end(), std::move(fresh));
  }
  found->points.push_back(point);
}

void RunBuilder::add_law(const std::string& kernel, const LawRow& row) {
  LawRow& sum = row_of(check_of(kernel).laws, row.law);
  sum.cases += row.cases;
  sum.ok += row.ok;
  sum.weak += row.weak;
  sum.unproven += row.unproven;
  sum.skipped += row.skipped;
  sum.violations += row.violations;
  sum.known += row.known;
  sum.values += row.values;
  sum.beyond_probable += row.beyond_probable;
  if (!is_worse_ratio(row.worst_ratio, sum.worst_ratio)) return;
  sum.worst_ratio = row.worst_ratio;
  sum.worst_problem = row.worst_problem;
  sum.worst_replay = row.worst_replay;
}

void RunBuilder::end(const RunEnd& end) {
  run_.interrupted = run_.interrupted || end.interrupted;
  run_.seconds += end.seconds;
  if (run_.oracle.empty()) run_.oracle = end.oracle;
  if (run_.unfinished.empty()) run_.unfinished = end.unfinished;
}

void RunBuilder::end_unfinished() {
  run_.unfinished = kNoLastLine;
  for (CheckReport& check : run_.checks) {
    const bool of_this = place_of(current_.kernels, check.kernel) < current_.kernels.size();
    const bool ended =
        std::find(ended_checks_.begin(), ended_checks_.end(), check.kernel) != ended_checks_.end();
    // A check that is the run is not done before the run is.
    if (of_this && (!ended || current_.kind == "check")) check.unfinished = kNoLastLine;
  }
}

Run RunBuilder::finish() {
  const int count = run_.header.shard.count;
  std::sort(shards_.begin(), shards_.end());
  const auto there = std::unique(shards_.begin(), shards_.end()) - shards_.begin();
  if (count > 1 && there < count) {
    const std::string missing = fmt::format("unfinished: {} of {} shards", there, count);
    run_.unfinished = missing;
    for (CheckReport& check : run_.checks) check.unfinished = missing;
  } else if (count > 1) {
    run_.header.shard = {};
  }
  std::stable_sort(
      run_.checks.begin(), run_.checks.end(), [&](const CheckReport& a, const CheckReport& b) {
        return place_of(run_.header.kernels, a.kernel) < place_of(run_.header.kernels, b.kernel);
      });
  Run done = std::move(run_);
  *this = RunBuilder(several_);
  return done;
}

}  // namespace attest::reports
