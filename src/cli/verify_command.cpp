#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <utility>

#include "cli/case_result.hpp"
#include "cli/case_store.hpp"
#include "cli/case_text.hpp"
#include "cli/commands.hpp"
#include "cli/environment.hpp"
#include "cli/file_output.hpp"
#include "cli/inputs.hpp"
#include "cli/measurements.hpp"
#include "cli/run_formats.hpp"
#include "cli/run_output.hpp"
#include "cli/run_stream.hpp"
#include "cli/verify_job.hpp"
#include "reports/numbers.hpp"
#include "reports/report_tables.hpp"
#include "reports/table.hpp"

namespace attest::cli {
namespace {

/// Longer literal lines are not printed: the dump itself is what replays.
constexpr std::size_t kMaxReplayLine = 2048;

Result<ProblemText> problem_of(const DumpFiles& files) {
  if (files.problem.empty()) {
    std::string shapes;
    for (const std::string& text : possible_problems(files))
      shapes += (shapes.empty() ? "" : " or ") + shell_quoted(text);
    return invalid_argument(
        files.label + " has no problem text: say it with --problem" +
        (shapes.empty()
             ? std::string(" TEXT")
             : "; the shapes fit " + shapes + ", plus mask=, scale= and what else was computed"));
  }
  ProblemText text;
  TextError error;
  if (parse_problem_text(files.problem, text, error)) return text;
  return invalid_argument("cannot use the problem of " + files.problem_source + ":\n" +
                          with_caret(files.problem, error));
}

/// Whether the text says a tile size, and not only has the usual one.
bool says_tile(const std::string& text) {
  return (" " + text).find(" tile=") != std::string::npos;
}

Result<AssumedAccuracy> assumed_accuracy(const VerifyOptions& options, const DumpFiles& files,
                                         const ProblemText& text) {
  AssumedAccuracy assumed = usual_accuracy(text.problem);
  const auto read = [](const char* option, const std::string& word) -> Result<Dtype> {
    if (const auto dtype = dtype_from_string(word)) return *dtype;
    return invalid_argument(
        fmt::format("{} takes a dtype (attest list dtypes), got '{}'", option, word));
  };
  if (!options.accumulators.empty()) {
    const auto dtype = read("--acc", options.accumulators);
    if (!dtype.ok()) return dtype.status();
    if (is_fp8(dtype.value())) return invalid_argument("--acc takes f64, f32, f16 or bf16");
    assumed.accumulators = dtype.value();
    if (dtype.value() == Dtype::f64 && text.problem.compute_dtype() == Dtype::f32 &&
        files.find("lse") != nullptr)
      return invalid_argument("--acc f64: the lse of this problem is f32");
  }
  if (!options.weights.empty()) {
    const auto dtype = read("--p", options.weights);
    if (!dtype.ok()) return dtype.status();
    assumed.weights = dtype.value();
  }
  assumed.exp_ulp = options.exp_ulp;
  if (says_tile(files.problem)) assumed.tile_kv = text.tiling.tile_kv;
  return assumed;
}

/// What half of the errors are within.
std::string median_text(const ErrorStatistics& errors) {
  std::int64_t below = 0;
  for (int bin = 0; bin < ErrorStatistics::kBins; ++bin) {
    below += errors.histogram[static_cast<std::size_t>(bin)];
    if (2 * below >= errors.measured()) return fmt::format("<= {:g}", errors.upper_edge(bin));
  }
  return "-";
}

std::string table_text(const VerifyReport& report) {
  using Kind = reports::Column::Kind;
  reports::Table table;
  table.columns = {
      {"tensor", Kind::text},       {"verdict", Kind::text},     {"rows", Kind::number},
      {"wrong", Kind::number},      {"values", Kind::number},    {"worst error", Kind::ratio},
      {"of bound", Kind::ratio},    {"ulp median", Kind::ratio}, {"ulp max", Kind::ratio},
      {"> probable", Kind::number}, {"at", Kind::text}};
  for (const VerifiedTensor& one : report.tensors) {
    const Verdict& verdict = one.verdict;
    const auto number = [](Index count) { return fmt::format("{}", count); };
    const bool measured = verdict.statistics && verdict.statistics->measured() > 0;
    const auto& witness = verdict.witness;
    table.rows.push_back({one.tensor, std::string(to_string(verdict.outcome)),
                          number(verdict.rows_checked), number(verdict.rows_wrong),
                          number(verdict.values_compared),
                          witness ? reports::magnitude_text(witness->error) : "-",
                          reports::ratio_text(verdict.worst_ratio),
                          measured ? median_text(*verdict.statistics) : "-",
                          measured ? fmt::format("{:.3g}", verdict.statistics->largest) : "-",
                          one.tensor == "out" ? number(verdict.beyond_probable) : "-",
                          witness ? reports::witness_element(*witness) : "-"});
  }
  return reports::text_of(table);
}

std::string replay_hint(const properties::Case& on, const std::string& law,
                        const std::filesystem::path& saved) {
  if (!saved.empty())
    return fmt::format("  saved     {}\n  replay    attest replay KERNEL {}\n", saved.string(),
                       shell_quoted(saved.string()));
  const std::string line = minimal_text(properties::to_text(on, law));
  if (line.size() > kMaxReplayLine) return {};
  return fmt::format("  replay    attest replay KERNEL {}\n", shell_quoted(line));
}

struct Ending {
  std::string word;
  int code = all_good;
};

Ending ending(const VerifyReport& report) {
  Index checked = 0;
  bool open = false;
  for (const VerifiedTensor& one : report.tensors) {
    const Outcome outcome = one.verdict.outcome;
    if (is_violation(outcome)) return {"FAILED", violation};
    checked += outcome == Outcome::ok ? 1 : 0;
    open = open || outcome == Outcome::weak || outcome == Outcome::unproven;
  }
  return open || checked == 0 ? Ending{"UNDECIDED", undecided} : Ending{"PASSED", all_good};
}

std::string last_line(const VerifyReport& report, const Ending& end) {
  const auto count = [&](auto&& is) {
    return std::count_if(report.tensors.begin(), report.tensors.end(),
                         [&](const VerifiedTensor& one) { return is(one.verdict.outcome); });
  };
  std::string line = fmt::format(
      "{}  {} of {} right", end.word, count([](Outcome outcome) { return outcome == Outcome::ok; }),
      reports::count_text(static_cast<Index>(report.tensors.size()), "tensor"));
  if (const auto wrong = count(is_violation); wrong > 0) line += fmt::format(", {} wrong", wrong);
  if (report.rows < report.of_rows)
    line += fmt::format("; {} of {} rows were judged", report.rows, report.of_rows);
  return line + "\n";
}

/// One run over the tensors of a dump: its text, as it comes, and its lines.
class Verification {
 public:
  Verification(const VerifyJob& job, RunStream& lines, std::filesystem::path cases, bool prints)
      : job_(job), lines_(lines), cases_(std::move(cases)), prints_(prints) {}

  void say(const std::string& text) {
    text_ += text;
    if (!prints_) return;
    fmt::print("{}", text);
    std::fflush(stdout);
  }

  /// Fails only when a file cannot be written.
  Result<Ending> run() {
    const auto begin = std::chrono::steady_clock::now();
    const VerifyReport report = run_verify(job_);
    say("\n" + table_text(report));
    for (const VerifiedTensor& one : report.tensors)
      if (Status status = add(one); !status.ok()) return status;
    const Ending end = ending(report);
    say("\n" + last_line(report, end));
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    reports::CheckReport check;
    check.kernel = job_.kernel_name();
    check.seconds = seconds_ = seconds.count();
    check.out_directory = cases_.parent_path().string();
    lines_.end_check(check);
    return end;
  }

  const std::string& text() const { return text_; }
  double seconds() const { return seconds_; }

 private:
  Status add(const VerifiedTensor& one) {
    const Outcome outcome = one.verdict.outcome;
    reports::CaseResult result =
        case_result(job_.kernel_name(), *one.law, job_.dump->value, one.verdict);
    result.acts_like = one.acts_like;
    // There is no kernel that could run again: the dump is what shows it.
    if (outcome != Outcome::skipped) result.replay = command_line();
    lines_.add(measured(result.kernel, *one.law, job_.dump->value.problem, one.verdict),
               result.kernel);
    if (!is_violation(outcome) && outcome != Outcome::ok)
      say(fmt::format("{}: {}: {}\n", one.tensor, to_string(outcome), one.verdict.reason));
    lines_.add(result);
    return is_violation(outcome) ? show(std::move(result)) : Status{};
  }

  /// The block of a violation, and how to run another kernel on the case.
  Status show(reports::CaseResult found) {
    reports::Violation violation;
    if (!cases_.empty()) {
      const auto path =
          save_case(cases_, {found.kernel, found.law, 0, found.verdict, job_.dump->value});
      if (!path.ok()) return path.status();
      violation.saved = path.value().string();
    }
    say("\n" + render_found_text(found) +
        replay_hint(job_.dump->value, found.law, violation.saved));
    violation.found = std::move(found);
    lines_.add(std::move(violation));
    return {};
  }

  const VerifyJob& job_;
  RunStream& lines_;
  std::filesystem::path cases_;  ///< folder to save in; empty: nothing is saved
  bool prints_ = true;
  std::string text_;
  double seconds_ = 0;
};

reports::RunHeader header_of(const VerifyJob& job, const VerifyOptions& options) {
  const DumpKernel kernel(job.kernel_name(), *job.dump, job.assumed);
  std::vector<const properties::Law*> laws;
  for (const properties::Law& law : properties::laws())
    if (law.name.starts_with("bound.") || law.name.starts_with("gradient.d")) laws.push_back(&law);
  reports::RunHeader header = run_header("check", {&kernel}, laws);
  header.kernels.front().declares = to_text(job.assumed);
  header.kernels.front().source = options.dump.front();
  header.jobs = job.jobs;
  return header;
}

/// Where the run is kept; empty: nowhere.
Result<std::filesystem::path> folder_of(const VerifyOptions& options) {
  if (options.out.empty() && options.formats.empty()) return std::filesystem::path{};
  return make_run_folder(options.out);
}

}  // namespace

int verify_command(const VerifyOptions& options) {
  const auto files = read_dump(options.dump, options.problem);
  if (!files.ok()) return usage(files.status().message());
  const auto text = problem_of(files.value());
  if (!text.ok()) return usage(text.status().message());
  const auto dump = make_dump(files.value(), text.value());
  if (!dump.ok()) return usage(dump.status().message());
  const auto assumed = assumed_accuracy(options, files.value(), text.value());
  if (!assumed.ok()) return usage(assumed.status().message());
  VerifyJob job{&dump.value(), assumed.value(), files.value().label, options.rows,
                resolve_jobs(options.jobs)};
  const auto formats = parse_formats(options.formats);
  if (!formats.ok()) return usage(formats.status().message());
  const auto folder = folder_of(options);
  if (!folder.ok()) return usage(folder.status().message());
  auto lines = RunStream::open(folder.value(), header_of(job, options));
  if (!lines.ok()) return usage(lines.status().message());

  std::filesystem::path cases = options.save;
  if (cases.empty() && !folder.value().empty()) cases = folder.value() / "cases";
  Verification verification(job, lines.value(), cases, prints_text(formats.value()));
  verification.say(fmt::format("problem  {}  ({})\nassumes  {}\n", problem_text(dump.value().value),
                               files.value().problem_source, to_text(job.assumed)));
  for (const std::string& note : dump.value().notes)
    verification.say(fmt::format("note     {}\n", note));
  const Result<Ending> end = verification.run();
  if (!end.ok()) return usage(end.status().message());
  EndedRun ended{history_of(lines.value().finish({false, verification.seconds(), {}, {}})),
                 folder.value(), verification.text()};
  if (!lines.value().status().ok()) return usage(lines.value().status().message());
  if (folder.value().empty()) return end.value().code;
  if (Status status = write_pages(ended); !status.ok()) return usage(status.message());
  if (Status status = write_formats(ended, formats.value()); !status.ok())
    return usage(status.message());
  return end.value().code;
}

}  // namespace attest::cli
