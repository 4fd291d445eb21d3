#include "selftest/matrix.hpp"

#include <utility>

#include "mutants/mutants.hpp"
#include "selftest/in_threads.hpp"

namespace attest::selftest {
namespace {

using properties::Case;

bool is_stopped(const Plan& plan) {
  return plan.stop != nullptr && *plan.stop;
}

Case draw(const Kernel& kernel, const Law& law, std::uint64_t seed, Index number) {
  properties::SeededDraw draw(properties::case_seed(seed, law, number));
  return properties::draw_case(draw, properties::limits_for(kernel, nullptr));
}

struct Violation {
  Case value;
  Verdict verdict;
};

/// Judges cases until one is violated; nothing if none was.
std::optional<Violation> search(const Plan& plan, const Kernel& kernel, const Law& law, Index most,
                                Cell& cell) {
  const Index cases = law.depends_on_case ? most : std::min(most, Index{1});
  while (cell.cases < cases && !is_stopped(plan)) {
    Case drawn = draw(kernel, law, plan.seed, cell.cases++);
    Verdict verdict = properties::check_case(kernel, law, drawn);
    cell.killed = is_violation(verdict.outcome);
    if (cell.killed) return Violation{std::move(drawn), std::move(verdict)};
  }
  return std::nullopt;
}

void search_and_shrink(const Plan& plan, const Law& law, Index most, Cell& cell, BugResult& row) {
  const Kernel& kernel = *row.bug.kernel;
  const std::optional<Violation> found = search(plan, kernel, law, most, cell);
  if (!found || row.counterexample) return;
  row.counterexample = {&law, properties::shrink_within(kernel, law, found->value, found->verdict,
                                                        plan.effort.shrink_tries)};
}

BugResult judge_bug(const Plan& plan, const PlantedBug& bug) {
  BugResult row{bug, std::vector<Cell>(plan.laws.size()), std::nullopt, false};
  // The law that must kill it first: its counterexample is the one that is kept.
  for (const bool named : {true, false})
    for (std::size_t i = 0; i < plan.laws.size(); ++i)
      if ((plan.laws[i].name == bug.law) == named)
        search_and_shrink(plan, plan.laws[i], named ? plan.effort.named : plan.effort.others,
                          row.cells[i], row);
  row.complete = !is_stopped(plan);
  return row;
}

CorrectResult judge_correct(const Plan& plan, const Kernel& kernel, std::uint64_t seed) {
  CorrectResult row{&kernel, seed, 0, 0, {}, false};
  for (const Law& law : plan.laws) {
    const Index cases = law.depends_on_case ? plan.effort.correct : 1;
    for (Index number = 0; number < cases && !is_stopped(plan); ++number) {
      Case drawn = draw(kernel, law, seed, number);
      Verdict verdict = properties::check_case(kernel, law, drawn);
      ++row.cases;
      if (verdict.outcome == Outcome::ok) ++row.judged;
      if (!is_violation(verdict.outcome)) continue;
      row.alarms.push_back({&law, seed, std::move(drawn), std::move(verdict)});
      break;
    }
  }
  row.complete = !is_stopped(plan);
  return row;
}

}  // namespace

std::vector<PlantedBug> planted_bugs() {
  std::vector<PlantedBug> bugs;
  for (const mutants::Mutant& mutant : mutants::all())
    bugs.push_back({mutant.kernel.get(), mutant.killed_by});
  return bugs;
}

Matrix run_matrix(const Plan& plan, const std::function<void(Index, Index)>& done) {
  Matrix matrix{plan.laws, {}, {}, true};
  for (const PlantedBug& bug : plan.bugs)
    matrix.bugs.push_back({bug, std::vector<Cell>(plan.laws.size()), std::nullopt, false});
  for (const Kernel* kernel : plan.correct)
    matrix.correct.push_back({kernel, plan.seed, 0, 0, {}, false});
  const auto bugs = static_cast<Index>(plan.bugs.size());
  const Index rows = bugs + static_cast<Index>(plan.correct.size());
  in_threads(
      rows, plan.jobs, plan.stop,
      [&](Index row) {
        const auto at = static_cast<std::size_t>(row < bugs ? row : row - bugs);
        if (row < bugs)
          matrix.bugs[at] = judge_bug(plan, plan.bugs[at]);
        else
          matrix.correct[at] = judge_correct(plan, *plan.correct[at], plan.seed);
      },
      [&](Index finished) {
        if (done) done(finished, rows);
      });
  for (const BugResult& row : matrix.bugs) matrix.complete = matrix.complete && row.complete;
  for (const CorrectResult& row : matrix.correct) matrix.complete = matrix.complete && row.complete;
  return matrix;
}

std::vector<CorrectResult> run_correct(const Plan& plan, Index runs,
                                       const std::function<void(Index, Index)>& done) {
  const auto kernels = static_cast<Index>(plan.correct.size());
  std::vector<CorrectResult> results(static_cast<std::size_t>(runs * kernels));
  in_threads(
      runs * kernels, plan.jobs, plan.stop,
      [&](Index task) {
        const std::uint64_t seed = plan.seed + static_cast<std::uint64_t>(task / kernels);
        const auto kernel = static_cast<std::size_t>(task % kernels);
        results[static_cast<std::size_t>(task)] = judge_correct(plan, *plan.correct[kernel], seed);
      },
      [&](Index finished) {
        if (done) done(finished, runs * kernels);
      });
  return results;
}

}  // namespace attest::selftest
