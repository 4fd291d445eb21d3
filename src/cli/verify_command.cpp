#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <utility>

#include "cli/case_store.hpp"
#include "cli/case_text.hpp"
#include "cli/commands.hpp"
#include "cli/inputs.hpp"
#include "cli/run_output.hpp"
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

/// What a violation leaves to go on with: the block, and how to run another kernel on the case.
Status show_violation(const VerifiedTensor& found, const VerifyJob& job, const std::string& save) {
  const properties::Case& on = job.dump->value;
  reports::CaseResult result;
  result.law = found.law->name;
  result.problem = problem_text(on);
  result.verdict = found.verdict;
  result.acts_like = found.acts_like;
  fmt::print("\n{}", render_found_text(result));
  std::filesystem::path saved;
  if (!save.empty()) {
    const auto path = save_case(save, {"dump:" + job.name, result.law, 0, found.verdict, on});
    if (!path.ok()) return path.status();
    saved = path.value();
    fmt::print("  saved     {}\n  replay    attest replay KERNEL {}\n", saved.string(),
               shell_quoted(saved.string()));
    return {};
  }
  const std::string line = minimal_text(properties::to_text(on, result.law));
  if (line.size() <= kMaxReplayLine)
    fmt::print("  replay    attest replay KERNEL {}\n", shell_quoted(line));
  return {};
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

  fmt::print("problem  {}  ({})\nassumes  {}\n", problem_text(dump.value().value),
             files.value().problem_source, to_text(job.assumed));
  for (const std::string& note : dump.value().notes) fmt::print("note     {}\n", note);
  std::fflush(stdout);
  const VerifyReport report = run_verify(job);
  fmt::print("\n{}", table_text(report));
  for (const VerifiedTensor& one : report.tensors) {
    const Outcome outcome = one.verdict.outcome;
    if (is_violation(outcome)) {
      if (Status status = show_violation(one, job, options.save); !status.ok())
        return usage(status.message());
    } else if (outcome != Outcome::ok) {
      fmt::print("{}: {}: {}\n", one.tensor, to_string(outcome), one.verdict.reason);
    }
  }
  const Ending end = ending(report);
  fmt::print("\n{}", last_line(report, end));
  return end.code;
}

}  // namespace attest::cli
