#include "reference/row.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

#include "attest/element.hpp"
#include "attest/tensor.hpp"
#include "reference/visibility.hpp"

namespace attest::reference {
namespace {

/// A row of a tensor whose numbers are `factor` times the stored ones.
struct StoredNumbers {
  const ConstTensorRef& tensor;
  Index b = 0;
  Index h = 0;
  Index row = 0;
  double factor = 1;

  const void* at(Index column) const { return address_of(tensor, b, h, row, column); }
};

/// Appends the numbers; false when one is not finite. 0 * x is NaN for every x that is not finite;
/// the loop has no branch.
template <class Load>
bool append_with(const StoredNumbers& from, std::vector<double>& list, Load load) {
  const Index columns = from.tensor.extents[3];
  const std::size_t first = list.size();
  list.resize(first + static_cast<std::size_t>(columns));
  double* const out = list.data() + first;
  double check = 0;
  for (Index c = 0; c < columns; ++c) {
    out[c] = load(from, c) * from.factor;
    check += out[c] * 0;
  }
  return check == 0;
}

template <class Real>
bool append_elements(const StoredNumbers& from, std::vector<double>& list) {
  const Real* const in = &from.tensor.as<const Real>()(from.b, from.h, from.row, 0);
  const Index stride = from.tensor.strides[3];
  return append_with(from, list, [in, stride](const StoredNumbers&, Index c) {
    return static_cast<double>(in[c * stride]);
  });
}

bool append(const StoredNumbers& from, std::vector<double>& list) {
  if (from.tensor.extents[3] == 0) return true;
  if (from.tensor.dtype == Dtype::f32) return append_elements<float>(from, list);
  if (from.tensor.dtype == Dtype::f64) return append_elements<double>(from, list);
  return append_with(from, list, [](const StoredNumbers& numbers, Index c) {
    return load_element(numbers.tensor.dtype, numbers.at(c));
  });
}

/// The descale of a kv head: one number for all, or one a (batch, kv head) pair.
double descale(const Problem& problem, std::vector<double> Descales::*of, Index b, Index kv_head) {
  if (!problem.descales) return 1;
  const std::vector<double>& factors = *problem.descales.*of;
  if (factors.size() == 1) return factors.front();
  return factors.at(static_cast<std::size_t>(b * problem.heads_kv + kv_head));
}

/// Significant bits of a number as it is read: those of f32 factors that are not 1 come on top.
int bits_of(Dtype dtype, const Problem& problem, std::vector<double> Descales::*of) {
  int bits = 53;
  if (dtype == Dtype::f32) bits = 24;
  if (dtype == Dtype::bf16) bits = 8;
  if (dtype == Dtype::f16) bits = 11;
  if (dtype == Dtype::e4m3) bits = 4;
  if (dtype == Dtype::e5m2) bits = 3;
  if (!problem.descales) return bits;
  const std::vector<double>& factors = *problem.descales.*of;
  const bool all_one = std::all_of(factors.begin(), factors.end(), [](double f) { return f == 1; });
  return all_one ? bits : bits + 24;
}

Index kv_head_of(const Problem& problem, Index head) {
  return head / (problem.heads_q / problem.heads_kv);
}

/// The ALiBi term by its definition: the query stands on the last key that it would see at the
/// diagonal, and the slope is the problem's.
double alibi_of(const Problem& problem, const RowIndex& row, Index key) {
  const Alibi& alibi = *problem.alibi;
  const double slope = alibi_slope(problem, row.head);
  Index position = row.query;
  if (alibi.alignment == Causal::Alignment::bottom_right)
    position = problem.key_length(row.batch) - (problem.query_length(row.batch) - row.query);
  const auto ahead = static_cast<double>(key - position);
  if (alibi.form == Alibi::Form::column) return slope * static_cast<double>(key);
  return alibi.form == Alibi::Form::relative ? slope * ahead : -slope * std::abs(ahead);
}

/// A row of the problem without numbers.
Row empty_row(const RowReader& reader, const Problem& problem) {
  Row row;
  row.scale = scale_value(problem);
  row.softcap = problem.softcap;
  row.head_dim = reader.head_dim();
  row.head_dim_v = problem.head_dim_v;
  row.exact_products = reader.exact_products();
  return row;
}

}  // namespace

RowReader::RowReader(const Inputs& inputs) : inputs_(inputs), problem_(*inputs.problem) {}

bool RowReader::append_query(const RowIndex& row, std::vector<double>& list) const {
  const double factor = descale(problem_, &Descales::q, row.batch, kv_head_of(problem_, row.head));
  const bool finite = append({inputs_.q, row.batch, row.head, row.query, factor}, list);
  if (!problem_.qv) return finite;
  return append({inputs_.qv, row.batch, row.head, row.query, factor}, list) && finite;
}

bool RowReader::append_key(Index b, Index kv_head, Index key, std::vector<double>& list) const {
  const double factor = descale(problem_, &Descales::k, b, kv_head);
  const bool finite = append({inputs_.k, b, kv_head, key, factor}, list);
  return problem_.qv ? append_value(b, kv_head, key, list) && finite : finite;
}

bool RowReader::append_value(Index b, Index kv_head, Index key, std::vector<double>& list) const {
  // The numbers of a view of k are those of k.
  const auto of = problem_.v_is_k_view ? &Descales::k : &Descales::v;
  return append({inputs_.v, b, kv_head, key, descale(problem_, of, b, kv_head)}, list);
}

std::vector<ScoreAddend> RowReader::addends(const RowIndex& row,
                                            const std::vector<Index>& keys) const {
  std::vector<ScoreAddend> addends;
  const auto add = [&](bool before_softcap, bool computed, auto&& term) {
    ScoreAddend& addend = addends.emplace_back();
    addend.before_softcap = before_softcap;
    addend.computed = computed;
    addend.value.reserve(keys.size() + 1);
    for (const Index key : keys) addend.value.push_back(term(key));
  };
  const ScoreOrder& order = problem_.order;
  if (const auto& bias = problem_.bias)
    add(order.bias_before_softcap, false, [&](Index key) {
      return number_at(inputs_.bias, bias->per_batch ? row.batch : 0, bias->per_head ? row.head : 0,
                       bias->per_query ? row.query : 0, key);
    });
  if (problem_.alibi)
    add(order.alibi_before_softcap, true, [&](Index key) { return alibi_of(problem_, row, key); });
  if (const auto& additive = problem_.mask.additive)
    add(order.mask_before_softcap, false, [&](Index key) { return additive->at(row.query, key); });
  return addends;
}

std::optional<double> RowReader::sink(Index head) const {
  if (!problem_.sink) return std::nullopt;
  return problem_.sink->zero ? 0.0 : number_at(inputs_.sink, 0, head, 0, 0);
}

Index RowReader::head_dim() const {
  return problem_.head_dim + (problem_.qv ? problem_.head_dim_v : 0);
}

bool RowReader::exact_products() const {
  const auto exact = [&](const ConstTensorRef& left, const ConstTensorRef& right,
                         std::vector<double> Descales::*of_right) {
    return bits_of(left.dtype, problem_, &Descales::q) + bits_of(right.dtype, problem_, of_right) <=
           53;
  };
  const auto of_v = problem_.v_is_k_view ? &Descales::k : &Descales::v;
  return exact(inputs_.q, inputs_.k, &Descales::k) &&
         (!problem_.qv || exact(inputs_.qv, inputs_.v, of_v));
}

std::optional<Row> read_row(const Inputs& inputs, const RowIndex& index) {
  const Problem& problem = *inputs.problem;
  const RowReader reader(inputs);
  Row row = empty_row(reader, problem);
  row.keys = visible_keys(problem, index.batch, index.query);
  row.sink = reader.sink(index.head);
  if (row.keys.empty()) return row;
  row.addends = reader.addends(index, row.keys);
  const Index kv_head = kv_head_of(problem, index.head);
  row.k.reserve(row.keys.size() * static_cast<std::size_t>(row.head_dim));
  row.v.reserve(row.keys.size() * static_cast<std::size_t>(row.head_dim_v));
  bool finite = reader.append_query(index, row.q);
  for (const Index key : row.keys) {
    finite = reader.append_key(index.batch, kv_head, key, row.k) && finite;
    finite = reader.append_value(index.batch, kv_head, key, row.v) && finite;
  }
  if (!finite) return std::nullopt;
  return row;
}

std::optional<Row> read_mean_row(const Inputs& inputs, const RowIndex& index) {
  const Problem& problem = *inputs.problem;
  const RowReader reader(inputs);
  Row row = empty_row(reader, problem);
  row.softcap = 0;
  row.keys.resize(static_cast<std::size_t>(problem.key_length(index.batch)));
  std::iota(row.keys.begin(), row.keys.end(), Index{0});
  if (row.keys.empty()) return row;
  row.q.assign(static_cast<std::size_t>(row.head_dim), 0.0);
  row.k.assign(row.keys.size() * row.q.size(), 0.0);
  const Index kv_head = kv_head_of(problem, index.head);
  for (const Index key : row.keys)
    if (!reader.append_value(index.batch, kv_head, key, row.v)) return std::nullopt;
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
