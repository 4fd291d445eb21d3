#include "properties/stored.hpp"

#include <cstring>
#include <utility>

#include "properties/poison.hpp"

namespace attest::properties {
namespace {

Tensor poisoned_in(const Layout& layout, Dtype dtype, const Extents& stored) {
  return poisoned(dtype, stored, layout_strides(layout, stored), layout_elements(layout, stored));
}

std::size_t byte_of(const Tensor& tensor, const StoredRow& at, Index head, Index column) {
  return static_cast<std::size_t>(element_offset(tensor.strides(), at.b, head, at.row, column)) *
         size_of(tensor.dtype());
}

/// Copies one row of all heads, bit for bit.
void copy_row(const Tensor& from, const StoredRow& from_row, Tensor& to, const StoredRow& to_row) {
  const std::size_t size = size_of(from.dtype());
  for (Index h = 0; h < to.extents()[1]; ++h)
    for (Index c = 0; c < to.extents()[3]; ++c)
      std::memcpy(to.bytes().data() + byte_of(to, to_row, h, c),
                  from.bytes().data() + byte_of(from, from_row, h, c), size);
}

/// Calls body(logical row, stored row) for every row of queries or keys that exists.
template <class Body>
void for_each_stored_query(const Problem& problem, Body&& body) {
  for (Index b = 0; b < problem.batch; ++b)
    for (Index query = 0; query < problem.query_length(b); ++query)
      body(StoredRow{b, query}, stored_query(problem, b, query));
}
template <class Body>
void for_each_stored_key(const Problem& problem, Body&& body) {
  for (Index b = 0; b < problem.batch; ++b)
    for (Index key = 0; key < problem.key_length(b); ++key)
      body(StoredRow{b, key}, stored_key(problem, b, key));
}

Tensor optional_rows(const Problem& problem, const Tensor& logical) {
  return logical.extents() == Extents{} ? Tensor{} : pack_rows(problem, logical);
}

ConstTensorRef value_view(const Problem& problem, const StoredInputs& inputs) {
  if (!problem.v_is_k_view) return inputs.v.ref();
  ConstTensorRef view = inputs.k.ref();
  view.extents[3] = problem.head_dim_v;
  return view;
}

}  // namespace

bool stores_rows_densely(const Problem& problem) {
  return problem.layout.dense_bshd() && problem.query_lengths.empty();
}

bool stores_keys_densely(const Problem& problem) {
  return problem.layout.dense_bshd() && problem.key_lengths.empty() &&
         problem.kv.kind == KvStorage::Kind::dense;
}

Tensor poisoned_rows(const Problem& problem, Dtype dtype, Index columns) {
  return poisoned_in(problem.layout, dtype, stored_q_extents(problem, columns));
}

Tensor poisoned_keys(const Problem& problem, Dtype dtype, Index columns) {
  return poisoned_in(problem.layout, dtype, stored_kv_extents(problem, columns));
}

Tensor pack_rows(const Problem& problem, const Tensor& logical) {
  if (stores_rows_densely(problem)) return logical;
  Tensor stored = poisoned_rows(problem, logical.dtype(), logical.extents()[3]);
  for_each_stored_query(problem, [&](const StoredRow& row, const StoredRow& at) {
    copy_row(logical, row, stored, at);
  });
  return stored;
}

Tensor pack_keys(const Problem& problem, const Tensor& logical) {
  if (stores_keys_densely(problem)) return logical;
  Tensor stored = poisoned_keys(problem, logical.dtype(), logical.extents()[3]);
  for_each_stored_key(problem, [&](const StoredRow& row, const StoredRow& at) {
    copy_row(logical, row, stored, at);
  });
  return stored;
}

Tensor unpack_rows(const Problem& problem, Tensor stored) {
  if (stores_rows_densely(problem)) return stored;
  Tensor logical = poisoned(stored.dtype(),
                            {problem.batch, problem.heads_q, problem.seq_q, stored.extents()[3]});
  for_each_stored_query(problem, [&](const StoredRow& row, const StoredRow& at) {
    copy_row(stored, at, logical, row);
  });
  return logical;
}

Tensor unpack_keys(const Problem& problem, Tensor stored) {
  if (stores_keys_densely(problem)) return stored;
  Tensor logical = poisoned(stored.dtype(),
                            {problem.batch, problem.heads_kv, problem.seq_kv, stored.extents()[3]});
  for_each_stored_key(problem, [&](const StoredRow& row, const StoredRow& at) {
    copy_row(stored, at, logical, row);
  });
  return logical;
}

StoredInputs store(const Case& of) {
  const Problem& problem = of.problem;
  StoredInputs inputs;
  inputs.q = pack_rows(problem, of.q);
  inputs.k = pack_keys(problem, of.k);
  if (!problem.v_is_k_view) inputs.v = pack_keys(problem, of.v);
  inputs.bias = of.bias;
  inputs.sink = of.sink;
  inputs.qv = optional_rows(problem, of.qv);
  inputs.dout = optional_rows(problem, of.dout);
  inputs.dlse = optional_rows(problem, of.dlse);
  return inputs;
}

ForwardViews forward_views(const Problem& problem, const StoredInputs& inputs) {
  ForwardViews views;
  views.q = inputs.q.ref();
  views.k = inputs.k.ref();
  views.v = value_view(problem, inputs);
  views.bias = view_of(inputs.bias);
  views.sink = view_of(inputs.sink);
  views.qv = view_of(inputs.qv);
  return views;
}

BackwardViews backward_views(const Problem& problem, const StoredInputs& inputs) {
  BackwardViews views;
  views.q = inputs.q.ref();
  views.k = inputs.k.ref();
  views.v = value_view(problem, inputs);
  views.dout = view_of(inputs.dout);
  views.dlse = view_of(inputs.dlse);
  views.bias = view_of(inputs.bias);
  views.sink = view_of(inputs.sink);
  return views;
}

}  // namespace attest::properties
