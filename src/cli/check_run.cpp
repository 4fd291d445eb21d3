#include "cli/check_run.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>

#include "cli/case_store.hpp"
#include "cli/case_text.hpp"
#include "cli/declares.hpp"
#include "cli/environment.hpp"
#include "cli/measurements.hpp"
#include "properties/shrink.hpp"

namespace attest::cli {
namespace {

using properties::AfterCase;
using properties::CheckedCase;

class Session {
 public:
  explicit Session(const CheckRun& run) : run_(run), measuring_(*run.kernel) {
    report_.kernel = run.kernel->description().name;
    report_.declares = declares_text(*run.kernel);
    report_.seed = run.plan.seed;
    report_.tier = run.tier;
    report_.jobs = run.plan.jobs;
    report_.environment = environment();
    report_.out_directory = run.out.string();
  }

  Status open() {
    if (run_.out.empty()) return {};
    Result<LineFile> file = LineFile::create(run_.out / "run.jsonl");
    if (!file.ok()) return file.status();
    lines_.emplace(std::move(file).value());
    return append(render_environment_jsonl(report_));
  }

  AfterCase take(CheckedCase&& checked) {
    show_progress(checked);
    for (const std::string& name : properties::classes(checked.value))
      if (checked.seed != 0) ++class_counts_[name];
    if (checked.seed != 0) ++drawn_;
    const bool violated = is_violation(checked.verdict.outcome);
    reports::CaseResult result = to_result(checked.value, checked, checked.verdict);
    count(result);
    measuring_.take(checked);
    if (!append(render_case_jsonl(result)).ok()) lose(run_.out / "run.jsonl");
    // A run whose results cannot be kept is not worth going on with.
    if (!lost_.empty()) return AfterCase::stop_run;
    if (!violated) return AfterCase::next;
    clear_progress();
    explain(std::move(result), checked);
    return lost_.empty() ? AfterCase::leave_law : AfterCase::stop_run;
  }

  Result<reports::CheckReport> finish(bool complete, double seconds) {
    clear_progress();
    // A time limit is a choice; but a law that it left without any case was not checked.
    const bool stopped = run_.plan.stop != nullptr && *run_.plan.stop;
    report_.interrupted = !complete && (stopped || report_.laws.size() < run_.plan.laws.size());
    if (!stopped) measuring_.map_worst();
    if (complete && bit_cases() > 0) measuring_.count_bits(run_.plan, bit_cases());
    report_.measured = measuring_.found();
    report_.seconds = seconds;
    report_.distribution = distribution();
    if (lost_.empty() && !append(render_summary_jsonl(report_)).ok()) lose(run_.out / "run.jsonl");
    if (!lost_.empty()) return Status{StatusCode::io_error, "cannot write " + lost_.string()};
    return std::move(report_);
  }

 private:
  /// Of a run that asks the question at all.
  Index bit_cases() const {
    return std::any_of(
               run_.plan.laws.begin(), run_.plan.laws.end(),
               [](const auto* law) { return law->check == properties::contract_repeat_bits; })
               ? run_.bit_cases
               : 0;
  }

  Status append(const std::string& line) {
    if (!lines_ || lines_->append(line)) return {};
    return {StatusCode::io_error, "cannot write " + (run_.out / "run.jsonl").string()};
  }

  void lose(const std::filesystem::path& file) {
    if (lost_.empty()) lost_ = file;
  }

  reports::CaseResult to_result(const properties::Case& of, const CheckedCase& checked,
                                const Verdict& verdict) const {
    reports::CaseResult result;
    result.law = checked.law->name;
    result.number = checked.number;
    // Literal values belong into the replay line; a problem is recognised by its shape.
    result.problem = problem_text(of);
    result.verdict = verdict;
    result.seconds = checked.seconds;
    result.seed = run_.plan.seed;
    if (is_violation(verdict.outcome))
      result.replay = replay_command_line(*run_.kernel, of, checked.law->name, {});
    return result;
  }

  void count(const reports::CaseResult& result) {
    if (report_.laws.empty() || report_.laws.back().law != result.law)
      report_.laws.emplace_back().law = result.law;
    reports::LawRow& row = report_.laws.back();
    ++row.cases;
    switch (result.verdict.outcome) {
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
        ++row.violations;
        break;
    }
    row.values += result.verdict.values_compared;
    row.beyond_probable += result.verdict.beyond_probable;
    if (result.verdict.worst_ratio <= row.worst_ratio) return;
    row.worst_ratio = result.verdict.worst_ratio;
    row.worst_problem = result.problem;
  }

  void explain(reports::CaseResult found, const CheckedCase& checked) {
    say(render_found_text(found));
    properties::Shrunk shrunk = properties::shrink(*run_.kernel, *checked.law, checked.value,
                                                   checked.verdict, run_.shrink_time);
    reports::Violation violation;
    violation.found = std::move(found);
    violation.shrunk = to_result(shrunk.smallest, checked, shrunk.verdict);
    violation.values = values_text(shrunk.smallest);
    violation.shrink_tries = shrunk.tried;
    violation.shrink_kept = shrunk.kept;
    violation.shrink_finished = shrunk.finished;
    std::filesystem::path saved;
    if (!run_.out.empty()) {
      const auto path =
          save_case(run_.out / "cases", {report_.kernel, std::string(checked.law->name),
                                         run_.plan.seed, shrunk.verdict, shrunk.smallest});
      if (path.ok()) saved = path.value();
      if (!path.ok()) lose(run_.out / "cases");
    }
    violation.saved = saved.string();
    violation.shrunk.replay =
        replay_command_line(*run_.kernel, shrunk.smallest, checked.law->name, saved);
    say(render_shrunk_text(violation) + "\n");
    report_.violations.push_back(std::move(violation));
  }

  void say(const std::string& text) const {
    if (run_.print) run_.print(text);
  }

  void show_progress(const CheckedCase& checked) {
    if (!run_.progress) return;
    fmt::print(stderr, "\r\x1b[K{}  {}/{}", checked.law->name, checked.number + 1, checked.of);
    std::fflush(stderr);
  }
  void clear_progress() const {
    if (!run_.progress) return;
    fmt::print(stderr, "\r\x1b[K");
    std::fflush(stderr);
  }

  std::string distribution() const {
    std::string line;
    for (const auto& [name, times] : class_counts_)
      line += fmt::format("{}{} {} %", line.empty() ? "" : " | ", name,
                          (100 * times + drawn_ / 2) / drawn_);
    return line;
  }

  const CheckRun& run_;
  reports::CheckReport report_;
  Measuring measuring_;
  std::optional<LineFile> lines_;
  std::map<std::string, std::int64_t> class_counts_;
  std::int64_t drawn_ = 0;
  std::filesystem::path lost_;  ///< the first file that could not be written
};

}  // namespace

Result<reports::CheckReport> run_checks(const CheckRun& run) {
  Session session(run);
  if (Status status = session.open(); !status.ok()) return status;
  const auto begin = std::chrono::steady_clock::now();
  const bool complete = properties::run_check(*run.kernel, run.plan, [&](CheckedCase&& checked) {
    return session.take(std::move(checked));
  });
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  return session.finish(complete, seconds.count());
}

}  // namespace attest::cli
