// empty.*: a row that sees no key follows the stated policy and touches no other row.
#include <optional>
#include <vector>

#include "properties/combine.hpp"
#include "properties/derive.hpp"
#include "properties/judge.hpp"
#include "properties/laws.hpp"
#include "properties/spell_out.hpp"

namespace attest::properties {
namespace {

bool sees_nothing(const Problem& problem, const RowIndex& row) {
  return reference::visible_keys(problem, row.batch, row.query).empty();
}

std::vector<RowIndex> empty_rows(const Problem& problem) {
  std::vector<RowIndex> rows;
  for_each_row(problem, [&](const RowIndex& row) {
    if (sees_nothing(problem, row)) rows.push_back(row);
  });
  return rows;
}

/// A row that sees nothing gives 0; the lse is the sink, or what the problem says of such a row.
void check_zero_row(Tally& tally, const Truth& truth, const RowIndex& row, const Outputs& outputs) {
  for (Index c = 0; c < outputs.out.extents()[3]; ++c) {
    const double got = outputs.at(row, c);
    tally.holds(got == 0, {"out", row, c}, got, 0, "a row without visible keys must give 0");
  }
  const auto exact = outputs.has_lse() ? truth.row(row) : std::nullopt;
  if (exact && (exact->facts.has_sink() || outputs.asked.lse == LseForm::max_sum)) {
    judge_row(tally, *exact, row, Part::lse, outputs);
    return;
  }
  if (outputs.has_lse() && outputs.asked.empty_lse) {
    const double got = outputs.lse_at(row);
    const double want = *outputs.asked.empty_lse;
    tally.holds(got == want, {"lse", row}, got, want,
                "a row without visible keys must give the lse that the problem says, -inf by "
                "default");
  }
  tally.end_row();
}

Case with_policy(Case from, AllMaskedPolicy policy) {
  from.problem.all_masked = policy;
  return from;
}

/// A query loses its keys to bits of a mask. Without them the law has nothing to say, also of a
/// case without rows.
std::optional<Verdict> cannot_hide_queries(const Kernel& kernel) {
  if (kernel.description().capabilities.mask_bits) return std::nullopt;
  return Verdict::skipped("kernel does not declare mask bits");
}

}  // namespace

Verdict empty_forward(const Kernel& kernel, const Case& on) {
  Case with_empty = with_policy(on, AllMaskedPolicy::zero);
  const bool has_none = empty_rows(on.problem).empty();
  if (const auto verdict = cannot_hide_queries(kernel); verdict && has_none) return *verdict;
  if (on.problem.seq_q > 0 && has_none)
    with_empty = with_hidden_query(std::move(with_empty), on.problem.seq_q - 1);
  const Outputs outputs = run_kernel(kernel, with_empty);
  if (const auto verdict = stopped(outputs, with_empty)) return *verdict;
  Tally tally;
  const Truth truth(kernel, with_empty);
  for (const RowIndex& row : empty_rows(with_empty.problem))
    check_zero_row(tally, truth, row, outputs);
  return tally.verdict();
}

Verdict empty_neighbours(const Kernel& kernel, const Case& on) {
  if (const auto verdict = cannot_hide_queries(kernel)) return *verdict;
  const Case base = with_policy(on, AllMaskedPolicy::zero);
  const Outputs before = run_kernel(kernel, base);
  if (const auto verdict = stopped(before, base)) return *verdict;
  Tally tally;
  for (Index hidden = 0; hidden < base.problem.seq_q; ++hidden) {
    const Case changed = with_hidden_query(base, hidden);
    const Outputs after = run_kernel(kernel, changed);
    if (const auto verdict = stopped(after, changed)) return *verdict;
    const Truth truth(kernel, changed);
    for_each_row(base.problem, [&](const RowIndex& row) {
      if (row.query == hidden)
        check_zero_row(tally, truth, row, after);
      else
        same_row_bits(tally, row, after, before, "another row lost its keys");
    });
  }
  return tally.verdict();
}

namespace {

/// A row with a sink is no empty one: it is accepted, and gives what any such row gives.
Verdict accepts_rows_with_sink(const Kernel& kernel, const Case& on) {
  Case with_sink = with_policy(on, AllMaskedPolicy::reject);
  if (!with_sink.problem.sink) with_sink.problem.sink = Sink{true, true};
  if (on.problem.seq_q > 0 && empty_rows(on.problem).empty())
    with_sink = with_hidden_query(std::move(with_sink), on.problem.seq_q / 2);
  const std::vector<RowIndex> rows = empty_rows(with_sink.problem);
  const Outputs outputs = run_kernel(kernel, with_sink);
  if (const auto verdict = stopped(outputs, with_sink)) return *verdict;
  Tally tally;
  const Truth truth(kernel, with_sink);
  for (const RowIndex& row : rows) check_zero_row(tally, truth, row, outputs);
  return tally.verdict();
}

/// The first row that sees nothing and has no sink is named.
Verdict names_first_empty_row(const Kernel& kernel, const Case& on) {
  Case rejecting = with_policy(without_sink(on), AllMaskedPolicy::reject);
  if (on.problem.seq_q > 0 && empty_rows(on.problem).empty())
    rejecting = with_hidden_query(std::move(rejecting), on.problem.seq_q / 2);
  const std::vector<RowIndex> rows = empty_rows(rejecting.problem);
  const Outputs outputs = run_kernel(kernel, rejecting);
  // An error that the case justifies; the one that the law asks for is judged below.
  if (outputs.status.code() != StatusCode::all_masked_row)
    if (const auto verdict = stopped(outputs, rejecting);
        verdict && verdict->outcome == Outcome::skipped)
      return *verdict;
  if (rows.empty()) return Verdict::weak("the case has no rows");
  Tally tally;
  const bool rejected = outputs.status.code() == StatusCode::all_masked_row;
  tally.holds(rejected, {"status", rows.front()}, rejected ? 1 : 0, 1,
              "policy reject must refuse a row without visible keys");
  if (rejected) {
    const bool named = outputs.status.row() == rows.front();
    tally.holds(named, {"status", rows.front()}, named ? 1 : 0, 1,
                "policy reject must name the first row without visible keys");
  }
  tally.end_row();
  return tally.verdict();
}

}  // namespace

Verdict empty_reject(const Kernel& kernel, const Case& on) {
  Combined combined;
  combined.add(names_first_empty_row(kernel, on));
  if (!combined.violated()) combined.add(accepts_rows_with_sink(kernel, on));
  return combined.verdict();
}

}  // namespace attest::properties
