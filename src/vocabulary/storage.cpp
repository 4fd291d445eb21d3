#include "attest/storage.hpp"

#include <algorithm>
#include <numeric>

#include "attest/problem.hpp"

namespace attest {
namespace {

/// Rows of the members before `b` in a packed tensor.
Index rows_before(const std::vector<Index>& lengths, Index longest, Index b) {
  if (lengths.empty()) return b * longest;
  return std::accumulate(lengths.begin(), lengths.begin() + b, Index{0});
}

/// Axes of a layout, fastest first, as indices into extents (b, h, row); columns are faster still.
std::array<std::size_t, 3> axes_fastest_first(Layout::Order order) {
  switch (order) {
    case Layout::Order::bhsd:
      return {2, 1, 0};
    case Layout::Order::sbhd:
      return {1, 0, 2};
    case Layout::Order::bshd:
    case Layout::Order::thd:
      break;
  }
  return {1, 2, 0};
}

Index row_pitch(const Layout& layout, Index columns) {
  return columns * layout.column_stride + layout.row_padding;
}

}  // namespace

StoredRow stored_query(const Problem& problem, Index b, Index query) {
  if (problem.layout.order != Layout::Order::thd) return {b, query};
  return {0, rows_before(problem.query_lengths, problem.seq_q, b) + query};
}

StoredRow stored_key(const Problem& problem, Index b, Index key) {
  const KvStorage& kv = problem.kv;
  switch (kv.kind) {
    case KvStorage::Kind::left_padded:
      return {b, problem.seq_kv - problem.key_length(b) + key};
    case KvStorage::Kind::paged: {
      const std::vector<Index>& table = kv.page_table[static_cast<std::size_t>(b)];
      return {table[static_cast<std::size_t>(key / kv.page_size)], key % kv.page_size};
    }
    case KvStorage::Kind::dense:
      break;
  }
  if (problem.layout.order != Layout::Order::thd) return {b, key};
  return {0, rows_before(problem.key_lengths, problem.seq_kv, b) + key};
}

Extents stored_q_extents(const Problem& problem, Index columns) {
  if (problem.layout.order != Layout::Order::thd)
    return {problem.batch, problem.heads_q, problem.seq_q, columns};
  return {1, problem.heads_q, rows_before(problem.query_lengths, problem.seq_q, problem.batch),
          columns};
}

Extents stored_kv_extents(const Problem& problem, Index columns) {
  if (problem.kv.kind == KvStorage::Kind::paged)
    return {problem.kv.pages, problem.heads_kv, problem.kv.page_size, columns};
  if (problem.layout.order != Layout::Order::thd)
    return {problem.batch, problem.heads_kv, problem.seq_kv, columns};
  return {1, problem.heads_kv, rows_before(problem.key_lengths, problem.seq_kv, problem.batch),
          columns};
}

Strides layout_strides(const Layout& layout, const Extents& stored) {
  Strides strides{0, 0, 0, layout.column_stride};
  Index next = row_pitch(layout, stored[3]);
  for (const std::size_t axis : axes_fastest_first(layout.order)) {
    strides[axis] = next;
    next *= stored[axis];
  }
  return strides;
}

Index layout_elements(const Layout& layout, const Extents& stored) {
  return stored[0] * stored[1] * stored[2] * row_pitch(layout, stored[3]);
}

}  // namespace attest
