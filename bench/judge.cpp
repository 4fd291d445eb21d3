#include "bench/judge.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "attest/error_bound.hpp"
#include "attest/random.hpp"
#include "attest/tensor.hpp"
#include "kernels/row_access.hpp"
#include "reference/gradients.hpp"
#include "reference/oracle.hpp"

namespace attest::bench {
namespace {

constexpr Index kSampledRows = 24;
/// Keys of all sampled rows together: the exact rows of long problems take seconds.
constexpr Index kSampledKeys = Index{1} << 19;

reference::Inputs oracle_inputs(const Problem& problem, const Inputs& inputs) {
  return {&problem, read_only(inputs.q.ref()), read_only(inputs.k.ref()),
          read_only(inputs.v.ref())};
}

/// Plain arithmetic with its sums in any order.
DeclaredAccuracy plain_accuracy(const Problem& problem) {
  DeclaredAccuracy accuracy = kernels::scalar_accuracy(problem, SummaryScope::row);
  accuracy.ordered_sums = false;
  return accuracy;
}

DeclaredAccuracy accuracy_of(const Competitor& competitor, const Problem& problem) {
  return competitor.accuracy ? competitor.accuracy(problem) : plain_accuracy(problem);
}

Tiling tiling_of(const Competitor& competitor, const Problem& problem) {
  return competitor.tiling ? competitor.tiling(problem) : free_tiling(problem);
}

/// The larger of both; NaN, once there, stays.
void raise(double& worst, double ratio) {
  if (!(ratio <= worst)) worst = std::isnan(worst) ? worst : ratio;
}

double share(const Enclosure& exact, double value, double bound) {
  const double error = exact.distance_upper(value);
  return error == 0 ? 0 : error / bound;
}

void judge_row(const Problem& problem, const RowFacts& facts, const RowIndex& row, Judged& judged) {
  const RowBound bound = error_bound(accuracy_of(*judged.competitor, problem), facts,
                                     tiling_of(*judged.competitor, problem), problem.seq_kv);
  const ConstTensorRef out = judged.call->out();
  for (Index c = 0; c < problem.head_dim_v; ++c) {
    const auto column = static_cast<std::size_t>(c);
    const double value = number_at(out, row.batch, row.head, row.query, c);
    const double limit =
        bound.proven() ? bound.output[column] : std::numeric_limits<double>::quiet_NaN();
    raise(judged.worst, share(facts.output[column], value, limit));
  }
}

/// A row that sees nothing is exactly zero.
void judge_empty_row(const Problem& problem, const RowIndex& row, Judged& judged) {
  for (Index c = 0; c < problem.head_dim_v; ++c)
    if (number_at(judged.call->out(), row.batch, row.head, row.query, c) != 0)
      raise(judged.worst, std::numeric_limits<double>::infinity());
}

void judge_rows(const Problem& problem, const Inputs& inputs, const std::vector<RowIndex>& rows,
                std::vector<Judged>& judged) {
  const DeclaredAccuracy plain = plain_accuracy(problem);
  for (const RowIndex& row : rows) {
    const auto exact =
        reference::certify_row(oracle_inputs(problem, inputs), row, [&](const RowFacts& facts) {
          return error_bound(plain, facts, free_tiling(problem), problem.seq_kv);
        });
    for (Judged& each : judged) {
      if (!exact || exact->contradiction)
        raise(each.worst, std::numeric_limits<double>::quiet_NaN());
      else if (exact->facts.keys.empty())
        judge_empty_row(problem, row, each);
      else
        judge_row(problem, exact->facts, row, each);
    }
  }
}

std::vector<RowIndex> all_rows(const Problem& problem) {
  std::vector<RowIndex> rows;
  for_each_row(problem, [&](const RowIndex& row) { rows.push_back(row); });
  return rows;
}

std::vector<RowBound> forward_bounds(const Competitor& competitor, const Problem& problem,
                                     const Inputs& inputs) {
  const DeclaredAccuracy accuracy = competitor.accuracy(problem);
  std::vector<RowBound> bounds;
  for (Index query = 0; query < problem.seq_q; ++query) {
    const auto exact = reference::certify_row(
        oracle_inputs(problem, inputs), {0, 0, query}, [&](const RowFacts& facts) {
          return error_bound(accuracy, facts, tiling_of(competitor, problem), problem.seq_kv);
        });
    bounds.push_back(exact ? exact->bound : RowBound{});
  }
  return bounds;
}

void judge_list(const std::vector<Enclosure>& exact, const std::vector<double>& limits,
                const ConstTensorRef& got, double& worst) {
  for (std::size_t at = 0; at < exact.size(); ++at) {
    const auto [row, column] = std::div(static_cast<Index>(at), got.extents[3]);
    raise(worst, share(exact[at], number_at(got, 0, 0, row, column), limits[at]));
  }
}

}  // namespace

void judge_all_rows(const Workload& workload, const Inputs& inputs, std::vector<Judged>& judged) {
  judge_rows(workload.problem, inputs, all_rows(workload.problem), judged);
}

void judge_some_rows(const Workload& workload, const Inputs& inputs, std::vector<Judged>& judged) {
  const Problem& problem = workload.problem;
  std::vector<RowIndex> rows = all_rows(problem);
  const Index count = std::clamp<Index>(kSampledKeys / problem.seq_kv, 2, kSampledRows);
  if (count < static_cast<Index>(rows.size())) {
    // The first and the last one stay where they are.
    SplitMix64 random(7);
    for (std::size_t i = 1; i + 1 < static_cast<std::size_t>(count); ++i)
      std::swap(rows[i], rows[i + random.below(rows.size() - 1 - i)]);
    rows[static_cast<std::size_t>(count) - 1] = rows.back();
    rows.resize(static_cast<std::size_t>(count));
  }
  judge_rows(problem, inputs, rows, judged);
}

void judge_gradients(const Workload& workload, const Inputs& inputs, std::vector<Judged>& judged) {
  const Problem& problem = workload.problem;
  const auto exact_inputs = reference::read_gradient_inputs(oracle_inputs(problem, inputs),
                                                            read_only(inputs.dout.ref()), {}, 0, 0);
  for (Judged& each : judged) {
    const DeclaredGradientAccuracy accuracy = each.competitor->gradient_accuracy(problem);
    const std::vector<RowBound> forward = forward_bounds(*each.competitor, problem, inputs);
    const auto certified = exact_inputs ? reference::certify_gradients(
                                              *exact_inputs,
                                              [&](const GradientFacts& facts) {
                                                return gradient_bound(accuracy, facts, forward);
                                              })
                                        : std::nullopt;
    if (!certified) {
      raise(each.worst, std::numeric_limits<double>::quiet_NaN());
      continue;
    }
    const std::vector<ConstTensorRef> got = each.call->gradients();
    const auto exact = certified->facts.exact.lists();
    const auto limits = certified->bound.limit.lists();
    for (std::size_t part = 0; part < got.size(); ++part)
      judge_list(*exact[part], *limits[part], got[part], each.worst);
  }
}

}  // namespace attest::bench
