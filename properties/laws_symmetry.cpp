// symmetry.*: changes of scores, rows and heads that change the exact output in a known way.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "attest/random.hpp"
#include "properties/derive.hpp"
#include "properties/judge.hpp"
#include "properties/laws.hpp"
#include "properties/spell_out.hpp"

namespace attest::properties {
namespace {

/// The first batch member spelled out: the form in which keys can be rearranged.
Case rearrangeable(const Case& on) {
  return spelled_out(single_member(on, 0));
}

std::vector<Index> shuffled_keys(Index n) {
  std::vector<Index> keys = all_keys(n);
  SplitMix64 random(static_cast<std::uint64_t>(n));
  for (std::size_t i = keys.size(); i > 1; --i) std::swap(keys[i - 1], keys[random.below(i)]);
  return keys;
}

/// A single query has no neighbour: the first batch member with the same query twice.
Case with_twin_query(const Case& on) {
  const Case member = rearrangeable(on);
  return member.problem.seq_q == 1 ? select_queries(member, {0, 0}) : on;
}

}  // namespace

Verdict symmetry_score_shift(const Kernel& kernel, const Case& given) {
  // One more dimension adds scale * 1 * shift to every score, but not to a sink, nor beyond a cap.
  constexpr double kShift = 32;
  const Case on = plain_empty_rows(without_descales(without_sink(without_softcap(given))));
  const Index d = on.problem.head_dim;
  Case shifted = on;
  shifted.problem.head_dim = d + 1;
  shifted.problem.scale = {false, scale_value(on.problem)};
  const auto extended = [d](const Tensor& tensor, const Extents& extents, double last) {
    return filled(tensor.dtype(), extents, [&](Index b, Index h, Index row, Index column) {
      return column < d ? tensor.get(b, h, row, column) : last;
    });
  };
  shifted.q = extended(on.q, shifted.problem.q_extents(), 1);
  shifted.k = extended(on.k, shifted.problem.k_extents(), kShift);
  return agree_cases(kernel, on, shifted,
                     [&](const RowIndex&) { return scale_value(on.problem) * kShift; });
}

Verdict symmetry_key_permutation(const Kernel& kernel, const Case& on) {
  if (on.problem.batch == 0) return Verdict::weak("the case has no rows");
  const Case member = rearrangeable(on);
  return agree_cases(kernel, member, select_keys(member, shuffled_keys(member.problem.seq_kv)));
}

Verdict symmetry_duplicate_keys(const Kernel& kernel, const Case& on) {
  if (on.problem.batch == 0) return Verdict::weak("the case has no rows");
  const Case member = without_sink(rearrangeable(on));
  std::vector<Index> twice = all_keys(member.problem.seq_kv);
  twice.insert(twice.end(), twice.begin(), twice.end());
  return agree_cases(kernel, member, select_keys(member, twice),
                     [](const RowIndex&) { return std::numbers::ln2; });
}

Verdict symmetry_row_independence(const Kernel& kernel, const Case& given) {
  const Case on =
      given.problem.seq_q == 1 && given.problem.batch > 0 ? with_twin_query(given) : given;
  const Outputs before = run_kernel(kernel, on);
  if (const auto verdict = stopped(before, on)) return *verdict;
  Tally tally;
  for (Index changed_query = 0; changed_query < on.problem.seq_q; ++changed_query) {
    const Case changed =
        with_values(on, &Case::q, [&](Index b, Index h, Index query, Index column) {
          const double value = on.q.get(b, h, query, column);
          return query == changed_query ? 2 - value : value;
        });
    const Outputs after = run_kernel(kernel, changed);
    if (const auto verdict = stopped(after, changed)) return *verdict;
    for_each_row(on.problem, [&](const RowIndex& row) {
      if (row.query != changed_query)
        same_row_bits(tally, row, after, before, "another query changed");
    });
  }
  return tally.verdict();
}

Verdict symmetry_head_independence(const Kernel& kernel, const Case& given) {
  const Case on = densely_stored(forward_only(given));
  const Outputs before = run_kernel(kernel, on);
  if (const auto verdict = stopped(before, on)) return *verdict;
  Tally tally;
  const Case strangers = with_strangers(on);
  const Outputs together = run_kernel(kernel, strangers);
  if (const auto verdict = stopped(together, strangers)) return *verdict;
  for_each_row(on.problem, [&](const RowIndex& row) {
    same_row_bits(tally, row, together, before, "other batch members were added");
  });
  for (Index changed_head = 0; changed_head < on.problem.heads_kv; ++changed_head) {
    if (on.problem.heads_kv == 1) break;
    const auto changed_values = [&](const Tensor& tensor) {
      return [&tensor, changed_head](Index b, Index h, Index row, Index column) {
        const double value = tensor.get(b, h, row, column);
        return h == changed_head ? 3 - value : value;
      };
    };
    Case changed = with_values(on, &Case::k, changed_values(on.k));
    changed = with_values(std::move(changed), &Case::v, changed_values(on.v));
    const Outputs after = run_kernel(kernel, changed);
    if (const auto verdict = stopped(after, changed)) return *verdict;
    const Index group_size = on.problem.heads_q / on.problem.heads_kv;
    for_each_row(on.problem, [&](const RowIndex& row) {
      if (row.head / group_size != changed_head)
        same_row_bits(tally, row, after, before, "another key/value head changed");
    });
  }
  return tally.verdict();
}

}  // namespace attest::properties
