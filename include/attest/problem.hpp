// What is computed, without the values of the tensors.
//
//   score(i, j) = terms(scale * sum_c q(i, c) k(j, c))      attest/score_terms.hpp
//   out(i, c)   = sum over visible j of exp(score - row_max) v(j, c) / row_sum
//   lse(i)      = row_max + ln(row_sum)                      in the form that LseForm says
//
// A sink adds exp(sink - row_max) to row_sum and nothing to the numerator. A row that sees no key
// and has a sink gives out = 0 and lse = sink (-inf where the lse does not count it).
//
// Logical shapes, in the index order (batch, head, row, column) of TensorView:
//   q    (batch, heads_q,  seq_q,  head_dim)      k  (batch, heads_kv, seq_kv, head_dim)
//   out  (batch, heads_q,  seq_q,  head_dim_v)    v  (batch, heads_kv, seq_kv, head_dim_v)
//   lse  (batch, heads_q,  seq_q,  1; 2 for max_sum)
//   bias (batch or 1, heads_q or 1, seq_q or 1, seq_kv)        sink (1, heads_q, 1, 1)
//   qv   (batch, heads_q,  seq_q,  head_dim_v)
// Where they lie in memory: attest/storage.hpp. Rows beyond the query length of a batch member do
// not exist: nothing reads them, and no kernel writes them.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "attest/dtype.hpp"
#include "attest/mask.hpp"
#include "attest/policy.hpp"
#include "attest/score_terms.hpp"
#include "attest/status.hpp"
#include "attest/storage.hpp"
#include "attest/tensor_view.hpp"

namespace attest {

/// Factor on the dot product. The exact problem uses the factor rounded to the compute dtype.
struct Scale {
  bool reciprocal_sqrt = true;  ///< 1 / sqrt(head_dim); with qv 1 / sqrt(head_dim + head_dim_v)
  double value = 1.0;           ///< read only when reciprocal_sqrt is false

  friend bool operator==(const Scale&, const Scale&) = default;
};

/// Which gradients a problem asks for beside dq, dk and dv, and whether the lse has one.
struct Backward {
  bool dbias = false;
  bool dsink = false;
  bool dlse = false;  ///< a gradient arrives at the natural lse, too

  friend bool operator==(const Backward&, const Backward&) = default;
};

struct Problem {
  Index batch = 1;
  Index heads_q = 1;
  Index heads_kv = 1;  ///< divides heads_q; query head h reads kv head h / (heads_q / heads_kv)
  Index seq_q = 1;     ///< the longest query length
  Index seq_kv = 1;    ///< the longest key length
  std::vector<Index> query_lengths;  ///< per batch member, each in [0, seq_q]; empty: all seq_q
  std::vector<Index> key_lengths;    ///< per batch member, each in [0, seq_kv]; empty: all seq_kv
  Index head_dim = 1;
  Index head_dim_v = 1;
  Dtype dtype = Dtype::f32;          ///< of q, and of what says nothing else
  std::optional<Dtype> k_storage;    ///< where k has another type than q
  std::optional<Dtype> v_storage;    ///< where v has another type than k
  std::optional<Dtype> out_storage;  ///< where out has another type than out_dtype() would give
  std::optional<Descales> descales;  ///< only with fp8 inputs
  Scale scale;
  double softcap = 0;  ///< 0: none; else finite, positive, exact in the compute dtype
  ScoreOrder order;
  std::optional<Bias> bias;
  std::optional<Alibi> alibi;
  std::optional<Sink> sink;
  bool qv = false;           ///< x = scale * (q . k + qv . v)
  bool v_is_k_view = false;  ///< v(j, c) = k(j, c), in the same memory; head_dim_v <= head_dim
  Mask mask;
  AllMaskedPolicy all_masked = AllMaskedPolicy::zero;
  /// lse of a row with no visible key and no sink, in the unit of `lse`; none: not looked at.
  std::optional<double> empty_lse = -std::numeric_limits<double>::infinity();
  LseForm lse = LseForm::none;
  Layout layout;
  KvStorage kv;
  std::optional<Backward> backward;

  Index key_length(Index b) const {
    return key_lengths.empty() ? seq_kv : key_lengths[static_cast<std::size_t>(b)];
  }
  Index query_length(Index b) const {
    return query_lengths.empty() ? seq_q : query_lengths[static_cast<std::size_t>(b)];
  }
  Index kv_head(Index h) const { return h / (heads_q / heads_kv); }

  Dtype k_dtype() const { return k_storage.value_or(dtype); }
  Dtype v_dtype() const { return v_storage.value_or(k_dtype()); }
  /// The type of q; bf16 where that is fp8.
  Dtype out_dtype() const { return out_storage.value_or(is_fp8(dtype) ? Dtype::bf16 : dtype); }
  /// f64 iff one of q, k, v is f64; the type of lse, sink, softcap and scale.
  Dtype compute_dtype() const {
    const bool wide = dtype == Dtype::f64 || k_dtype() == Dtype::f64 || v_dtype() == Dtype::f64;
    return wide ? Dtype::f64 : Dtype::f32;
  }
  bool has_fp8_inputs() const { return is_fp8(dtype) || is_fp8(k_dtype()) || is_fp8(v_dtype()); }
  Dtype bias_dtype() const { return bias && bias->dtype ? *bias->dtype : compute_dtype(); }

  Extents q_extents() const { return {batch, heads_q, seq_q, head_dim}; }
  Extents k_extents() const { return {batch, heads_kv, seq_kv, head_dim}; }
  Extents v_extents() const { return {batch, heads_kv, seq_kv, head_dim_v}; }
  Extents out_extents() const { return {batch, heads_q, seq_q, head_dim_v}; }
  Extents lse_extents() const { return {batch, heads_q, seq_q, lse == LseForm::max_sum ? 2 : 1}; }
  Extents qv_extents() const { return qv ? out_extents() : Extents{}; }
  Extents bias_extents() const {
    if (!bias) return {};
    return {bias->per_batch ? batch : 1, bias->per_head ? heads_q : 1, bias->per_query ? seq_q : 1,
            seq_kv};
  }
  /// No elements for a sink that is zero.
  Extents sink_extents() const {
    return sink && !sink->zero ? Extents{1, heads_q, 1, 1} : Extents{};
  }
  Extents dlse_extents() const {
    return backward && backward->dlse ? Extents{batch, heads_q, seq_q, 1} : Extents{};
  }
  Index rows() const { return batch * heads_q * seq_q; }

  friend bool operator==(const Problem&, const Problem&) = default;
};

/// Says what is contradictory in a problem; ok() for a problem that every function here accepts.
Status validate(const Problem& problem);

/// The factor of the exact problem: 1/sqrt(head_dim) or the given number, rounded to the compute
/// dtype.
double scale_value(const Problem& problem);

/// Offset of the causal diagonal of one batch member. Precondition: problem.mask.causal.
Index causal_offset(const Problem& problem, Index b);

/// Offset of the diagonal of window and chunk: that of the causal part, or the mask's alignment.
Index mask_offset(const Problem& problem, Index b);

/// Whether query `query` of batch member `b` sees key `key`. Precondition: indices in range.
bool visible(const Problem& problem, Index b, Index query, Index key);

/// Class of the rectangle [query_begin, query_end) x [key_begin, key_end); an empty one is `empty`.
/// Queries and keys beyond the lengths of the batch member are not visible.
TileClass classify(const Problem& problem, Index b, Index query_begin, Index query_end,
                   Index key_begin, Index key_end);

/// Slope of a query head as a f32 number. Precondition: problem.alibi.
double alibi_slope(const Problem& problem, Index h);

/// The exact ALiBi term of a pair: a f32 number times an integer. Precondition: problem.alibi.
double alibi_term(const Problem& problem, Index b, Index h, Index query, Index key);
/// The same for a slope that is at hand.
double alibi_term(const Problem& problem, double slope, const RowIndex& row, Index key);

/// Calls body(row) for every row that exists, in (batch, head, query) order.
template <class Body>
void for_each_row(const Problem& problem, Body&& body) {
  for (Index b = 0; b < problem.batch; ++b)
    for (Index h = 0; h < problem.heads_q; ++h)
      for (Index query = 0; query < problem.query_length(b); ++query) body(RowIndex{b, h, query});
}

}  // namespace attest
