// What every scalar kernel does with one row of a tensor.
#pragma once

#include <bit>
#include <cmath>
#include <span>
#include <vector>

#include "attest/accuracy.hpp"
#include "attest/kernel.hpp"

namespace attest::kernels {

/// The elements of row (b, h, row) as a contiguous span: the row itself, or a copy in `buffer`
/// when the elements are not adjacent.
template <class Real>
std::span<const Real> contiguous_row(const TensorView<const Real>& view, Index b, Index h,
                                     Index row, std::vector<Real>& buffer) {
  const auto columns = static_cast<std::size_t>(view.extents[3]);
  const Real* const first = &view(b, h, row, 0);
  if (view.strides[3] == 1) return {first, columns};
  buffer.resize(columns);
  for (std::size_t c = 0; c < columns; ++c) buffer[c] = view(b, h, row, static_cast<Index>(c));
  return buffer;
}

/// scale * sum_c q_c k_c. One product and one addition a term in order, then the scale.
/// Bound: head_dim roundings on the longest path, and one more for the scale (dot_roundings).
template <class Real>
Real scaled_dot(std::span<const Real> q, std::span<const Real> k, Real scale) {
  Real sum = 0;
  for (std::size_t c = 0; c < q.size(); ++c) sum += q[c] * k[c];
  return sum * scale;
}

/// [h] of scaled_dot; a power of two scales without rounding.
inline Index dot_roundings(const Problem& problem) {
  int exponent = 0;
  const double mantissa = std::frexp(std::abs(scale_value(problem)), &exponent);
  return problem.head_dim + (mantissa == 0.5 ? 0 : 1);
}

/// Numbers that hold for kernels that use the exp and log of glibc 2.28 or later on x86-64:
/// at most 1 ulp each (glibc manual, "Known Maximum Errors in Math Functions").
inline DeclaredAccuracy scalar_accuracy(const Problem& problem, SummaryScope scope) {
  DeclaredAccuracy accuracy;
  accuracy.format = format_of(problem.dtype);
  accuracy.dot_roundings = dot_roundings(problem);
  accuracy.exp_relative_error = 2 * accuracy.format.unit_roundoff;
  accuracy.exp_absolute_error = 2 * accuracy.format.rounding_underflow;
  accuracy.log_relative_error = 2 * accuracy.format.unit_roundoff;
  accuracy.scope = scope;
  return accuracy;
}

/// First row without a visible key, in (batch, head, query) order, when the policy rejects it.
inline Status reject_all_masked(const Problem& problem) {
  if (problem.all_masked != AllMaskedPolicy::reject || problem.heads_q == 0) return {};
  for (Index b = 0; b < problem.batch; ++b)
    for (Index query = 0; query < problem.seq_q; ++query)
      if (classify(problem, b, query, query + 1, 0, problem.seq_kv) == TileClass::empty)
        return all_masked_row({b, 0, query});
  return {};
}

}  // namespace attest::kernels
