#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "cli/case_text.hpp"
#include "cli/climb_run.hpp"
#include "cli/commands.hpp"
#include "cli/dtypes.hpp"
#include "cli/inputs.hpp"
#include "cli/interruption.hpp"
#include "properties/shrink.hpp"
#include "reports/numbers.hpp"
#include "reports/report.hpp"
#include "reports/table.hpp"

namespace attest::cli {
namespace {

constexpr double kDefaultSeconds = 60;

Result<std::vector<const properties::Law*>> climbed_laws(const FuzzOptions& options) {
  auto selected = select_laws(options.only, {});
  if (!selected.ok()) return selected.status();
  std::vector<const properties::Law*> laws = std::move(selected).value();
  std::erase_if(laws, [](const properties::Law* law) { return !properties::can_be_climbed(*law); });
  if (laws.empty())
    return invalid_argument(
        "--only names no law with a bound to climb; those are bound.* and gradient.dq, dk, dv, "
        "dbias, dsink");
  return laws;
}

Result<std::vector<Dtype>> climbed_dtypes(const FuzzOptions& options, const Kernel& kernel) {
  const std::vector<Dtype>& offered = kernel.description().capabilities.dtypes;
  if (options.dtypes.empty()) return offered;
  auto named = parse_dtypes(options.dtypes);
  if (!named.ok()) return named;
  for (const Dtype dtype : named.value())
    if (std::find(offered.begin(), offered.end(), dtype) == offered.end())
      return invalid_argument(kernel.description().name + " does not take " +
                              std::string(to_string(dtype)));
  return named;
}

/// A problem of its own instead of drawn ones.
Status set_problem(const FuzzOptions& options, ClimbRun& run) {
  if (options.problem.empty()) return {};
  if (!options.dtypes.empty())
    return invalid_argument("a PROBLEM has its type: it excludes --dtype");
  auto given = parse_given(options.problem, nullptr);
  if (!given.ok()) return given.status();
  run.shape = std::move(given).value().value;
  const Problem& problem = run.shape->problem;
  const Status support = check_support(run.kernel->description().capabilities, problem);
  if (!support.ok())
    return invalid_argument(run.kernel->description().name + ": " + support.message());
  run.dtypes = {problem.dtype};
  return {};
}

Result<ClimbRun> plan_climb(const FuzzOptions& options) {
  ClimbRun run;
  const Result<const Kernel*> kernel = find_kernel(options.kernel);
  if (!kernel.ok()) return kernel.status();
  run.kernel = kernel.value();
  auto laws = climbed_laws(options);
  if (!laws.ok()) return laws.status();
  run.laws = std::move(laws).value();
  auto dtypes = climbed_dtypes(options, *run.kernel);
  if (!dtypes.ok()) return dtypes.status();
  run.dtypes = std::move(dtypes).value();
  const auto seed = parse_seed(options.seed);
  if (!seed.ok()) return seed.status();
  run.seed = seed.value();
  if (Status status = set_problem(options, run); !status.ok()) return status;
  run.max_keys = options.max_keys;
  run.evaluations = options.evaluations;
  run.seconds = options.time.value_or(options.evaluations > 0 ? 0 : kDefaultSeconds);
  run.compare_random = options.compare_random;
  run.jobs = resolve_jobs(options.jobs);
  return run;
}

std::string table_text(const ClimbReport& report, bool compared) {
  reports::Table table;
  using enum reports::Column::Kind;
  table.columns = {{"law", text},           {"dtype", text},      {"worst err/bound", ratio},
                   {"evaluations", number}, {"found at", number}, {"by", text},
                   {"time", number}};
  if (compared) {
    table.columns.push_back({"random normal", ratio});
    table.columns.push_back({"random drawn", ratio});
  }
  const auto ratio_cell = [](const std::optional<double>& value) {
    return value ? reports::ratio_text(*value) : std::string("-");
  };
  for (const ClimbRow& row : report.rows) {
    const auto& best = row.best;
    table.rows.push_back(
        {std::string(row.law->name), std::string(to_string(row.dtype)),
         best ? reports::ratio_text(best->ratio) : "-", std::to_string(row.evaluations),
         best ? std::to_string(best->evaluation) : "-",
         best ? std::string(to_string(best->stage)) : "-", reports::seconds_text(row.seconds)});
    if (!compared) continue;
    table.rows.back().push_back(ratio_cell(row.random_normal));
    table.rows.back().push_back(ratio_cell(row.random_drawn));
  }
  return text_of(table);
}

std::string replay_lines(const Kernel& kernel, const ClimbReport& report) {
  std::string text;
  for (const ClimbRow& row : report.rows)
    if (row.best)
      text += fmt::format("worst {} {}  {}  {}\n", row.law->name, to_string(row.dtype),
                          reports::ratio_text(row.best->ratio),
                          replay_command_line(kernel, row.best->value, row.law->name, row.saved));
  return text;
}

/// The usual block of a failure, with the shrunk case.
Result<std::string> violation_text(const ClimbRun& run, const ClimbReport& report,
                                   const FuzzOptions& options) {
  const properties::Law& law = *report.violated;
  const properties::ClimbViolation& found = *report.violation;
  const auto result_of = [&](const properties::Case& of, const Verdict& verdict) {
    reports::CaseResult result;
    result.law = law.name;
    result.seed = run.seed;
    ProblemText text = properties::to_text(of);
    if (text.values.kind == ValueRecipe::Kind::literal) text.values = {};
    result.problem = minimal_text(text);
    result.verdict = verdict;
    return result;
  };
  const properties::Shrunk shrunk =
      properties::shrink(*run.kernel, law, found.value, found.verdict, options.shrink_time);
  reports::Violation violation;
  violation.found = result_of(found.value, found.verdict);
  violation.shrunk = result_of(shrunk.smallest, shrunk.verdict);
  violation.values = values_text(shrunk.smallest);
  violation.shrink_tries = shrunk.tried;
  violation.shrink_kept = shrunk.kept;
  violation.shrink_finished = shrunk.finished;
  const auto saved = save_case(std::filesystem::path(options.worst) / "failing",
                               {run.kernel->description().name, std::string(law.name), run.seed,
                                shrunk.verdict, shrunk.smallest});
  if (!saved.ok()) return saved.status();
  violation.saved = saved.value().string();
  violation.shrunk.replay =
      replay_command_line(*run.kernel, shrunk.smallest, law.name, saved.value());
  return render_found_text(violation.found) + render_shrunk_text(violation) + "\n";
}

int finish(const ClimbReport& report, const FuzzOptions& options) {
  Index evaluations = 0;
  double seconds = 0;
  bool all_judged = !report.rows.empty();
  for (const ClimbRow& row : report.rows) {
    evaluations += row.evaluations;
    seconds += row.seconds;
    all_judged = all_judged && row.best;
  }
  const bool decided = all_judged && !report.interrupted;
  fmt::print("{}  {} evaluations  {}  {}\n",
             report.violation ? "FAILED"
             : decided        ? "PASSED"
                              : "UNDECIDED",
             evaluations, reports::seconds_text(seconds), options.worst);
  if (report.interrupted) fmt::print("interrupted; the same command goes on from what is stored\n");
  if (report.violation)
    return gave_no_results(report.violation->verdict.outcome) ? kernel_crashed : violation;
  return decided ? all_good : undecided;
}

}  // namespace

int fuzz_command(const FuzzOptions& options) {
  if (!options.climb)
    return usage(
        "fuzz needs --climb, the search for the worst error; bytes are fuzzed by the libFuzzer "
        "targets of the preset 'fuzz' (./run fuzz)");
  auto planned = plan_climb(options);
  if (!planned.ok()) return usage(planned.status().message());
  ClimbRun run = std::move(planned).value();
  run.stop = &watch_for_interruption();
  fmt::print("attest {}  climb of {} {}  {} jobs  seed 0x{:X}  {}\n\n", ATTEST_VERSION,
             run.kernel->description().name, run.kernel->description().version, run.jobs, run.seed,
             run.shape ? options.problem : fmt::format("at most {} keys", run.max_keys));
  std::fflush(stdout);
  const Result<ClimbReport> climbed = run_climb(run, WorstStore(options.worst));
  if (!climbed.ok()) return usage(climbed.status().message());
  const ClimbReport& report = climbed.value();
  if (report.violation) {
    const auto text = violation_text(run, report, options);
    if (!text.ok()) return usage(text.status().message());
    fmt::print("{}", text.value());
  }
  fmt::print("{}\n{}\n", table_text(report, run.compare_random), replay_lines(*run.kernel, report));
  return finish(report, options);
}

}  // namespace attest::cli
