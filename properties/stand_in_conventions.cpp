// Stand-ins that follow another convention: alignment, window, heads, scale, rows.
#include <algorithm>

#include "properties/judge.hpp"
#include "properties/stand_in_reader.hpp"
#include "properties/stand_ins.hpp"

namespace attest::properties {
namespace {

/// The row under another mask; nothing where it sees the same keys.
StandInOutput under(const Case& of, const RowIndex& row, const Problem& changed) {
  const auto keys = reference::visible_keys(changed, row.batch, row.query);
  if (keys == reference::visible_keys(of.problem, row.batch, row.query)) return std::nullopt;
  return StandInReader(of, row).output(keys);
}

StandInOutput diagonal_moved(const Case& of, const RowIndex& row, Index by) {
  if (!of.problem.mask.causal) return std::nullopt;
  Problem changed = of.problem;
  changed.mask.causal =
      Causal{Causal::Alignment::explicit_offset, causal_offset(of.problem, row.batch) + by};
  return under(of, row, changed);
}

/// Both limits of a window moved outwards; a limit that would be below 0 stays.
StandInOutput window_moved(const Case& of, const RowIndex& row, Index by) {
  Problem changed = of.problem;
  for (std::optional<Index>* const limit : {&changed.mask.window.left, &changed.mask.window.right})
    if (*limit && **limit + by >= 0) **limit += by;
  return changed == of.problem ? std::nullopt : under(of, row, changed);
}

StandInOutput scaled(const Case& of, const RowIndex& row, const RowFacts& facts, double factor) {
  return output_with_scale_times(score_parts(of, row, facts), facts, factor);
}

}  // namespace

StandInOutput alignment_plus_one(const Case& of, const RowIndex& row, const RowFacts&) {
  return diagonal_moved(of, row, 1);
}
StandInOutput alignment_minus_one(const Case& of, const RowIndex& row, const RowFacts&) {
  return diagonal_moved(of, row, -1);
}
StandInOutput window_plus_one(const Case& of, const RowIndex& row, const RowFacts&) {
  return window_moved(of, row, 1);
}
StandInOutput window_minus_one(const Case& of, const RowIndex& row, const RowFacts&) {
  return window_moved(of, row, -1);
}

StandInOutput wrong_head_map(const Case& of, const RowIndex& row, const RowFacts& facts) {
  const Index wrong = row.head % of.problem.heads_kv;
  // Descales of another head would be another mistake.
  if (wrong == of.problem.kv_head(row.head) || of.problem.descales) return std::nullopt;
  const auto visible = static_cast<std::ptrdiff_t>(facts.visible_keys());
  return StandInReader(of, row, wrong).output({facts.keys.begin(), facts.keys.begin() + visible});
}

StandInOutput scale_too_large(const Case& of, const RowIndex& row, const RowFacts& facts) {
  return scaled(of, row, facts, 1 + 0x1p-6);
}
StandInOutput scale_too_small(const Case& of, const RowIndex& row, const RowFacts& facts) {
  return scaled(of, row, facts, 1 - 0x1p-6);
}

StandInOutput one_row_zeroed(const Case& of, const RowIndex& row, const RowFacts& facts) {
  const Problem& problem = of.problem;
  const bool is_the_one = row.batch == problem.batch - 1 && row.head == problem.heads_q - 1 &&
                          row.query == problem.query_length(row.batch) / 2;
  if (!is_the_one) return std::nullopt;
  return std::vector<double>(facts.output.size(), 0.0);
}

StandInOutput two_rows_swapped(const Case& of, const RowIndex& row, const RowFacts&) {
  if (row.batch != 0 || row.head != 0 || row.query > 1 || of.problem.query_length(0) < 2)
    return std::nullopt;
  const RowIndex other{0, 0, 1 - row.query};
  return StandInReader(of, other).output(
      reference::visible_keys(of.problem, other.batch, other.query));
}

}  // namespace attest::properties
