// Attention as an online-softmax scan over consecutive key blocks of one size, one head.
//
//   out(i, c) = sum over j of exp(s_ij - m_i) v(j, c) / sum over j of exp(s_ij - m_i),
//   s_ij = (q_i . k_j) / sqrt(head_dim), over all j, or over j <= i when causal
//
// Shapes, row-major: q (seq_q, head_dim); k, v (seq_kv, head_dim); result (seq_q, head_dim).
// Errors: invalid_argument when block_size does not divide seq_kv, when causal is asked with
// seq_q != seq_kv (which corner would be meant?), or when a span has another size than its shape.
// The same computation as kernel builtin:scalar_sequential with tile_kv = block_size.
#pragma once

#include <concepts>
#include <span>
#include <vector>

#include "attest/status.hpp"

namespace attest {

template <std::floating_point Real>
struct BlockScan {
  std::span<const Real> q;
  std::span<const Real> k;
  std::span<const Real> v;
  Index seq_q = 0;
  Index seq_kv = 0;
  Index head_dim = 0;
  Index block_size = 0;
  bool causal = false;
};

/// Defined for float and double.
template <std::floating_point Real>
Result<std::vector<Real>> block_scan(const BlockScan<Real>& scan);

}  // namespace attest
