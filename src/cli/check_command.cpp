#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>
#include <utility>

#include "cli/check_run.hpp"
#include "cli/commands.hpp"
#include "cli/declares.hpp"
#include "cli/dtypes.hpp"
#include "cli/inputs.hpp"
#include "cli/interruption.hpp"
#include "cli/run_formats.hpp"
#include "cli/run_output.hpp"
#include "cli/tiers.hpp"
#include "cli/worst_store.hpp"
#include "properties/rule.hpp"

namespace attest::cli {
namespace {

Result<reports::Shard> parse_shard(const std::string& text) {
  reports::Shard shard;
  if (text.empty()) return shard;
  const char* const end = text.data() + text.size();
  const auto index = std::from_chars(text.data(), end, shard.index);
  const bool slash = index.ec == std::errc{} && index.ptr != end && *index.ptr == '/';
  const auto count = slash ? std::from_chars(index.ptr + 1, end, shard.count) : index;
  if (!slash || count.ec != std::errc{} || count.ptr != end || shard.index < 1 ||
      shard.count < shard.index || shard.count > 4096)
    return invalid_argument("--shard takes I/N with 1 <= I <= N <= 4096, got '" + text + "'");
  return shard;
}

/// The folder that was named, or the usual one if there is one; empty: none.
std::string worst_folder(const CheckOptions& options, bool only_given) {
  std::error_code ignored;
  if (!options.worst.empty() || only_given) return options.worst;
  return std::filesystem::is_directory(kWorstFolder, ignored) ? kWorstFolder : "";
}

Result<CheckRun> plan_run(const CheckOptions& options, const tensors::TensorLibrary* library) {
  CheckRun run;
  const Result<const Kernel*> kernel = find_kernel(options.kernel);
  if (!kernel.ok()) return kernel.status();
  run.kernel = kernel.value();
  auto laws = select_laws(options.only, options.skip);
  if (!laws.ok()) return laws.status();
  run.plan.laws = std::move(laws).value();
  const auto seed = parse_seed(options.seed);
  if (!seed.ok()) return seed.status();
  run.plan.seed = seed.value();
  const auto tier = find_tier(options.tier);
  if (!tier.ok()) return tier.status();
  for (const std::string& line : options.problems) {
    auto given = parse_given(line, library);
    if (!given.ok()) return given.status();
    run.plan.given.push_back(std::move(given).value());
  }
  if (!options.problem_file.empty()) {
    auto given = read_problem_file(options.problem_file, library);
    if (!given.ok()) return given.status();
    for (auto& one : given.value()) run.plan.given.push_back(std::move(one));
  }
  const bool only_given = !run.plan.given.empty();
  const auto append = [&](std::vector<properties::GivenCase> cases) {
    for (auto& one : cases) run.plan.given.push_back(std::move(one));
  };
  if (const std::string folder = worst_folder(options, only_given); !folder.empty()) {
    auto worst = stored_cases(folder);
    if (!worst.ok()) return worst.status();
    append(std::move(worst).value());
  }
  if (!only_given) {
    auto stored = hard_cases(library);
    if (!stored.ok()) return stored.status();
    append(std::move(stored).value());
  }
  run.plan.drawn_cases = options.cases >= 0 ? options.cases : only_given ? 0 : tier.value().cases;
  run.bit_cases = only_given ? 0 : tier.value().bit_cases;
  run.plan.limits = properties::limits_for(*run.kernel, library);
  if (only_given && !options.dtypes.empty())
    return invalid_argument("a problem has its type: it excludes --dtype");
  const auto dtypes = parse_dtypes(options.dtypes);
  if (!dtypes.ok()) return dtypes.status();
  if (!keep_dtypes(run.plan, dtypes.value()))
    return invalid_argument("the kernel takes none of the types of --dtype");
  run.plan.jobs = resolve_jobs(options.jobs);
  const auto shard = parse_shard(options.shard);
  if (!shard.ok()) return shard.status();
  run.plan.shard = {shard.value().index, shard.value().count};
  run.shrink_time = options.shrink_time;
  return run;
}

reports::RunHeader header_of(const CheckRun& run, const CheckOptions& options) {
  reports::RunHeader header = run_header("check", {run.kernel}, run.plan.laws);
  header.seed = run.plan.seed;
  header.tier = options.tier;
  header.jobs = run.plan.jobs;
  header.shard = {static_cast<int>(run.plan.shard.index), static_cast<int>(run.plan.shard.count)};
  return header;
}

int exit_code(const reports::CheckReport& report) {
  for (const reports::Violation& violation : report.violations)
    if (gave_no_results(violation.found.verdict.outcome)) return kernel_crashed;
  return exit_code_of(reports::run_outcome(report), {report});
}

}  // namespace

int usage(const std::string& message) {
  fmt::print(stderr, "attest: {}\n", message);
  return usage_error;
}

int check_command(const CheckOptions& options) {
  const auto formats = parse_formats(options.formats);
  if (!formats.ok()) return usage(formats.status().message());
  const auto library = open_tensors(options.tensors);
  if (!library.ok()) return usage(library.status().message());
  auto planned = plan_run(options, library.value().get());
  if (!planned.ok()) return usage(planned.status().message());
  CheckRun run = std::move(planned).value();
  const auto ledger = read_ledger(options.known);
  if (!ledger.ok()) return usage(ledger.status().message());
  run.ledger = &ledger.value();
  const auto launched = without_never_launched(*run.kernel, ledger.value());
  if (launched != nullptr) run.kernel = launched.get();
  properties::ComparisonRule rule;
  TextError error;
  if (!properties::parse_rule(options.rule, rule, error))
    return usage("cannot use this rule:\n" + with_caret(options.rule, error));
  const properties::RuleInForce in_force(rule);
  const auto folder = make_run_folder(options.out);
  if (!folder.ok()) return usage(folder.status().message());
  run.out = folder.value();
  reports::RunHeader header = header_of(run, options);
  if (rule.kind != properties::ComparisonRule::Kind::bound) header.rule = to_text(rule);
  auto lines = RunStream::open(run.out, header);
  if (!lines.ok()) return usage(lines.status().message());

  const bool text_to_terminal = prints_text(formats.value());
  std::string printed;
  run.print = [&](const std::string& text) {
    printed += text;
    if (text_to_terminal) fmt::print("{}", text), std::fflush(stdout);
  };
  run.progress = isatty(STDERR_FILENO) != 0;
  run.print(fmt::format("attest {}  kernel {} {}  {} jobs  seed 0x{:X}  tier {}\ndeclares  {}\n\n",
                        ATTEST_VERSION, run.kernel->description().name,
                        run.kernel->description().version, run.plan.jobs, run.plan.seed,
                        options.tier, declares_text(*run.kernel)));
  if (options.time > 0)
    run.plan.deadline = std::chrono::steady_clock::now() +
                        std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                            std::chrono::duration<double>(options.time));
  run.plan.stop = &watch_for_interruption();

  const auto result = run_checks(run, lines.value());
  if (!result.ok()) return usage(result.status().message());
  const reports::CheckReport& report = result.value();
  const EndedRun ended{
      history_of(lines.value().finish({report.interrupted, report.seconds, {}, {}})), run.out,
      printed + render_check_text(report)};
  if (!lines.value().status().ok()) return usage(lines.value().status().message());
  if (Status status = write_pages(ended); !status.ok()) return usage(status.message());
  if (text_to_terminal) fmt::print("{}", render_check_text(report));
  if (Status status = write_formats(ended, formats.value()); !status.ok())
    return usage(status.message());
  return exit_code(report);
}

}  // namespace attest::cli
