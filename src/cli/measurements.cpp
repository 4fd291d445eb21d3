#include "cli/measurements.hpp"

#include <fmt/core.h>

#include <utility>

#include "cli/case_text.hpp"
#include "properties/bit_equality.hpp"
#include "properties/gradient_truth.hpp"
#include "properties/heat_map.hpp"
#include "reports/run_model.hpp"

namespace attest::cli {
namespace {

constexpr std::string_view kOutLaw = "bound.out";

/// Tensor and dtype of the numbers that a law holds against the truth one by one; dq, dk, dv are
/// those of gradient.dq, dk, dv. No name: the law's verdicts have no statistics of their own.
std::pair<std::string, Dtype> judged_tensor(std::string_view law, const Problem& problem) {
  if (law == kOutLaw) return {"out", problem.out_dtype()};
  for (const properties::GradientPart part : properties::kGradientParts) {
    const std::string_view name = kGradientNames[static_cast<std::size_t>(part)];
    if (law == fmt::format("gradient.{}", name))
      return {std::string(name), properties::gradient_dtype(problem, part)};
  }
  return {};
}

bool is_row_of(const Problem& problem, const RowIndex& row) {
  return row.batch >= 0 && row.batch < problem.batch && row.head >= 0 &&
         row.head < problem.heads_q && row.query >= 0 &&
         row.query < problem.query_length(row.batch);
}

}  // namespace

reports::HeatMap heat_map(const Kernel& kernel, const CaseToMap& worst) {
  const properties::TileMap map = properties::tile_map(kernel, worst.on, worst.row);
  reports::HeatMap shown;
  shown.kernel = kernel.description().name;
  shown.law = worst.law;
  shown.problem = problem_text(worst.on);
  shown.replay = replay_command_line(kernel, worst.on, worst.law, {});
  shown.tensor = "out";
  for (const RowIndex& row : map.rows)
    shown.rows.push_back(fmt::format("b{} h{} q{}", row.batch, row.head, row.query));
  for (const KeyRange& tile : map.tiles) shown.tile_begin.push_back(tile.begin);
  if (!map.tiles.empty()) shown.tile_begin.push_back(map.tiles.back().end);
  shown.tile_q = map.tile_q;
  shown.tile_kv = map.tile_kv;
  shown.ratio = map.ratio;
  shown.note = map.note;
  return shown;
}

reports::Measurements measured(const std::string& kernel, const properties::Law& law,
                               const Problem& problem, const Verdict& verdict) {
  reports::Measurements found;
  if (verdict.statistics) {
    const auto [tensor, dtype] = judged_tensor(law.name, problem);
    if (!tensor.empty())
      found.statistics.push_back(
          {kernel, std::string(to_string(dtype)), tensor, *verdict.statistics});
  }
  for (const StandInTrial& trial : verdict.stand_ins)
    found.power.push_back(
        {std::string(trial.stand_in), std::string(law.name), 1, trial.accepted ? 1 : 0});
  return found;
}

void Measuring::take_worst(const properties::CheckedCase& checked) {
  const Verdict& verdict = checked.verdict;
  if (!verdict.witness || verdict.witness->tensor != "out") return;
  const bool violated = verdict.outcome == Outcome::fail || verdict.outcome == Outcome::flaky;
  const bool of_bound = checked.law->name == kOutLaw;
  if (!violated && (!of_bound || verdict.worst_ratio == 0)) return;
  const Rank rank = !violated ? ratio : of_bound ? bound_violation : other_violation;
  if (rank < rank_ || (rank == rank_ && (rank != ratio || verdict.worst_ratio <= worst_.ratio)))
    return;
  rank_ = rank;
  // A law may have looked at a row of a case that it made of this one.
  const RowIndex row = verdict.witness->row;
  worst_ = {checked.value, std::string(checked.law->name),
            is_row_of(checked.value.problem, row) ? row : RowIndex{}, verdict.worst_ratio};
}

void Measuring::take(const properties::CheckedCase& checked) {
  reports::add(found_, measured(kernel_.description().name, *checked.law, checked.value.problem,
                                checked.verdict));
  take_worst(checked);
}

void Measuring::map_worst() {
  if (rank_ != nothing) found_.heat_map = heat_map(kernel_, worst_);
}

void Measuring::count_bits(const properties::CheckPlan& plan, Index cases) {
  for (const properties::BitCount& count :
       properties::count_bit_equality(kernel_, plan.limits, cases, plan.seed))
    found_.bit_equality.push_back({kernel_.description().name, std::string(to_string(count.dtype)),
                                   std::string(to_string(count.kind)), count.equal, count.differ,
                                   properties::must_be_equal(kernel_, count.kind), count.reason});
}

}  // namespace attest::cli
