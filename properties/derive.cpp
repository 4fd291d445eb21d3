#include "properties/derive.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <utility>

#include "attest/random.hpp"
#include "properties/spell_out.hpp"

namespace attest::properties {
namespace {

/// Positions along each axis of a tensor; none: all of them.
using Picks = std::array<const std::vector<Index>*, 4>;

/// The sub-tensor at the given positions. An axis of extent 1 that serves all positions stays.
Tensor picked(const Tensor& from, const Picks& picks) {
  if (from.extents() == Extents{}) return from;
  Extents extents = from.extents();
  for (std::size_t axis = 0; axis < 4; ++axis)
    if (picks[axis] != nullptr) extents[axis] = static_cast<Index>(picks[axis]->size());
  return filled(from.dtype(), extents, [&](Index b, Index h, Index row, Index column) {
    std::array<Index, 4> at{b, h, row, column};
    for (std::size_t axis = 0; axis < 4; ++axis)
      if (picks[axis] != nullptr) at[axis] = (*picks[axis])[static_cast<std::size_t>(at[axis])];
    return from.get(at[0], at[1], at[2], at[3]);
  });
}

template <class Value>
std::vector<Value> picked(const std::vector<Value>& from, const std::vector<Index>& positions) {
  std::vector<Value> values;
  values.reserve(positions.size());
  for (const Index position : positions) values.push_back(from[static_cast<std::size_t>(position)]);
  return values;
}

/// Rows and columns of a table with one row a query, or one for all.
template <class Table, class Value>
void pick_table(Table& table, std::vector<Value> Table::*values, const std::vector<Index>* queries,
                const std::vector<Index>* keys) {
  const std::vector<Index> rows =
      queries != nullptr && table.rows != 1 ? *queries : all_keys(table.rows);
  const std::vector<Index> columns = keys != nullptr ? *keys : all_keys(table.columns);
  std::vector<Value> chosen;
  chosen.reserve(rows.size() * columns.size());
  for (const Index row : rows)
    for (const Index column : columns)
      chosen.push_back((table.*values)[static_cast<std::size_t>(row * table.columns + column)]);
  table.rows = static_cast<Index>(rows.size());
  table.columns = static_cast<Index>(columns.size());
  table.*values = std::move(chosen);
}

/// Blocks have places of their own: without these the pairs that they let through are bits.
void blocks_become_bits(Problem& problem) {
  if (!problem.mask.blocks) return;
  MaskBits bits{problem.seq_q, problem.seq_kv, {}};
  for (Index query = 0; query < problem.seq_q; ++query)
    for (Index key = 0; key < problem.seq_kv; ++key)
      bits.visible.push_back(problem.mask.blocks->at(query, key) &&
                             (!problem.mask.bits || problem.mask.bits->at(query, key)));
  problem.mask.blocks.reset();
  if (problem.seq_q > 0) problem.mask.bits = std::move(bits);
}

/// Tables of the mask at the given positions (null: all). Tables of no row hide nothing that
/// exists.
void pick_mask(Problem& problem, const std::vector<Index>* queries,
               const std::vector<Index>* keys) {
  blocks_become_bits(problem);
  Mask& mask = problem.mask;
  if (mask.bits) pick_table(*mask.bits, &MaskBits::visible, queries, keys);
  if (mask.bits && mask.bits->rows == 0) mask.bits.reset();
  if (mask.additive) pick_table(*mask.additive, &AdditiveMask::value, queries, keys);
  if (mask.additive && mask.additive->rows == 0) mask.additive.reset();
  if (!mask.segments) return;
  if (queries != nullptr) mask.segments->q = picked(mask.segments->q, *queries);
  if (keys != nullptr) mask.segments->k = picked(mask.segments->k, *keys);
}

/// Factors of some of the (batch, kv head) pairs.
void pick_descales(Problem& problem, const std::vector<Index>& pairs) {
  if (!problem.descales) return;
  for (auto* const factors : {&problem.descales->q, &problem.descales->k, &problem.descales->v})
    if (factors->size() > 1) *factors = picked(*factors, pairs);
}

bool has_axis(const Problem& problem, bool Bias::*axis) {
  return problem.bias && *problem.bias.*axis;
}

void pick_keys(Case& of, const std::vector<Index>& keys) {
  of.k = picked(of.k, {nullptr, nullptr, &keys, nullptr});
  of.v = picked(of.v, {nullptr, nullptr, &keys, nullptr});
  of.bias = picked(of.bias, {nullptr, nullptr, nullptr, &keys});
  of.problem.seq_kv = static_cast<Index>(keys.size());
}

void pick_queries(Case& of, const std::vector<Index>& queries) {
  for (const auto tensor : {&Case::q, &Case::qv, &Case::dout, &Case::dlse})
    of.*tensor = picked(of.*tensor, {nullptr, nullptr, &queries, nullptr});
  if (has_axis(of.problem, &Bias::per_query))
    of.bias = picked(of.bias, {nullptr, nullptr, &queries, nullptr});
  of.problem.seq_q = static_cast<Index>(queries.size());
}

/// The numbers of every batch member a second time.
template <class Value>
void double_members(std::vector<Value>& of_members) {
  const std::size_t size = of_members.size();
  of_members.reserve(2 * size);
  for (std::size_t i = 0; i < size; ++i) of_members.push_back(of_members[i]);
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
  Case member = from;
  Problem& problem = member.problem;
  const std::vector<Index> alone{b};
  for (const auto tensor : {&Case::q, &Case::k, &Case::v, &Case::qv, &Case::dout, &Case::dlse})
    member.*tensor = picked(from.*tensor, {&alone, nullptr, nullptr, nullptr});
  if (has_axis(problem, &Bias::per_batch))
    member.bias = picked(from.bias, {&alone, nullptr, nullptr, nullptr});
  std::vector<Index> pairs = all_keys(problem.heads_kv);
  for (Index& pair : pairs) pair += b * problem.heads_kv;
  pick_descales(problem, pairs);
  if (!problem.kv.page_table.empty()) problem.kv.page_table = picked(problem.kv.page_table, alone);
  const std::vector<Index> queries = all_keys(problem.query_length(b));
  const std::vector<Index> keys = all_keys(problem.key_length(b));
  const bool cut = static_cast<Index>(queries.size()) != problem.seq_q ||
                   static_cast<Index>(keys.size()) != problem.seq_kv;
  problem.batch = 1;
  problem.query_lengths.clear();
  problem.key_lengths.clear();
  if (cut) {
    pick_mask(problem, &queries, &keys);
    pick_queries(member, queries);
    pick_keys(member, keys);
  }
  becomes_literal(member);
  return with_fitting_tiling(std::move(member));
}

Case with_strangers(const Case& on) {
  const Index batch = on.problem.batch;
  Case both = on;
  Problem& problem = both.problem;
  problem.batch = 2 * batch;
  double_members(problem.key_lengths);
  double_members(problem.query_lengths);
  if (problem.descales)
    for (auto* const factors : {&problem.descales->q, &problem.descales->k, &problem.descales->v})
      if (factors->size() > 1) double_members(*factors);
  for (const CaseTensor& of : case_tensors()) {
    const Tensor& tensor = on.*of.tensor;
    const Extents extents = of.extents(problem);
    if (extents == tensor.extents()) continue;  // it has no members
    both.*
        of.tensor = filled(tensor.dtype(), extents, [&](Index b, Index h, Index row, Index column) {
      return b < batch ? tensor.get(b, h, row, column) : 3 - tensor.get(b - batch, h, row, column);
    });
  }
  return both;
}

Case select_keys(const Case& from, const std::vector<Index>& keys) {
  // Pages and padding go with the keys that they hold; a view stays one.
  Case selected = from;
  selected.problem.kv = {};
  pick_mask(selected.problem, nullptr, &keys);
  pick_keys(selected, keys);
  becomes_literal(selected);
  return with_fitting_tiling(std::move(selected));
}

Case select_queries(const Case& from, const std::vector<Index>& queries) {
  Case selected = from;
  pick_mask(selected.problem, &queries, nullptr);
  pick_queries(selected, queries);
  becomes_literal(selected);
  return selected;
}

Case single_head(const Case& from, Index h) {
  Case single = from;
  Problem& problem = single.problem;
  const std::vector<Index> head{h};
  const std::vector<Index> kv_head{problem.kv_head(h)};
  for (const auto tensor : {&Case::q, &Case::qv, &Case::dout, &Case::dlse, &Case::sink})
    single.*tensor = picked(from.*tensor, {nullptr, &head, nullptr, nullptr});
  if (has_axis(problem, &Bias::per_head))
    single.bias = picked(from.bias, {nullptr, &head, nullptr, nullptr});
  for (const auto tensor : {&Case::k, &Case::v})
    single.*tensor = picked(from.*tensor, {nullptr, &kv_head, nullptr, nullptr});
  if (problem.alibi) {
    const double slope = alibi_slope(problem, h);
    problem.alibi->slopes = {slope};
  }
  std::vector<Index> pairs = all_keys(problem.batch);
  for (Index& pair : pairs) pair = pair * problem.heads_kv + kv_head.front();
  pick_descales(problem, pairs);
  problem.heads_q = problem.heads_kv = 1;
  becomes_literal(single);
  return single;
}

Case single_row(const Case& from, const RowIndex& row) {
  return single_head(select_queries(spelled_out(single_member(from, row.batch)), {row.query}),
                     row.head);
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
  if (tensor == &Case::v) from.problem.v_is_k_view = false;
  share_values(from);
  becomes_literal(from);
  return from;
}

KvStorage shuffled_pages(const Problem& problem, Index page_size, std::uint64_t seed) {
  KvStorage kv;
  kv.kind = KvStorage::Kind::paged;
  kv.page_size = page_size;
  kv.pages = 1;
  std::vector<Index> needed;
  for (Index b = 0; b < problem.batch; ++b) {
    needed.push_back((problem.key_length(b) + page_size - 1) / page_size);
    kv.pages += needed.back();
  }
  std::vector<Index> free = all_keys(kv.pages);
  SplitMix64 random(seed);
  for (std::size_t i = free.size(); i > 1; --i) std::swap(free[i - 1], free[random.below(i)]);
  for (const Index count : needed) {
    kv.page_table.emplace_back(free.end() - count, free.end());
    free.resize(free.size() - static_cast<std::size_t>(count));
  }
  return kv;
}

}  // namespace attest::properties
