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

struct Inputs {
  const Problem* problem = nullptr;
  ConstTensorRef q;
  ConstTensorRef k;
  ConstTensorRef v;
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
  /// Every q and k has at most 26 bits, so that a product is exact in double (f32 and narrower),
  /// unless it underflows, which exponents of f32 exclude.
  bool exact_products = false;

  bool empty() const { return keys.empty() && !sink; }
};

/// Gathers a row. Nothing when a visible input is not finite.
std::optional<Row> read_row(const Inputs& inputs, const RowIndex& row);

/// The addends of RowFacts: those of the row, and 0 for the sink.
std::vector<ScoreAddend> addends_with_sink(const Row& row);

/// Facts of a row without visible keys and without sink: output 0, lse -inf, both exact.
RowFacts empty_row_facts(const Row& row);

}  // namespace attest::reference
