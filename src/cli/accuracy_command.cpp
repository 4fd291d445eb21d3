#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "cli/accuracy_job.hpp"
#include "cli/check_run.hpp"
#include "cli/commands.hpp"
#include "cli/environment.hpp"
#include "cli/inputs.hpp"
#include "kernels/registry.hpp"
#include "reference/oracle.hpp"

namespace attest::cli {
namespace {

constexpr std::uint64_t kSeed = 0x5EED1A77;
constexpr Index kBitCases = 10;  ///< a dtype, for bit equality

Result<std::vector<const Kernel*>> select_kernels(const std::vector<std::string>& names) {
  std::vector<const Kernel*> selected;
  for (const std::string& name : names) {
    const auto kernel = find_kernel(name);
    if (!kernel.ok()) return kernel.status();
    selected.push_back(kernel.value());
  }
  if (names.empty())
    for (const auto& kernel : kernels::builtin_kernels()) selected.push_back(kernel.get());
  return selected;
}

class Progress {
 public:
  void operator()(const std::string& text) const {
    if (!shown_) return;
    fmt::print(stderr, "\r\x1b[K{}", text);
    std::fflush(stderr);
  }

 private:
  bool shown_ = isatty(STDERR_FILENO) != 0;
};

/// A short check of every law on the hard cases and on a few generated ones.
Result<reports::CheckReport> short_check(const Kernel& kernel, const AccuracyOptions& options,
                                         const tensors::TensorLibrary* library) {
  CheckRun run;
  run.kernel = &kernel;
  auto laws = select_laws({}, {});
  if (!laws.ok()) return laws.status();
  run.plan.laws = std::move(laws).value();
  auto given = hard_cases(library);
  if (!given.ok()) return given.status();
  run.plan.given = std::move(given).value();
  run.plan.drawn_cases = options.cases;
  run.plan.seed = kSeed;
  run.plan.limits = properties::limits_for(kernel, library);
  run.plan.jobs = resolve_jobs(options.jobs);
  run.bit_cases = kBitCases;
  run.tier = "report";
  return run_checks(run);
}

std::string oracle_text(const reference::OracleCounts& counts) {
  return fmt::format(
      "oracle: {} rows certified by double-double, {} by it and MPFR, {} by MPFR alone; {} "
      "contradictions",
      counts.by_double_double, counts.audited, counts.by_mpfr, counts.contradictions);
}

}  // namespace

int accuracy_command(const AccuracyOptions& options) {
  const auto library = open_tensors(options.tensors);
  if (!library.ok()) return usage(library.status().message());
  if (library.value() == nullptr) return usage("accuracy needs real tensors: --tensors DIR");
  const auto kernels = select_kernels(options.kernels);
  if (!kernels.ok()) return usage(kernels.status().message());
  const auto folder = make_run_folder(options.out);
  if (!folder.ok()) return usage(folder.status().message());

  const auto begin = std::chrono::steady_clock::now();
  const Progress progress;
  reports::AccuracyReport report;
  report.environment = environment();
  auto found = run_accuracy({kernels.value(), library.value().get(), resolve_jobs(options.jobs),
                             [&](const std::string& name) { progress("tensor " + name); }});
  if (!found.ok()) {
    progress("");
    usage(found.status().message());
    return found.status().code() == StatusCode::undecided ? undecided : kernel_crashed;
  }
  report.rows = std::move(found.value().rows);
  report.measured = std::move(found.value().measured);
  bool violated = false;
  bool decided = true;
  for (const reports::AccuracyRow& row : report.rows) violated = violated || row.violations > 0;
  if (options.cases > 0) {
    for (const Kernel* const kernel : kernels.value()) {
      progress("laws of " + kernel->description().name);
      auto check = short_check(*kernel, options, library.value().get());
      if (!check.ok()) return usage(check.status().message());
      const reports::RunOutcome outcome = reports::run_outcome(check.value());
      violated = violated || outcome == reports::RunOutcome::violated;
      decided = decided && outcome != reports::RunOutcome::undecided;
      report.checks.push_back(std::move(check).value());
    }
  }
  progress("");
  report.oracle = oracle_text(reference::oracle_counts());
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  fmt::print("{}", render_accuracy_text(report));
  for (const auto& [name, text] : {std::pair{"accuracy.md", render_accuracy_markdown(report)},
                                   std::pair{"accuracy.json", render_accuracy_json(report)}}) {
    if (Status status = write_file(folder.value() / name, text); !status.ok())
      return usage(status.message());
    fmt::print("wrote {}\n", (folder.value() / name).string());
  }
  if (violated) return violation;
  return decided ? all_good : undecided;
}

}  // namespace attest::cli
