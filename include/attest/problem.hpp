// What is computed, without the values of q, k and v.
//
//   score(i, j) = scale * sum_c q(i, c) k(j, c)
//   out(i, c)   = sum over visible j of exp(score - row_max) v(j, c) / row_sum
//   lse(i)      = row_max + ln(row_sum)                       natural logarithm
//
// Shapes, in the index order (batch, head, row, column) of TensorView:
//   q   (batch, heads_q,  seq_q,  head_dim)      k (batch, heads_kv, seq_kv, head_dim)
//   out (batch, heads_q,  seq_q,  head_dim_v)    v (batch, heads_kv, seq_kv, head_dim_v)
//   lse (batch, heads_q,  seq_q,  1)
#pragma once

#include <vector>

#include "attest/dtype.hpp"
#include "attest/mask.hpp"
#include "attest/policy.hpp"
#include "attest/status.hpp"
#include "attest/tensor_view.hpp"

namespace attest {

/// Factor on the dot product. The exact problem uses the factor rounded to the problem's dtype.
struct Scale {
  bool reciprocal_sqrt = true;  ///< 1 / sqrt(head_dim)
  double value = 1.0;           ///< read only when reciprocal_sqrt is false

  friend bool operator==(const Scale&, const Scale&) = default;
};

struct Problem {
  Index batch = 1;
  Index heads_q = 1;
  Index heads_kv = 1;  ///< divides heads_q; query head h reads kv head h / (heads_q / heads_kv)
  Index seq_q = 1;
  Index seq_kv = 1;                ///< rows of k and v in memory
  std::vector<Index> key_lengths;  ///< per batch member, each in [0, seq_kv]; empty: all seq_kv
  Index head_dim = 1;
  Index head_dim_v = 1;
  Dtype dtype = Dtype::f32;
  Scale scale;
  Mask mask;
  AllMaskedPolicy all_masked = AllMaskedPolicy::zero;
  LseForm lse = LseForm::none;

  Index key_length(Index b) const {
    return key_lengths.empty() ? seq_kv : key_lengths[static_cast<std::size_t>(b)];
  }
  Index kv_head(Index h) const { return h / (heads_q / heads_kv); }
  Extents q_extents() const { return {batch, heads_q, seq_q, head_dim}; }
  Extents k_extents() const { return {batch, heads_kv, seq_kv, head_dim}; }
  Extents v_extents() const { return {batch, heads_kv, seq_kv, head_dim_v}; }
  Extents out_extents() const { return {batch, heads_q, seq_q, head_dim_v}; }
  Extents lse_extents() const { return {batch, heads_q, seq_q, 1}; }
  Index rows() const { return batch * heads_q * seq_q; }

  friend bool operator==(const Problem&, const Problem&) = default;
};

/// Says what is contradictory in a problem; ok() for a problem that every function here accepts.
Status validate(const Problem& problem);

/// The factor of the exact problem: 1/sqrt(head_dim) or the given number, rounded to the dtype.
double scale_value(const Problem& problem);

/// Offset of the causal diagonal of one batch member. Precondition: problem.mask.causal.
Index causal_offset(const Problem& problem, Index b);

/// Whether query `query` of batch member `b` sees key `key`. Precondition: indices in range.
bool visible(const Problem& problem, Index b, Index query, Index key);

/// Class of the rectangle [query_begin, query_end) x [key_begin, key_end); an empty one is `empty`.
TileClass classify(const Problem& problem, Index b, Index query_begin, Index query_end,
                   Index key_begin, Index key_end);

}  // namespace attest
