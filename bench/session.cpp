#include "bench/session.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "bench/clock.hpp"
#include "bench/judge.hpp"
#include "bench/kernel_calls.hpp"
#include "bench/memory.hpp"

namespace attest::bench {
namespace {

/// A call that would take this many times the seconds given to all of its repetitions is left out.
constexpr double kTooSlow = 20;

/// Begins the reason of whoever computed something wrong.
const std::string kNoRow = "no row: ";

struct Entrant {
  Competitor competitor;
  std::unique_ptr<Call> call;
  double worst = 0;
  bool judged = false;
  double work_per_second = 0;  ///< on the small problem
};

using Entrants = std::vector<Entrant>;

/// Somebody without a row.
struct Absence {
  std::string who;
  std::string reason;
  Role role = Role::peer;
};
using Absences = std::vector<Absence>;

/// Leaves out those of which `why` says something.
template <class Why>
void leave_out(Entrants& entrants, Absences& absences, Why&& why) {
  std::erase_if(entrants, [&](Entrant& entrant) {
    const std::string reason = why(entrant);
    if (reason.empty()) return false;
    absences.push_back({entrant.competitor.name, reason, entrant.competitor.role});
    return true;
  });
}

/// Prepares and runs everybody once.
void warm_up(Entrants& entrants, const Workload& workload, const Inputs& inputs,
             Absences& absences) {
  leave_out(entrants, absences, [&](Entrant& entrant) -> std::string {
    auto prepared = entrant.competitor.prepare(workload, inputs);
    if (!prepared.ok()) return prepared.status().message();
    entrant.call = std::move(prepared.value());
    return entrant.call->run().message();
  });
}

/// Judges those that have something to be judged.
template <class Judge>
void judge(Entrants& entrants, Judge&& judge_them) {
  std::vector<Judged> judged;
  for (Entrant& entrant : entrants) {
    entrant.judged =
        entrant.competitor.role == Role::peer || entrant.competitor.role == Role::subject;
    if (entrant.judged) judged.push_back({&entrant.competitor, entrant.call.get(), entrant.worst});
  }
  judge_them(judged);
  for (Entrant& entrant : entrants)
    for (const Judged& each : judged)
      if (each.competitor == &entrant.competitor) entrant.worst = each.worst;
}

/// Other libraries may exceed a bound that they never declared.
void leave_out_wrong(Entrants& entrants, Absences& absences) {
  leave_out(entrants, absences, [](const Entrant& entrant) -> std::string {
    if (!entrant.judged) return {};
    if (!std::isfinite(entrant.worst)) return kNoRow + "not a number, or no bound";
    if (entrant.competitor.role == Role::subject && entrant.worst > 1)
      return kNoRow + fmt::format("error {:.3g} times its bound", entrant.worst);
    return {};
  });
}

/// Every row of a small problem of the same kind, and how long that takes.
void qualify(Entrants& entrants, const Workload& workload, Absences& absences) {
  const Workload small = small_like(workload);
  const Inputs inputs(small.problem);
  warm_up(entrants, small, inputs, absences);
  for (Entrant& entrant : entrants) {
    const double begin = thread_seconds();
    static_cast<void>(entrant.call->run().ok());  // it ran before
    entrant.work_per_second = entrant.call->work() / (thread_seconds() - begin);
  }
  judge(entrants, [&](std::vector<Judged>& judged) {
    if (workload.pass == Pass::backward)
      judge_gradients(small, inputs, judged);
    else
      judge_all_rows(small, inputs, judged);
  });
  leave_out_wrong(entrants, absences);
  for (Entrant& entrant : entrants) entrant.call.reset();
}

void leave_out_slow(Entrants& entrants, const Workload& workload, double seconds,
                    Absences& absences) {
  leave_out(entrants, absences, [&](const Entrant& entrant) -> std::string {
    const double expected = work_of(workload) / entrant.work_per_second;
    if (entrant.competitor.role == Role::limit || expected <= kTooSlow * seconds) return {};
    return fmt::format("left out, a call takes about {:.0f} s (more with --seconds)", expected);
  });
}

Row row_of(const Entrant& entrant, const std::vector<Repetition>& repetitions, bool by_wall) {
  std::vector<double> seconds;
  std::vector<double> wall;
  seconds.reserve(repetitions.size());
  wall.reserve(repetitions.size());
  for (const Repetition& repetition : repetitions) {
    seconds.push_back(by_wall ? repetition.wall : repetition.cpu);
    wall.push_back(repetition.wall);
  }
  const double work = entrant.call->work() * 1e-9;
  const Quartiles times = quartiles(seconds);
  Row row;
  row.competitor = entrant.competitor.name;
  row.role = entrant.competitor.role;
  row.rate = {work / times.high, work / times.median, work / times.low, work / times.least};
  row.wall_rate = work / quartiles(wall).median;
  row.seconds = times.median;
  row.repetitions = static_cast<int>(repetitions.size());
  if (entrant.judged) row.worst = entrant.worst;
  return row;
}

/// Shares of the limit with the same number of threads, and ratios to the best peer.
void compare(const Entrants& entrants, std::vector<Row>& rows) {
  double best_peer = 0;
  for (const Row& row : rows)
    if (row.role == Role::peer) best_peer = std::max(best_peer, row.rate.median);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t limit = 0; limit < rows.size(); ++limit)
      if (rows[limit].role == Role::limit &&
          entrants[limit].competitor.threads == entrants[i].competitor.threads)
        rows[i].share_of_limit = rows[i].rate.median / rows[limit].rate.median;
    if (best_peer > 0 && rows[i].role != Role::limit)
      rows[i].times_best_peer = rows[i].rate.median / best_peer;
  }
}

/// What a mask saves, what threads give: pairs of rows whose names differ by a suffix.
void note_ratios(const std::vector<Row>& rows, std::vector<std::string>& notes) {
  for (const Row& base : rows)
    for (const Row& other : rows) {
      if (!other.competitor.starts_with(base.competitor + ", ")) continue;
      const std::string suffix = other.competitor.substr(base.competitor.size() + 2);
      notes.push_back(suffix == kWithoutMask
                          ? fmt::format("{}: {:.1f} % of the time without the mask",
                                        base.competitor, base.seconds / other.seconds * 100)
                          : fmt::format("{}: {:.2f} times the rate with {}", base.competitor,
                                        other.rate.median / base.rate.median, suffix));
    }
}

/// Notes of the same text as one note.
std::vector<std::string> joined(const std::vector<Absence>& absences) {
  std::vector<Absence> found;
  for (const Absence& absence : absences) {
    const auto same = std::find_if(found.begin(), found.end(), [&](const Absence& each) {
      return each.reason == absence.reason;
    });
    if (same == found.end())
      found.push_back(absence);
    else
      same->who += "; " + absence.who;
  }
  std::vector<std::string> notes;
  for (const Absence& absence : found) notes.push_back(absence.who + ": " + absence.reason);
  return notes;
}

Entrants entrants_of(const Workload& workload, const Field& field) {
  Entrants entrants;
  for (Competitor& competitor : competitors(field, workload)) {
    entrants.emplace_back();
    entrants.back().competitor = std::move(competitor);
  }
  return entrants;
}

}  // namespace

WorkloadTable run_workload(const Workload& workload, const Field& field,
                           const SessionOptions& options) {
  WorkloadTable table{workload.name,
                      workload.unit,
                      workload.pass,
                      workload.threads > 1,
                      workload.problem.seq_kv,
                      {},
                      {}};
  Entrants entrants = entrants_of(workload, field);
  Absences absences;
  qualify(entrants, workload, absences);
  leave_out_slow(entrants, workload, options.effort.seconds, absences);
  const Inputs inputs(workload.problem);
  warm_up(entrants, workload, inputs, absences);
  if (workload.pass == Pass::forward) {
    judge(entrants,
          [&](std::vector<Judged>& judged) { judge_some_rows(workload, inputs, judged); });
    leave_out_wrong(entrants, absences);
  }
  std::vector<Call*> calls;
  calls.reserve(entrants.size());
  for (const Entrant& entrant : entrants) calls.push_back(entrant.call.get());
  const auto times = measure_in_turns(calls, options.effort);
  for (std::size_t i = 0; i < entrants.size(); ++i)
    table.rows.push_back(row_of(entrants[i], times[i], table.by_wall));
  compare(entrants, table.rows);
  table.notes = joined(absences);
  table.violated = std::any_of(absences.begin(), absences.end(), [](const Absence& absence) {
    return absence.role == Role::subject && absence.reason.starts_with(kNoRow);
  });
  note_ratios(table.rows, table.notes);
  entrants.clear();
  for (Row& row : table.rows)
    if (options.memory && row.role != Role::limit)
      row.extra_bytes = first_call_bytes_apart(workload.name, row.competitor, options.sizes_flag);
  return table;
}

Result<double> memory_of(const Workload& workload, const Field& field,
                         const std::string& competitor) {
  const Inputs inputs(workload.problem);
  for (const Competitor& each : competitors(field, workload)) {
    if (each.name != competitor) continue;
    auto prepared = each.prepare(workload, inputs);
    if (!prepared.ok()) return prepared.status();
    const auto bytes = first_call_bytes(*prepared.value());
    if (!bytes) return Status{StatusCode::io_error, "the system does not tell"};
    return *bytes;
  }
  return invalid_argument("there is no competitor " + competitor);
}

}  // namespace attest::bench
