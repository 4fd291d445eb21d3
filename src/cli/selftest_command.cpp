#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>

#include "cli/commands.hpp"
#include "cli/file_output.hpp"
#include "cli/inputs.hpp"
#include "cli/interruption.hpp"
#include "cli/selftest_text.hpp"
#include "reports/numbers.hpp"
#include "selftest/correct_kernels.hpp"

namespace attest::cli {
namespace {

using selftest::Effort;

/// Cases of: a bug and its law, a bug and another law, a correct kernel and a law.
const std::map<std::string, Effort>& efforts() {
  static const std::map<std::string, Effort> table{{"smoke", {200, 0, 5, 5000}},
                                                   {"ci", {200, 20, 20, 30000}},
                                                   {"nightly", {1000, 200, 200, 200000}}};
  return table;
}

/// A line on a terminal that is rewritten.
class Progress {
 public:
  void show(Index finished, Index all) const {
    if (!is_terminal_) return;
    fmt::print(stderr, "\r\x1b[K{} of {} kernels", finished, all);
    std::fflush(stderr);
  }
  void clear() const {
    if (is_terminal_) fmt::print(stderr, "\r\x1b[K");
  }
  std::string seconds() const {
    return reports::seconds_text(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count());
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  bool is_terminal_ = ::isatty(STDERR_FILENO) != 0;
};

bool is_chosen(const SelftestOptions& options, const Kernel& kernel) {
  const std::string& name = kernel.description().name;
  return options.only.empty() || matches_any(options.only, name.substr(name.find(':') + 1));
}

Result<selftest::Plan> plan_selftest(const SelftestOptions& options) {
  selftest::Plan plan;
  const auto effort = efforts().find(options.tier);
  if (effort == efforts().end())
    return invalid_argument("unknown tier '" + options.tier + "'; known: smoke, ci, nightly");
  plan.effort = effort->second;
  const auto seed = parse_seed(options.seed);
  if (!seed.ok()) return seed.status();
  plan.seed = seed.value();
  for (const selftest::PlantedBug& bug : selftest::planted_bugs())
    if (is_chosen(options, *bug.kernel)) plan.bugs.push_back(bug);
  const bool only_correct = options.runs > 0;
  if (plan.bugs.empty() && !only_correct)
    return invalid_argument("no planted bug matches --only (attest list mutants shows them)");
  for (const Kernel* kernel : selftest::correct_kernels())
    if (options.only.empty() || (only_correct && is_chosen(options, *kernel)))
      plan.correct.push_back(kernel);
  if (plan.correct.empty() && only_correct)
    return invalid_argument("no correct kernel matches --only");
  plan.jobs = resolve_jobs(options.jobs);
  return plan;
}

std::string head(const SelftestOptions& options, const selftest::Plan& plan) {
  return fmt::format("attest {}  selftest  tier {}  seed {}  {} jobs\n", ATTEST_VERSION,
                     options.tier, reports::seed_text(plan.seed), plan.jobs);
}

int run_alarms(const SelftestOptions& options, selftest::Plan plan) {
  plan.effort.correct = plan.effort.named;  // as many as `attest check` of this tier judges
  fmt::print(
      "{}{} correct kernels, {} laws, {} cases a law, {} runs with the seeds from this on\n\n",
      head(options, plan), plan.correct.size(), plan.laws.size(), plan.effort.correct,
      options.runs);
  const Progress progress;
  const auto results = selftest::run_correct(
      plan, options.runs, [&](Index done, Index all) { progress.show(done, all); });
  progress.clear();
  Index cases = 0;
  Index alarms = 0;
  bool complete = true;
  for (const selftest::CorrectResult& result : results) {
    cases += result.cases;
    alarms += static_cast<Index>(result.alarms.size());
    complete = complete && result.complete;
  }
  fmt::print("{}\n{}  {} raised in {}  {}\n", alarms_text(results),
             alarms > 0 ? "FAILED"
             : complete ? "PASSED"
                        : "INTERRUPTED",
             reports::count_text(alarms, "alarm"), reports::count_text(cases, "case"),
             progress.seconds());
  if (alarms > 0) return violation;
  return complete ? all_good : undecided;
}

/// As many cases of every rule, and of every law, as a bug and another law than its own get.
int run_comparison(const selftest::Plan& plan) {
  const Index cases = std::max(Index{10}, plan.effort.others);
  const Progress progress;
  const selftest::Comparison comparison = selftest::compare_rules(
      plan, cases, [&](Index done, Index all) { progress.show(done, all); });
  progress.clear();
  fmt::print("{}\n{} cases of every rule, and of every law, on each kernel{}\n",
             comparison_text(comparison), comparison.cases,
             comparison.complete ? "" : "; INTERRUPTED");
  return comparison.complete ? all_good : undecided;
}

int run_matrix(const SelftestOptions& options, const selftest::Plan& plan) {
  fmt::print("{}\n", head(options, plan));
  std::fflush(stdout);
  const Progress progress;
  const selftest::Matrix matrix =
      selftest::run_matrix(plan, [&](Index done, Index all) { progress.show(done, all); });
  progress.clear();
  const selftest::Summary summary = selftest::summarise(matrix, options.only.empty());
  const SelftestReport report{matrix, summary, plan.seed, options.tier};
  fmt::print("{}\n", matrix_text(matrix));
  if (options.laws) fmt::print("{}\n", laws_text(report));
  fmt::print("{}", complaints_text(report));
  if (!options.json.empty())
    if (Status status = write_file(options.json, selftest_json(report)); !status.ok())
      return usage(status.message());
  const bool failed = !summary.passed && matrix.complete;
  fmt::print("{}  {}  {}\n",
             summary.passed ? "PASSED"
             : failed       ? "FAILED"
                            : "INTERRUPTED",
             summary_text(report), progress.seconds());
  return summary.passed ? all_good : failed ? violation : undecided;
}

}  // namespace

int selftest_command(const SelftestOptions& options) {
  auto planned = plan_selftest(options);
  if (!planned.ok()) return usage(planned.status().message());
  selftest::Plan plan = std::move(planned).value();
  plan.stop = &watch_for_interruption();
  if (options.runs > 0) return run_alarms(options, std::move(plan));
  if (options.compare) return run_comparison(plan);
  return run_matrix(options, plan);
}

}  // namespace attest::cli
