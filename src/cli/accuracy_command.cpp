#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include "cli/accuracy_job.hpp"
#include "cli/check_run.hpp"
#include "cli/commands.hpp"
#include "cli/inputs.hpp"
#include "cli/run_output.hpp"
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

std::string oracle_text(const reference::OracleCounts& counts) {
  return fmt::format(
      "oracle: {} rows certified by double-double, {} by it and MPFR, {} by MPFR alone; {} "
      "contradictions",
      counts.by_double_double, counts.audited, counts.by_mpfr, counts.contradictions);
}

/// What the kernels are run on; the folder is made only when all of it can be used.
struct Job {
  std::unique_ptr<tensors::TensorLibrary> library;
  std::vector<const Kernel*> kernels;
  std::vector<const properties::Law*> laws;  ///< of the short checks
  Ledger ledger;
  std::vector<std::unique_ptr<Kernel>> launched;  ///< kernels without what is never launched
  std::filesystem::path folder;
};

Result<Job> plan_job(const AccuracyOptions& options) {
  Job job;
  auto library = open_tensors(options.tensors);
  if (!library.ok()) return library.status();
  if (library.value() == nullptr)
    return invalid_argument("accuracy needs real tensors: --tensors DIR");
  job.library = std::move(library).value();
  auto kernels = select_kernels(options.kernels);
  if (!kernels.ok()) return kernels.status();
  job.kernels = std::move(kernels).value();
  auto ledger = read_ledger(options.known);
  if (!ledger.ok()) return ledger.status();
  job.ledger = std::move(ledger).value();
  for (const Kernel*& kernel : job.kernels) {
    auto launched = without_never_launched(*kernel, job.ledger);
    if (launched == nullptr) continue;
    kernel = launched.get();
    job.launched.push_back(std::move(launched));
  }
  if (options.cases > 0) {
    auto laws = select_laws({}, {});
    if (!laws.ok()) return laws.status();
    job.laws = std::move(laws).value();
  }
  auto folder = make_run_folder(options.out);
  if (!folder.ok()) return folder.status();
  job.folder = folder.value();
  return job;
}

/// A short check of every law on the hard cases and on a few generated ones.
Status short_check(const Kernel& kernel, const AccuracyOptions& options, const Job& job,
                   RunStream& lines) {
  CheckRun run;
  run.ledger = &job.ledger;
  run.kernel = &kernel;
  run.plan.laws = job.laws;
  auto given = hard_cases(job.library.get());
  if (!given.ok()) return given.status();
  run.plan.given = std::move(given).value();
  run.plan.drawn_cases = options.cases;
  run.plan.seed = kSeed;
  run.plan.limits = properties::limits_for(kernel, job.library.get());
  run.plan.jobs = resolve_jobs(options.jobs);
  run.bit_cases = kBitCases;
  return run_checks(run, lines).status();
}

/// Every file of the report; the page is the last.
Status write_reports(const std::filesystem::path& folder, const reports::RunHistory& history) {
  const auto write = [&](const char* name, const std::string& text) {
    Status status = write_file(folder / name, text);
    if (status.ok()) fmt::print("wrote {}\n", (folder / name).string());
    return status;
  };
  fmt::print("wrote {}\n", (folder / "run.jsonl").string());
  if (Status status = write("report.md", render_run_markdown(history)); !status.ok()) return status;
  if (Status status = write("accuracy.md", render_accuracy_table(history)); !status.ok())
    return status;
  if (Status status = write("accuracy.json", render_accuracy_json(accuracy_report(history.latest)));
      !status.ok())
    return status;
  return write("report.html", render_run_html(history));
}

}  // namespace

int accuracy_command(const AccuracyOptions& options) {
  auto planned = plan_job(options);
  if (!planned.ok()) return usage(planned.status().message());
  const Job& job = planned.value();
  reports::RunHeader header = run_header("accuracy", job.kernels, job.laws);
  header.seed = kSeed;
  header.tier = "report";
  header.jobs = resolve_jobs(options.jobs);
  auto opened = RunStream::open(job.folder, header);
  if (!opened.ok()) return usage(opened.status().message());
  RunStream& lines = opened.value();

  const auto begin = std::chrono::steady_clock::now();
  const Progress progress;
  const Status judged = run_accuracy({job.kernels, job.library.get(), header.jobs,
                                      [&](const std::string& name) { progress("tensor " + name); }},
                                     lines);
  if (!judged.ok()) {
    progress("");
    usage(judged.message());
    return judged.code() == StatusCode::undecided ? undecided : kernel_crashed;
  }
  for (const Kernel* const kernel : job.kernels) {
    if (options.cases == 0) break;
    progress("laws of " + kernel->description().name);
    if (Status status = short_check(*kernel, options, job, lines); !status.ok())
      return usage(status.message());
  }
  progress("");
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  const reports::RunHistory history = history_of(
      lines.finish({false, seconds.count(), oracle_text(reference::oracle_counts()), {}}));
  if (!lines.status().ok()) return usage(lines.status().message());
  fmt::print("{}", render_accuracy_text(accuracy_report(history.latest)));
  if (Status status = write_reports(job.folder, history); !status.ok())
    return usage(status.message());
  return exit_code_of(reports::run_outcome(history.latest), history.latest.checks);
}

}  // namespace attest::cli
