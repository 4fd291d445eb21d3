#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "cli/commands.hpp"
#include "cli/environment.hpp"
#include "cli/inputs.hpp"
#include "cli/interruption.hpp"
#include "cli/run_output.hpp"
#include "cli/run_stream.hpp"
#include "cli/sweep_job.hpp"

namespace attest::cli {
namespace {

/// Few rows over many keys: the length is what is usually swept. Heads do not share keys, so that
/// each is a sample of the bias.
constexpr const char* kUsualProblem = "1x4:4x1024:64 f32";

Result<SweepJob> plan_sweep(const SweepOptions& options, const tensors::TensorLibrary* library) {
  SweepJob job;
  job.library = library;
  job.jobs = resolve_jobs(options.jobs);
  job.cases = options.cases;
  const auto kernel = find_kernel(options.kernel);
  if (!kernel.ok()) return kernel.status();
  job.kernel = kernel.value();
  auto range = parse_sweep_range(options.over);
  if (!range.ok()) return range.status();
  job.range = std::move(range).value();
  const bool given = !options.problem.empty();
  auto base = parse_given(given ? options.problem : kUsualProblem, library);
  if (!base.ok()) return base.status();
  job.base = properties::to_text(base.value().value);
  if (!given) job.base.tiling = job.kernel->preferred_tiling(job.base.problem);
  if (!options.seed.empty()) {
    const auto seed = parse_seed(options.seed);
    if (!seed.ok()) return seed.status();
    job.base.values.seed = seed.value();
  }
  for (const std::string& name : options.dtypes) {
    const auto dtype = dtype_from_string(name);
    if (!dtype) return invalid_argument("unknown dtype '" + name + "' (attest list dtypes)");
    job.dtypes.push_back(*dtype);
  }
  if (!job.dtypes.empty() && job.range.over == SweepOver::dtype)
    return invalid_argument("--dtype and --over dtype= say the same thing; use one of them");
  if (job.dtypes.empty()) job.dtypes.push_back(job.base.problem.dtype);
  job.base.problem.dtype = job.dtypes.front();
  if (job.cases > 1 && job.base.values.kind == ValueRecipe::Kind::literal)
    return invalid_argument("vals=lit: has one case only: --cases 1");
  return job;
}

void show_progress(const std::string& text) {
  if (isatty(STDERR_FILENO) == 0) return;
  fmt::print(stderr, "\r\x1b[K{}", text);
  std::fflush(stderr);
}

int exit_code(const reports::SweepReport& report) {
  bool measured = false;
  for (const reports::SweepPoint& point : report.points) {
    if (point.violations > 0) return violation;
    measured = measured || point.reason.empty();
  }
  return measured && !report.interrupted ? all_good : undecided;
}

}  // namespace

int sweep_command(const SweepOptions& options) {
  const auto library = open_tensors(options.tensors);
  if (!library.ok()) return usage(library.status().message());
  const auto planned = plan_sweep(options, library.value().get());
  if (!planned.ok()) return usage(planned.status().message());
  SweepJob job = planned.value();
  const auto problems = sweep_problems(job);
  if (!problems.ok()) return usage(problems.status().message());
  const auto folder = make_run_folder(options.out);
  if (!folder.ok()) return usage(folder.status().message());
  reports::RunHeader header = run_header("sweep", {job.kernel}, {});
  header.seed = job.base.values.seed;
  header.jobs = job.jobs;
  auto lines = RunStream::open(folder.value(), header);
  if (!lines.ok()) return usage(lines.status().message());
  job.stop = &watch_for_interruption();

  reports::SweepReport report;
  report.kernel = job.kernel->description().name;
  report.over = to_string(job.range.over);
  report.base = minimal_text(job.base);
  report.seed = job.base.values.seed;
  report.environment = environment();
  const auto begin = std::chrono::steady_clock::now();
  for (const auto& [value, problem] : problems.value()) {
    show_progress(fmt::format("{}={}", report.over, value.text));
    const auto point = measure_point(job, value, problem);
    if (!point.ok()) {
      show_progress("");
      usage(point.status().message());
      return point.status().code() == StatusCode::kernel_failed ? kernel_crashed : usage_error;
    }
    report.interrupted = !point.value();
    if (report.interrupted) break;
    report.points.push_back(*point.value());
    lines.value().add(report, report.points.back());
    if (!lines.value().status().ok()) return usage(lines.value().status().message());
  }
  show_progress("");
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const reports::RunHistory history =
      history_of(lines.value().finish({report.interrupted, report.seconds, {}, {}}));
  if (!lines.value().status().ok()) return usage(lines.value().status().message());
  fmt::print("{}", render_sweep_text(report));
  if (Status status = write_file(folder.value() / "sweep.csv", render_sweep_csv(report));
      !status.ok())
    return usage(status.message());
  if (Status status = write_file(folder.value() / "report.html", render_run_html(history));
      !status.ok())
    return usage(status.message());
  fmt::print("wrote {}\n", folder.value().string());
  return exit_code(report);
}

}  // namespace attest::cli
