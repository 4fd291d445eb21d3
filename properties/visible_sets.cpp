#include "properties/visible_sets.hpp"

#include <algorithm>
#include <string>

#include "properties/judge.hpp"
#include "properties/spell_out.hpp"

namespace attest::properties {
namespace {

Case one_hot_probe(const Problem& given, const Tiling& tiling) {
  Case probe;
  probe.problem = given;
  probe.tiling = tiling;
  const double softcap = given.softcap;
  probe = without_descales(
      plain_scores(plain_empty_rows(forward_only(with_own_keys(std::move(probe))))));
  Problem& problem = probe.problem;
  problem.softcap = softcap;
  problem.head_dim = 1;
  problem.head_dim_v = std::max(Index{1}, problem.seq_kv);
  problem.v_is_k_view = false;
  problem.scale = {false, 1.0};
  const auto zero = [](Index, Index, Index, Index) { return 0.0; };
  probe.q = filled(problem.dtype, problem.q_extents(), zero);
  probe.k = filled(problem.k_dtype(), problem.k_extents(), zero);
  probe.v = filled(problem.v_dtype(), problem.v_extents(),
                   [](Index, Index, Index key, Index column) { return key == column ? 1.0 : 0.0; });
  becomes_literal(probe);
  return probe;
}

/// The pairs that the reference lets through, in the form of a table.
std::string seen_by_reference(const Problem& problem) {
  std::string seen;
  for (Index b = 0; b < problem.batch; ++b)
    for (Index query = 0; query < problem.query_length(b); ++query) {
      const auto keys = reference::visible_keys(problem, b, query);
      if (!seen.empty()) seen += '/';
      for (Index key = 0; key < problem.seq_kv; ++key)
        seen += std::binary_search(keys.begin(), keys.end(), key) ? '1' : '0';
    }
  return seen;
}

}  // namespace

std::vector<Index> reference_keys(const Problem& problem, const RowIndex& row) {
  return reference::visible_keys(problem, row.batch, row.query);
}

Verdict compare_visible_sets(const Kernel& kernel, const Problem& given, const Tiling& tiling,
                             const KeysOf& keys_of) {
  const Case probe = one_hot_probe(given, tiling);
  const Problem& problem = probe.problem;
  const Outputs outputs = run_kernel(kernel, probe);
  if (const auto verdict = stopped(outputs, probe)) return *verdict;
  Tally tally;
  for_each_row(problem, [&](const RowIndex& row) {
    const std::vector<Index> keys = keys_of(problem, row);
    for (Index key = 0; key < problem.seq_kv; ++key) {
      const double got = outputs.at(row, key);
      const bool is_visible = std::binary_search(keys.begin(), keys.end(), key);
      const double want = is_visible ? 1 / static_cast<double>(keys.size()) : 0;
      tally.holds(is_visible ? got > 0 : got == 0, {"out", row, key}, got, want,
                  is_visible ? "a visible key takes no part (column = key)"
                             : "an excluded key takes part (column = key)");
    }
    tally.end_row();
  });
  return tally.verdict();
}

Verdict check_hand_table(const Kernel& kernel, const HandTable& table) {
  ProblemText text;
  TextError error;
  if (!parse_problem_text(table.problem, text, error)) return Verdict::fail(error.message);
  text.tiling.tile_kv = 2;
  const auto& dtypes = kernel.description().capabilities.dtypes;
  if (!dtypes.empty()) text.problem.dtype = dtypes.front();
  const std::string seen = seen_by_reference(text.problem);
  if (seen != table.rows)
    return Verdict::fail("the oracle sees " + seen + " for " + table.problem + ", the table says " +
                         table.rows);
  Verdict verdict = compare_visible_sets(kernel, text.problem, text.tiling);
  if (is_violation(verdict.outcome))
    verdict.reason += std::string(" in ") + table.problem + ", table " + table.rows;
  return verdict;
}

}  // namespace attest::properties
