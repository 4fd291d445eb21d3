#include "attest/problem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "attest/element.hpp"

namespace attest {
namespace {

/// Largest product of extents that index arithmetic in 64 bits, in bytes, is sure to hold.
constexpr Index kMaxElements = Index{1} << 56;

bool too_large(const Extents& extents) {
  Index room = kMaxElements;
  for (const Index extent : extents) {
    // An extent of zero is no excuse: the others are multiplied first.
    room /= std::max(extent, Index{1});
  }
  return room == 0;
}

Status check_key_lengths(const Problem& problem) {
  if (problem.key_lengths.empty()) return {};
  if (static_cast<Index>(problem.key_lengths.size()) != problem.batch)
    return invalid_argument("key_lengths has " + std::to_string(problem.key_lengths.size()) +
                            " entries, the batch has " + std::to_string(problem.batch));
  for (const Index length : problem.key_lengths)
    if (length < 0 || length > problem.seq_kv)
      return invalid_argument("key length " + std::to_string(length) + " is outside [0, " +
                              std::to_string(problem.seq_kv) + "]");
  return {};
}

Status check_mask_bits(const Problem& problem) {
  if (!problem.mask.bits) return {};
  const MaskBits& bits = *problem.mask.bits;
  if (bits.rows < 1 || (bits.rows != 1 && bits.rows != problem.seq_q))
    return invalid_argument("mask bits have " + std::to_string(bits.rows) + " rows, the problem " +
                            std::to_string(problem.seq_q) + " queries");
  if (bits.columns != problem.seq_kv)
    return invalid_argument("mask bits have " + std::to_string(bits.columns) +
                            " columns, the problem " + std::to_string(problem.seq_kv) + " keys");
  if (bits.rows > std::numeric_limits<Index>::max() / std::max(bits.columns, Index{1}) ||
      static_cast<Index>(bits.visible.size()) != bits.rows * bits.columns)
    return invalid_argument("mask bits do not fill their rows and columns");
  return {};
}

}  // namespace

Status validate(const Problem& problem) {
  if (problem.batch < 0 || problem.seq_q < 0 || problem.seq_kv < 0)
    return invalid_argument("batch and lengths must not be negative");
  if (problem.head_dim < 1 || problem.head_dim_v < 1)
    return invalid_argument("head_dim and head_dim_v must be at least 1");
  if (problem.heads_kv < 1 || problem.heads_q < 1 || problem.heads_q % problem.heads_kv != 0)
    return invalid_argument("query heads (" + std::to_string(problem.heads_q) +
                            ") must be a multiple of key/value heads (" +
                            std::to_string(problem.heads_kv) + ")");
  if (too_large(problem.q_extents()) || too_large(problem.k_extents()) ||
      too_large(problem.v_extents()) || too_large(problem.out_extents()))
    return invalid_argument("a tensor of this problem has more than 2^56 elements");
  if (!problem.scale.reciprocal_sqrt && !std::isfinite(scale_value(problem)))
    return invalid_argument("scale must be finite in the problem's dtype");
  if (Status status = check_key_lengths(problem); !status.ok()) return status;
  return check_mask_bits(problem);
}

double scale_value(const Problem& problem) {
  const Index dims = problem.head_dim + (problem.qv ? problem.head_dim_v : 0);
  const double exact = problem.scale.reciprocal_sqrt ? 1.0 / std::sqrt(static_cast<double>(dims))
                                                     : problem.scale.value;
  return rounded_to(problem.compute_dtype(), exact);
}

}  // namespace attest
