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

/// What `visible` says, in the form of bits_of.
inline std::vector<std::string> visibility_table(const Problem& problem, Index b = 0) {
  std::vector<std::string> rows(static_cast<std::size_t>(problem.seq_q));
  for (Index query = 0; query < problem.seq_q; ++query)
    for (Index key = 0; key < problem.seq_kv; ++key)
      rows[static_cast<std::size_t>(query)] += visible(problem, b, query, key) ? '1' : '0';
  return rows;
}

inline std::string refusal(const Problem& problem) {
  return refusal(validate(problem));
}

}  // namespace attest
