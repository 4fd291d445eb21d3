#include "reference/row.hpp"

#include <cstddef>
#include <limits>

#include "reference/visibility.hpp"

namespace attest::reference {
namespace {

/// Appends one row of a tensor; false when an element is not finite.
template <class Real>
bool append_elements(const TensorView<const Real>& view, Index b, Index h, Index row,
                     std::vector<double>& list) {
  const Index columns = view.extents[3];
  const std::size_t first = list.size();
  list.resize(first + static_cast<std::size_t>(columns));
  double* const out = list.data() + first;
  const Real* const in = columns == 0 ? nullptr : &view(b, h, row, 0);
  const Index stride = view.strides[3];
  double check = 0;  // 0 * x is NaN for every x that is not finite; the loop has no branch
  for (Index c = 0; c < columns; ++c) {
    out[c] = static_cast<double>(in[c * stride]);
    check += out[c] * 0;
  }
  return check == 0;
}

bool append_row(const ConstTensorRef& tensor, Index b, Index h, Index row,
                std::vector<double>& list) {
  if (tensor.dtype == Dtype::f32) return append_elements(tensor.as<const float>(), b, h, row, list);
  return append_elements(tensor.as<const double>(), b, h, row, list);
}

}  // namespace

std::optional<Row> read_row(const Inputs& inputs, const RowIndex& index) {
  const Problem& problem = *inputs.problem;
  Row row;
  row.scale = scale_value(problem);
  row.head_dim = problem.head_dim;
  row.head_dim_v = problem.head_dim_v;
  row.exact_products = problem.dtype == Dtype::f32;
  row.keys = visible_keys(problem, index.batch, index.query);
  if (row.keys.empty()) return row;
  const Index group_size = problem.heads_q / problem.heads_kv;
  const Index kv_head = index.head / group_size;
  row.k.reserve(row.keys.size() * static_cast<std::size_t>(problem.head_dim));
  row.v.reserve(row.keys.size() * static_cast<std::size_t>(problem.head_dim_v));
  bool finite = append_row(inputs.q, index.batch, index.head, index.query, row.q);
  for (const Index key : row.keys) {
    finite = append_row(inputs.k, index.batch, kv_head, key, row.k) && finite;
    finite = append_row(inputs.v, index.batch, kv_head, key, row.v) && finite;
  }
  if (!finite) return std::nullopt;
  return row;
}

std::vector<ScoreAddend> addends_with_sink(const Row& row) {
  std::vector<ScoreAddend> addends = row.addends;
  if (row.sink)
    for (ScoreAddend& addend : addends) addend.value.push_back(0);
  return addends;
}

RowFacts empty_row_facts(const Row& row) {
  RowFacts facts;
  facts.output.assign(static_cast<std::size_t>(row.head_dim_v), Enclosure{});
  facts.lse = {-std::numeric_limits<double>::infinity(), 0, 0};
  facts.scale = row.scale;
  facts.softcap = row.softcap;
  facts.head_dim = row.head_dim;
  return facts;
}

}  // namespace attest::reference
