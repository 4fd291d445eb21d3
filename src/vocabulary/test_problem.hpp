// Small problems and masks.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "attest/problem.hpp"
#include "test_refusal.hpp"

namespace attest {

inline constexpr Index kSmallestIndex = std::numeric_limits<Index>::min();
inline constexpr Index kLargestIndex = std::numeric_limits<Index>::max();

inline Problem problem_of(Index seq_q, Index seq_kv) {
  Problem problem;
  problem.seq_q = seq_q;
  problem.seq_kv = seq_kv;
  return problem;
}

inline Problem causal_problem(Index seq_q, Index seq_kv, Causal::Alignment alignment,
                              Index offset = 0) {
  Problem problem = problem_of(seq_q, seq_kv);
  problem.mask.causal = Causal{alignment, offset};
  return problem;
}

/// One string of 0 and 1 a row.
inline MaskBits bits_of(const std::vector<std::string>& rows) {
  MaskBits bits{static_cast<Index>(rows.size()), static_cast<Index>(rows.front().size()), {}};
  for (const std::string& row : rows)
    for (const char bit : row) bits.visible.push_back(bit == '1');
  return bits;
}

inline std::string refusal(const Problem& problem) {
  return refusal(validate(problem));
}

}  // namespace attest
