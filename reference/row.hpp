// One row as numbers: what the oracle computes on, free of layouts, masks and heads.
//
//   x_j = scale * sum_c q_c k_jc
//   s_j = softcap * tanh((x_j + before_j) / softcap) + after_j
//   o_c = sum_j exp(s_j) v_jc / Z                 Z   = sum_j exp(s_j) + exp(sink)
//   lse = ln Z                                    natural logarithm
//
// before_j and after_j are sums of addends. All numbers are the stored ones, exact as doubles.
// Without softcap s_j = x_j + before_j + after_j.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "attest/error_bound.hpp"
#include "attest/problem.hpp"
#include "attest/tensor_view.hpp"

namespace attest::reference {

/// Tensors by logical index (attest/problem.hpp); null where the problem has none. With
/// Problem::v_is_k_view, v is a view of k.
struct Inputs {
  const Problem* problem = nullptr;
  ConstTensorRef q;
  ConstTensorRef k;
  ConstTensorRef v;
  ConstTensorRef bias = {};
  ConstTensorRef sink = {};
  ConstTensorRef qv = {};
};

/// The visible part of one row, gathered.
struct Row {
  std::vector<Index> keys;           ///< the visible keys, ascending
  std::vector<double> q;             ///< head_dim
  std::vector<double> k;             ///< keys x head_dim
  std::vector<double> v;             ///< keys x head_dim_v
  std::vector<ScoreAddend> addends;  ///< each with one number a key
  std::optional<double> sink;
  double scale = 1;
  double softcap = 0;  ///< 0: none
  Index head_dim = 1;
  Index head_dim_v = 1;
  /// Every product of q and k is exact in double: their bits are 53 at most together, and products
  /// of numbers of f32 and of descaled fp8 do not underflow.
  bool exact_products = false;

  bool empty() const { return keys.empty() && !sink; }
};

/// What the rows of a problem are gathered from: numbers descaled exactly, by logical index.
class RowReader {
 public:
  explicit RowReader(const Inputs& inputs);

  /// Appends a query (q, or q and qv), a key (k, or k and v) or a value. False when a number is not
  /// finite.
  bool append_query(const RowIndex& row, std::vector<double>& list) const;
  bool append_key(Index b, Index kv_head, Index key, std::vector<double>& list) const;
  bool append_value(Index b, Index kv_head, Index key, std::vector<double>& list) const;

  /// Bias, ALiBi and additive mask of a row, in this order.
  std::vector<ScoreAddend> addends(const RowIndex& row, const std::vector<Index>& keys) const;
  std::optional<double> sink(Index head) const;

  Index head_dim() const;  ///< of queries and keys as appended
  bool exact_products() const;

 private:
  const Inputs& inputs_;
  const Problem& problem_;
};

/// Gathers a row. With qv its head_dim is the sum of the problem's head_dim and head_dim_v. Nothing
/// when a visible input is not finite.
/// Preconditions: the query is below the query length; what is descaled has at most 24 bits.
std::optional<Row> read_row(const Inputs& inputs, const RowIndex& row);

/// The row over all keys of the batch member with scores of 0, whose output is the mean of v: an
/// empty row under AllMaskedPolicy::mean. It is empty only where the member has no key.
std::optional<Row> read_mean_row(const Inputs& inputs, const RowIndex& row);

/// The addends of RowFacts: those of the row, and 0 for the sink.
std::vector<ScoreAddend> addends_with_sink(const Row& row);

/// Facts of a row without visible keys and without sink: output 0, lse -inf, both exact.
RowFacts empty_row_facts(const Row& row);

}  // namespace attest::reference
