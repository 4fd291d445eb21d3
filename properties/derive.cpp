#include "properties/derive.hpp"

#include <algorithm>
#include <numeric>

namespace attest::properties {
namespace {

Tensor member_rows(const Tensor& from, Index b, Index rows) {
  const Extents& extents = from.extents();
  return filled(
      from.dtype(), {1, extents[1], rows, extents[3]},
      [&](Index, Index h, Index row, Index column) { return from.get(b, h, row, column); });
}

MaskBits selected_columns(const MaskBits& bits, const std::vector<Index>& keys) {
  MaskBits selected{bits.rows, static_cast<Index>(keys.size()), {}};
  for (Index row = 0; row < bits.rows; ++row)
    for (const Index key : keys) selected.visible.push_back(bits.at(row, key));
  return selected;
}

}  // namespace

std::vector<Index> all_keys(Index n) {
  std::vector<Index> keys(static_cast<std::size_t>(n));
  std::iota(keys.begin(), keys.end(), Index{0});
  return keys;
}

Case with_fitting_tiling(Case from) {
  const Index seq_kv = from.problem.seq_kv;
  for (Index& cut : from.tiling.splits.cuts) cut = std::min(cut, seq_kv);
  MergeOrder& merge = from.tiling.merge;
  if (merge.kind == MergeOrder::Kind::explicit_tree) {
    const auto leaves_of = [](const auto& ranges) { return static_cast<Index>(ranges.size()); };
    if (!validate(merge.tree, leaves_of(split_ranges(from.tiling, seq_kv))).ok() &&
        !validate(merge.tree, leaves_of(all_tiles(from.tiling, seq_kv))).ok())
      merge = {};
  }
  return from;
}

Case single_member(const Case& from, Index b) {
  const Index length = from.problem.key_length(b);
  Case member = from;
  member.problem.batch = 1;
  member.problem.key_lengths.clear();
  member.problem.seq_kv = length;
  if (from.problem.mask.bits)
    member.problem.mask.bits = selected_columns(*from.problem.mask.bits, all_keys(length));
  member.q = member_rows(from.q, b, from.problem.seq_q);
  member.k = member_rows(from.k, b, length);
  member.v = member_rows(from.v, b, length);
  becomes_literal(member);
  return with_fitting_tiling(std::move(member));
}

Case with_explicit_bits(Case from) {
  const Problem& problem = from.problem;
  if (problem.seq_q == 0) return from;
  MaskBits bits{problem.seq_q, problem.seq_kv, {}};
  for (Index query = 0; query < problem.seq_q; ++query)
    for (Index key = 0; key < problem.seq_kv; ++key)
      bits.visible.push_back(visible(problem, 0, query, key));
  from.problem.mask = {};
  from.problem.mask.bits = std::move(bits);
  return from;
}

Case select_keys(const Case& from, const std::vector<Index>& keys) {
  Case selected = from;
  const auto count = static_cast<Index>(keys.size());
  selected.problem.seq_kv = count;
  if (from.problem.mask.bits)
    selected.problem.mask.bits = selected_columns(*from.problem.mask.bits, keys);
  const auto pick = [&](const Tensor& tensor, const Extents& extents) {
    return filled(tensor.dtype(), extents, [&](Index b, Index h, Index row, Index column) {
      return tensor.get(b, h, keys[static_cast<std::size_t>(row)], column);
    });
  };
  selected.k = pick(from.k, selected.problem.k_extents());
  selected.v = pick(from.v, selected.problem.v_extents());
  becomes_literal(selected);
  return with_fitting_tiling(std::move(selected));
}

Case single_row(const Case& from, const RowIndex& row) {
  const Case member = single_member(from, row.batch);
  const Index kv_head = from.problem.kv_head(row.head);
  Case single = member;
  Problem& problem = single.problem;
  problem.heads_q = problem.heads_kv = problem.seq_q = 1;
  MaskBits bits{1, problem.seq_kv, {}};
  for (Index key = 0; key < problem.seq_kv; ++key)
    bits.visible.push_back(visible(member.problem, 0, row.query, key));
  problem.mask = {};
  problem.mask.bits = std::move(bits);
  single.q = filled(problem.dtype, problem.q_extents(), [&](Index, Index, Index, Index column) {
    return member.q.get(0, row.head, row.query, column);
  });
  const auto head_of = [&](const Tensor& tensor) {
    return [&tensor, kv_head](Index, Index, Index key, Index column) {
      return tensor.get(0, kv_head, key, column);
    };
  };
  single.k = filled(problem.dtype, problem.k_extents(), head_of(member.k));
  single.v = filled(problem.dtype, problem.v_extents(), head_of(member.v));
  return single;
}

Case visible_part_of_row(const Case& from, const RowIndex& row) {
  const Case single = single_row(from, row);
  std::vector<Index> keys = all_keys(single.problem.seq_kv);
  std::erase_if(keys, [&](Index key) { return !visible(single.problem, 0, 0, key); });
  Case part = select_keys(single, keys);
  part.problem.mask = {};
  return part;
}

Case with_hidden_query(Case from, Index query) {
  const Problem& problem = from.problem;
  MaskBits bits{problem.seq_q, problem.seq_kv, {}};
  for (Index row = 0; row < problem.seq_q; ++row)
    for (Index key = 0; key < problem.seq_kv; ++key)
      bits.visible.push_back(row != query &&
                             (!problem.mask.bits || problem.mask.bits->at(row, key)));
  from.problem.mask.bits = std::move(bits);
  return from;
}

Case with_values(Case from, Tensor Case::*tensor, const ElementRule& element) {
  from.*tensor = filled((from.*tensor).dtype(), (from.*tensor).extents(), element);
  becomes_literal(from);
  return from;
}

}  // namespace attest::properties
