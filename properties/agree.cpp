// Rows and cases that are equal in exact arithmetic, under the sum of their bounds.
#include <cmath>

#include "properties/judge.hpp"

namespace attest::properties {
namespace {

void agree_lse(Tally& tally, const JudgedRow& left, const JudgedRow& right, double lse_offset) {
  if (!left.truth.asked_lse || !right.truth.asked_lse) return;
  const double left_lse = left.outputs.lse_at(left.row);
  const double right_lse = right.outputs.lse_at(right.row);
  const double unit = left.outputs.asked.lse == LseForm::base_two ? std::numbers::log2e : 1;
  const double offset = left.truth.facts.keys.empty() ? 0 : lse_offset * unit;
  // Offset and subtraction are in double, and so is an lse that was made of two numbers: their
  // rounding is charged to the bound.
  const bool rounded = offset != 0 || left.outputs.asked.lse == LseForm::max_sum;
  const double rounding = 0x1p-51 * (std::abs(left_lse) + std::abs(right_lse) + std::abs(offset));
  tally.agree({"lse", left.row}, left_lse, right_lse - offset,
              left.truth.asked_lse_bound + right.truth.asked_lse_bound +
                  (rounded && std::isfinite(rounding) ? rounding : 0),
              informative_lse(left.truth) && informative_lse(right.truth));
}

}  // namespace

void agree_rows(Tally& tally, const JudgedRow& left, const JudgedRow& right, double lse_offset) {
  const RowBound& left_bound = left.truth.bound;
  const RowBound& right_bound = right.truth.bound;
  if (!left_bound.proven() || !right_bound.proven()) {
    tally.undecided(left_bound.proven() ? right_bound.unproven : left_bound.unproven);
    return;
  }
  for (std::size_t c = 0; c < left.truth.facts.output.size(); ++c) {
    const auto column = static_cast<Index>(c);
    tally.agree({"out", left.row, column}, left.outputs.at(left.row, column),
                right.outputs.at(right.row, column), left_bound.output[c] + right_bound.output[c],
                informative_output(left.truth, c) && informative_output(right.truth, c));
  }
  if (left.outputs.has_lse() && right.outputs.has_lse()) agree_lse(tally, left, right, lse_offset);
  tally.end_row();
}

Verdict agree_cases(const Kernel& kernel, const Case& left, const Case& right,
                    const LseShift& lse_shift) {
  const Outputs left_outputs = run_kernel(kernel, left);
  if (const auto verdict = stopped(left_outputs, left)) return *verdict;
  const Outputs right_outputs = run_kernel(kernel, right);
  if (const auto verdict = stopped(right_outputs, right)) return *verdict;
  const Truth left_truth(kernel, left);
  const Truth right_truth(kernel, right);
  Tally tally;
  for_each_row(left.problem, [&](const RowIndex& row) {
    const auto left_exact = left_truth.row(row);
    const auto right_exact = right_truth.row(row);
    if (!left_exact || !right_exact)
      tally.undecided("a visible input is not finite");
    else
      agree_rows(tally, {left_outputs, row, *left_exact}, {right_outputs, row, *right_exact},
                 lse_shift ? lse_shift(row) : 0);
  });
  return tally.verdict();
}

}  // namespace attest::properties
