#include "cli/climb_run.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <utility>

#include "cli/case_text.hpp"
#include "reports/numbers.hpp"

namespace attest::cli {
namespace {

using Clock = std::chrono::steady_clock;
using properties::Climb;
using properties::Climbed;
using properties::ClimbPlan;
using properties::RandomKind;
using properties::RandomTesting;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// A line that is rewritten on a terminal, and one in ten seconds elsewhere.
class Progress {
 public:
  void show(const ClimbRow& row) {
    const double between = is_terminal_ ? 0.2 : 10;
    if (seconds_since(shown_) < between) return;
    shown_ = Clock::now();
    print(row, is_terminal_ ? "" : "\n");
  }
  void end(const ClimbRow& row) { print(row, "\n"); }

 private:
  void print(const ClimbRow& row, const char* end) const {
    fmt::print(stderr, "{}{} {}  {} evaluations  {}  worst err/bound {}{}",
               is_terminal_ ? "\r\x1b[K" : "", row.law->name, to_string(row.dtype), row.evaluations,
               reports::seconds_text(row.seconds),
               row.best ? reports::ratio_text(row.best->ratio) : "-", end);
    std::fflush(stderr);
  }

  bool is_terminal_ = ::isatty(STDERR_FILENO) != 0;
  Clock::time_point shown_ = Clock::now();
};

class Target {
 public:
  Target(const ClimbRun& run, const WorstStore& store, ClimbPlan plan)
      : run_(run), store_(store), plan_(std::move(plan)) {
    row_.law = plan_.law;
    row_.dtype = plan_.dtype;
  }

  /// Climbs for that long at most, and then counts what random cases reach.
  Status run(double seconds, Progress& progress) {
    std::optional<Climbed> start;
    if (Status status = load(start); !status.ok()) return status;
    if (violation_) return {};
    Climb climb(plan_, start, same_search_ ? spent_before_ : 0);
    const Index before = climb.evaluations();
    double kept = start ? start->ratio : 0;
    const auto begin = Clock::now();
    const auto out_of_time = [&] {
      return *run_.stop || (seconds > 0 && seconds_since(begin) >= seconds);
    };
    const Index limit =
        run_.evaluations > 0 ? run_.evaluations : std::numeric_limits<Index>::max() / 2;
    bool goes_on = true;
    while (goes_on && row_.evaluations < limit && !out_of_time()) {
      goes_on = climb.run_round(limit - row_.evaluations, run_.jobs, out_of_time);
      row_.evaluations = climb.evaluations() - before;
      row_.seconds = seconds_since(begin);
      row_.best = climb.best();
      progress.show(row_);
      if (!row_.best || row_.best->ratio <= kept) continue;
      kept = row_.best->ratio;
      if (Status status = save(climb.evaluations()); !status.ok()) return status;
    }
    violation_ = climb.violation();
    progress.end(row_);
    // Whoever goes on with this search must know how far it came.
    if (row_.best) {
      if (Status status = save(climb.evaluations()); !status.ok()) return status;
    }
    if (run_.compare_random && !violation_ && !*run_.stop) compare_with_random();
    return {};
  }

  ClimbRow& row() { return row_; }
  const std::optional<properties::ClimbViolation>& violation() const { return violation_; }

 private:
  WorstKey key() const {
    return {plan_.kernel->description().name, std::string(plan_.law->name), plan_.dtype};
  }

  /// What this climb searches; with the seed it says which search this is.
  std::string among() const {
    return plan_.shape ? problem_text(*plan_.shape)
                       : fmt::format("at most {} keys", plan_.max_keys);
  }

  /// The stored best, judged again: the kernel may be another build. It is a start only for a
  /// search that could have found it; the others compete with it.
  Status load(std::optional<Climbed>& start) {
    Result<std::optional<LoadedCase>> loaded = store_.load(key());
    if (!loaded.ok()) return loaded.status();
    if (!loaded.value() || !loaded.value()->stored.search) return {};
    auto [path, stored] = std::move(*std::move(loaded).value());
    const SearchRecord search = stored.search.value_or(SearchRecord{});
    stored_ratio_ = search.ratio;
    if (plan_.shape || stored.value.problem.seq_kv > plan_.max_keys) return {};
    Verdict verdict = properties::check_case(*plan_.kernel, *plan_.law, stored.value);
    if (is_violation(verdict.outcome))
      violation_ = properties::ClimbViolation{stored.value, verdict};
    same_search_ = stored.seed == plan_.seed && search.among == among();
    spent_before_ = search.evaluations;
    // What does not count any more gives way to anything.
    stored_ratio_ = verdict.outcome == Outcome::ok ? verdict.worst_ratio : 0;
    if (verdict.outcome != Outcome::ok) return {};
    start = Climbed{std::move(stored.value), verdict.worst_ratio, search.evaluation,
                    properties::Stage::stored};
    stored_stage_ = search.stage;
    row_.saved = std::move(path);
    return {};
  }

  /// A case of another search gives way only to a larger ratio, and keeps its seed and evaluations;
  /// of this one what was spent is written, too.
  Status save(Index evaluations) {
    const Climbed& best = *row_.best;
    if (!same_search_ && best.ratio <= stored_ratio_) return {};
    StoredCase stored{key().kernel, key().law, plan_.seed, {}, best.value};
    stored.verdict.worst_ratio = best.ratio;
    const bool is_old = best.stage == properties::Stage::stored;
    stored.search =
        SearchRecord{best.ratio, best.evaluation, evaluations,
                     is_old ? stored_stage_ : std::string(to_string(best.stage)), among()};
    const auto saved = store_.replace(key(), stored);
    if (!saved.ok()) return saved.status();
    row_.saved = saved.value();
    return {};
  }

  void compare_with_random() {
    const auto stopped = [this] { return run_.stop->load(); };
    for (auto [kind, ratio] : {std::pair{RandomKind::normal, &row_.random_normal},
                               std::pair{RandomKind::drawn, &row_.random_drawn}}) {
      RandomTesting random(plan_, kind);
      random.run(row_.evaluations, run_.jobs, stopped);
      *ratio = random.ratio();
      if (random.violation()) violation_ = random.violation();
    }
  }

  const ClimbRun& run_;
  const WorstStore& store_;
  ClimbPlan plan_;
  ClimbRow row_;
  std::optional<properties::ClimbViolation> violation_;
  double stored_ratio_ = 0;
  std::string stored_stage_;
  Index spent_before_ = 0;
  bool same_search_ = false;
};

}  // namespace

Result<ClimbReport> run_climb(const ClimbRun& run, const WorstStore& store) {
  ClimbReport report;
  Progress progress;
  double spent = 0;
  std::size_t left = run.laws.size() * run.dtypes.size();
  for (const properties::Law* const law : run.laws)
    for (const Dtype dtype : run.dtypes) {
      if (*run.stop || report.violation) break;
      // What one law leaves of its share is for those after it.
      const double share =
          run.seconds > 0 ? std::max(0.01, run.seconds - spent) / static_cast<double>(left) : 0;
      --left;
      Target target(run, store,
                    {run.kernel, law, dtype, run.seed, run.max_keys, nullptr, run.shape});
      if (Status status = target.run(share, progress); !status.ok()) return status;
      spent += target.row().seconds;
      if (target.violation()) {
        report.violation = target.violation();
        report.violated = law;
      }
      report.rows.push_back(std::move(target.row()));
    }
  report.interrupted = *run.stop;
  return report;
}

}  // namespace attest::cli
