#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>

#include "cli/check_run.hpp"
#include "cli/commands.hpp"
#include "cli/declares.hpp"
#include "cli/inputs.hpp"
#include "cli/interruption.hpp"
#include "cli/worst_store.hpp"

namespace attest::cli {
namespace {

struct Tier {
  std::int64_t cases = 0;      ///< a law
  std::int64_t bit_cases = 0;  ///< a dtype
};

const std::map<std::string, Tier> kTiers{
    {"smoke", {20, 0}}, {"ci", {200, 40}}, {"nightly", {5000, 400}}};

struct Format {
  std::string name;
  std::string file;  ///< empty: standard output
};

Result<std::vector<Format>> parse_formats(const std::vector<std::string>& texts) {
  std::vector<Format> formats;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    Format format{text.substr(0, equals),
                  equals == std::string::npos ? "" : text.substr(equals + 1)};
    if (format.name != "text" && format.name != "jsonl" && format.name != "md" &&
        format.name != "junit")
      return invalid_argument("unknown format '" + format.name +
                              "'; known: text, jsonl, md, junit, each also as NAME=FILE");
    if (equals != std::string::npos && format.file.empty())
      return invalid_argument("--format " + format.name + "= needs a file name");
    formats.push_back(std::move(format));
  }
  return formats;
}

Result<std::string> render(const std::string& format, const reports::CheckReport& report,
                           const std::string& printed) {
  if (format == "md") return render_check_markdown(report);
  if (format == "junit") return render_check_junit(report);
  if (format == "text") return printed + render_check_text(report);
  std::ifstream stream(std::filesystem::path(report.out_directory) / "run.jsonl");
  return std::string(std::istreambuf_iterator<char>(stream), {});
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
  const auto tier = kTiers.find(options.tier);
  if (tier == kTiers.end())
    return invalid_argument("unknown tier '" + options.tier + "'; known: smoke, ci, nightly");
  run.tier = options.tier;
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
  run.plan.drawn_cases = options.cases >= 0 ? options.cases : only_given ? 0 : tier->second.cases;
  run.bit_cases = only_given ? 0 : tier->second.bit_cases;
  run.plan.limits = properties::limits_for(*run.kernel, library);
  run.plan.jobs = resolve_jobs(options.jobs);
  run.shrink_time = options.shrink_time;
  return run;
}

int exit_code(const reports::CheckReport& report) {
  for (const reports::Violation& violation : report.violations)
    if (violation.found.verdict.outcome == Outcome::crash) return kernel_crashed;
  switch (reports::run_outcome(report)) {
    case reports::RunOutcome::violated:
      return violation;
    case reports::RunOutcome::undecided:
      return undecided;
    case reports::RunOutcome::passed:
      break;
  }
  return all_good;
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
  const auto folder = make_run_folder(options.out);
  if (!folder.ok()) return usage(folder.status().message());
  run.out = folder.value();

  const auto to_terminal = [&](const std::string& name) {
    return std::any_of(formats.value().begin(), formats.value().end(), [&](const Format& format) {
      return format.file.empty() && (name.empty() || format.name == name);
    });
  };
  const bool text_to_terminal = to_terminal("text") || !to_terminal("");
  std::string printed;
  run.print = [&](const std::string& text) {
    printed += text;
    if (text_to_terminal) fmt::print("{}", text), std::fflush(stdout);
  };
  run.progress = isatty(STDERR_FILENO) != 0;
  run.print(fmt::format("attest {}  kernel {} {}  {} jobs  seed 0x{:X}  tier {}\ndeclares  {}\n\n",
                        ATTEST_VERSION, run.kernel->description().name,
                        run.kernel->description().version, run.plan.jobs, run.plan.seed, run.tier,
                        declares_text(*run.kernel)));
  if (options.time > 0)
    run.plan.deadline = std::chrono::steady_clock::now() +
                        std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                            std::chrono::duration<double>(options.time));
  run.plan.stop = &watch_for_interruption();

  const auto result = run_checks(run);
  if (!result.ok()) return usage(result.status().message());
  const reports::CheckReport& report = result.value();
  if (Status status = write_file(run.out / "summary.md", render_check_markdown(report));
      !status.ok())
    return usage(status.message());
  if (text_to_terminal) fmt::print("{}", render_check_text(report));
  for (const Format& format : formats.value()) {
    if (format.name == "text" && format.file.empty()) continue;
    const auto text = render(format.name, report, printed);
    if (format.file.empty())
      fmt::print("{}", text.value());
    else if (Status status = write_file(format.file, text.value()); !status.ok())
      return usage(status.message());
  }
  return exit_code(report);
}

}  // namespace attest::cli
