#include "cli/check_run.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <string_view>

#include "cli/case_result.hpp"
#include "cli/case_store.hpp"
#include "cli/case_text.hpp"
#include "cli/measurements.hpp"
#include "properties/diagnosis.hpp"
#include "properties/shrink.hpp"

namespace attest::cli {
namespace {

/// Longer replay lines of literal cases are kept for violations only.
constexpr std::size_t kLiteralReplay = 1024;

using properties::AfterCase;
using properties::CheckedCase;

class Session {
 public:
  Session(const CheckRun& run, RunStream& lines)
      : run_(run), lines_(lines), name_(run.kernel->description().name), measuring_(*run.kernel) {
    if (run.ledger != nullptr) ledger_.emplace(*run.ledger, name_);
  }

  AfterCase take(CheckedCase&& checked) {
    show_progress(checked);
    for (const std::string& name : properties::classes(checked.value))
      if (checked.seed != 0) ++class_counts_[name];
    if (checked.seed != 0) ++drawn_;
    if (law_ != checked.law->name) lines_.add(measuring_.take_found(), name_);
    law_ = checked.law->name;
    ++laws_seen_[law_];
    if (ledger_) ledger_->judge(*checked.law, checked.value, checked.verdict, checked.of);
    const bool violated = is_violation(checked.verdict.outcome);
    reports::CaseResult result = to_result(checked.value, checked, checked.verdict);
    // What is measured is not about known failures.
    if (checked.verdict.outcome != Outcome::known) measuring_.take(checked);
    if (violated) result.acts_like = acts_like({checked.value}, *checked.law, checked.verdict);
    lines_.add(result);
    // A run whose results cannot be kept is not worth going on with.
    if (lost()) return AfterCase::stop_run;
    if (!violated) return AfterCase::next;
    clear_progress();
    explain(std::move(result), checked);
    if (ledger_ && checked.number + 1 < checked.of) ledger_->leave(*checked.law);
    return lost() ? AfterCase::stop_run : AfterCase::leave_law;
  }

  Result<reports::CheckReport> finish(bool complete, double seconds) {
    clear_progress();
    // A time limit is a choice; but a law that it left without any case was not checked.
    const bool stopped = run_.plan.stop != nullptr && *run_.plan.stop;
    if (!stopped) measuring_.map_worst();
    if (complete && bit_cases() > 0) measuring_.count_bits(run_.plan, bit_cases());
    lines_.add(measuring_.take_found(), name_);
    reports::CheckReport end;
    if (ledger_) {
      // A part of the cases does not say that none fails.
      const bool all = complete && run_.plan.shard.count == 1;
      if (all) report_unexpected_passes();
      end.ledger = ledger_->lines(all);
    }
    end.kernel = name_;
    end.interrupted = !complete && (stopped || laws_seen_.size() < run_.plan.laws.size());
    end.seconds = seconds;
    end.distribution = distribution();
    end.out_directory = run_.out.string();
    lines_.end_check(end);
    if (!lines_.status().ok()) return lines_.status();
    if (!lost_.empty()) return Status{StatusCode::io_error, "cannot write " + lost_.string()};
    return lines_.check_of(name_);
  }

 private:
  void report_unexpected_passes() {
    for (const UnexpectedPass& pass : ledger_->unexpected_passes()) {
      CheckedCase shown;
      shown.law = pass.law;
      shown.number = pass.number;
      reports::CaseResult result =
          to_result(pass.first, shown, Verdict::of(Outcome::xpass, pass.reason));
      say(render_found_text(result) + "\n");
      lines_.add(std::move(result));
    }
  }

  /// Of a run that asks the question at all.
  Index bit_cases() const {
    return std::any_of(
               run_.plan.laws.begin(), run_.plan.laws.end(),
               [](const auto* law) { return law->check == properties::contract_repeat_bits; })
               ? run_.bit_cases
               : 0;
  }

  bool lost() const { return !lost_.empty() || !lines_.status().ok(); }

  reports::CaseResult to_result(const properties::Case& of, const CheckedCase& checked,
                                const Verdict& verdict) const {
    reports::CaseResult result = case_result(name_, *checked.law, of, verdict);
    result.number = checked.number;
    result.seconds = checked.seconds;
    result.seed = run_.plan.seed;
    if (verdict.outcome == Outcome::skipped) return result;
    result.replay = replay_command_line(*run_.kernel, of, checked.law->name, {});
    const bool literal = of.values.kind == ValueRecipe::Kind::literal;
    if (literal && !is_violation(verdict.outcome) && result.replay.size() > kLiteralReplay)
      result.replay.clear();
    return result;
  }

  std::string acts_like(const std::vector<properties::Case>& cases, const properties::Law& law,
                        const Verdict& verdict) const {
    if (gave_no_results(verdict.outcome)) return {};
    return properties::acts_like(properties::explain(*run_.kernel, law, cases));
  }

  void explain(reports::CaseResult found, const CheckedCase& checked) {
    say(render_found_text(found));
    properties::Shrunk shrunk = properties::shrink(*run_.kernel, *checked.law, checked.value,
                                                   checked.verdict, run_.shrink_time);
    reports::Violation violation;
    violation.found = std::move(found);
    violation.shrunk = to_result(shrunk.smallest, checked, shrunk.verdict);
    violation.shrunk.acts_like =
        acts_like({shrunk.smallest, checked.value}, *checked.law, shrunk.verdict);
    violation.values = values_text(shrunk.smallest);
    violation.shrink_tries = shrunk.tried;
    violation.shrink_kept = shrunk.kept;
    violation.shrink_finished = shrunk.finished;
    std::filesystem::path saved;
    if (!run_.out.empty()) {
      const auto path = save_case(
          run_.out / "cases",
          {name_, std::string(checked.law->name), run_.plan.seed, shrunk.verdict, shrunk.smallest});
      if (path.ok()) saved = path.value();
      if (!path.ok()) lost_ = run_.out / "cases";
    }
    violation.saved = saved.string();
    violation.shrunk.replay =
        replay_command_line(*run_.kernel, shrunk.smallest, checked.law->name, saved);
    say(render_shrunk_text(violation) + "\n");
    lines_.add(std::move(violation));
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
  RunStream& lines_;
  std::string name_;
  Measuring measuring_;
  std::optional<LedgerCheck> ledger_;
  std::string_view law_;  ///< whose cases come now
  std::map<std::string_view, std::int64_t> laws_seen_;
  std::map<std::string, std::int64_t> class_counts_;
  std::int64_t drawn_ = 0;
  std::filesystem::path lost_;  ///< a file of a case that could not be written
};

}  // namespace

Result<reports::CheckReport> run_checks(const CheckRun& run, RunStream& lines) {
  Session session(run, lines);
  const auto begin = std::chrono::steady_clock::now();
  const bool complete = properties::run_check(*run.kernel, run.plan, [&](CheckedCase&& checked) {
    return session.take(std::move(checked));
  });
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  return session.finish(complete, seconds.count());
}

}  // namespace attest::cli
