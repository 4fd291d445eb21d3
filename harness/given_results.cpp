#include "harness/given_results.hpp"

#include <bit>
#include <utility>

#include "properties/poison.hpp"

namespace attest::harness {
namespace {

using properties::Case;

enum class Axis { queries, keys, as_it_is };

/// Where row `row` of member b lies, or nowhere.
std::optional<StoredRow> place(const Problem& problem, Axis axis, Index b, Index row) {
  if (axis == Axis::as_it_is) return StoredRow{b, row};
  if (axis == Axis::queries)
    return row < problem.query_length(b) ? std::optional(stored_query(problem, b, row))
                                         : std::nullopt;
  return row < problem.key_length(b) ? std::optional(stored_key(problem, b, row)) : std::nullopt;
}

Tensor logical(const Problem& problem, Axis axis, const ConstTensorRef& stored,
               const Extents& extents) {
  Tensor tensor = properties::poisoned(stored.dtype, extents);
  for_each_index(extents, [&](Index b, Index h, Index row, Index column) {
    if (const auto at = place(problem, axis, b, row))
      tensor.set(b, h, row, column, number_at(stored, at->b, h, at->row, column));
  });
  return tensor;
}

/// Of stored rows of out or lse, element by element, whatever the strides.
void copy_rows(const Problem& problem, const TensorRef& from, const TensorRef& to,
               const Extents& logical_extents) {
  for_each_index(logical_extents, [&](Index b, Index h, Index query, Index column) {
    const auto at = place(problem, Axis::queries, b, query);
    if (!at) return;
    store_element(to.dtype, address_of(to, at->b, h, at->row, column),
                  number_at(read_only(from), at->b, h, at->row, column));
  });
}

bool same_numbers(const Tensor& left, const Tensor& right) {
  if (left.extents() != right.extents() || left.dtype() != right.dtype()) return false;
  bool same = true;
  for_each_index(left.extents(), [&](Index b, Index h, Index row, Index column) {
    same = same && std::bit_cast<std::uint64_t>(left.get(b, h, row, column)) ==
                       std::bit_cast<std::uint64_t>(right.get(b, h, row, column));
  });
  return same;
}

bool same_inputs(const Case& left, const Case& right) {
  for (const properties::CaseTensor& part : properties::case_tensors())
    if (!same_numbers(left.*part.tensor, right.*part.tensor)) return false;
  return true;
}

}  // namespace

Case case_of(const Problem& problem, const ForwardViews& views) {
  Case of;
  of.problem = problem;
  of.q = logical(problem, Axis::queries, views.q, problem.q_extents());
  of.k = logical(problem, Axis::keys, views.k, problem.k_extents());
  const ConstTensorRef& values = problem.v_is_k_view ? views.k : views.v;
  of.v = logical(problem, Axis::keys, values, problem.v_extents());
  for (const properties::CaseTensor& part : properties::case_tensors()) {
    const Extents extents = part.extents(problem);
    if (extents == Extents{}) continue;
    if (part.tensor == &Case::bias) of.bias = logical(problem, Axis::as_it_is, views.bias, extents);
    if (part.tensor == &Case::sink) of.sink = logical(problem, Axis::as_it_is, views.sink, extents);
    if (part.tensor == &Case::qv) of.qv = logical(problem, Axis::queries, views.qv, extents);
  }
  properties::becomes_literal(of);
  return of;
}

Capabilities all_capabilities() {
  Capabilities capabilities;
  capabilities.dtypes.assign(kDtypes.begin(), kDtypes.end());
  capabilities.features.assign(all_features().begin(), all_features().end());
  return capabilities;
}

GivenResults::GivenResults(const Case& of, const ForwardViews& views, DeclaredAccuracy accuracy)
    : of_(of),
      given_(views),
      accuracy_(std::move(accuracy)),
      description_{"KERNEL", "", "results of one call", all_capabilities()} {}

Status GivenResults::forward(const Problem& problem, const Tiling& tiling,
                             const ForwardViews& views) const {
  if (Status status = check_call(description_.capabilities, problem, tiling, views); !status.ok())
    return status;
  if (problem != of_.problem || !same_inputs(case_of(problem, views), of_))
    return {StatusCode::unsupported, "only the results of one call are known"};
  copy_rows(problem, given_.out, views.out, problem.out_extents());
  if (views.lse.data != nullptr) copy_rows(problem, given_.lse, views.lse, problem.lse_extents());
  return {};
}

}  // namespace attest::harness
