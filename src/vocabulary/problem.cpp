#include "attest/problem.hpp"

#include <cmath>

#include "attest/element.hpp"

namespace attest {

double scale_value(const Problem& problem) {
  const Index dims = problem.head_dim + (problem.qv ? problem.head_dim_v : 0);
  const double exact = problem.scale.reciprocal_sqrt ? 1.0 / std::sqrt(static_cast<double>(dims))
                                                     : problem.scale.value;
  return rounded_to(problem.compute_dtype(), exact);
}

Index causal_offset(const Problem& problem, Index b) {
  const Causal causal = problem.mask.causal.value_or(Causal{});
  switch (causal.alignment) {
    case Causal::Alignment::top_left:
      return 0;
    case Causal::Alignment::bottom_right:
      return problem.key_length(b) - problem.seq_q;
    case Causal::Alignment::explicit_offset:
      break;
  }
  return causal.offset;
}

bool visible(const Problem& problem, Index b, Index query, Index key) {
  if (key >= problem.key_length(b)) return false;
  if (problem.mask.causal && key - query > causal_offset(problem, b)) return false;
  return !problem.mask.bits || problem.mask.bits->at(query, key);
}

TileClass classify(const Problem& problem, Index b, Index query_begin, Index query_end,
                   Index key_begin, Index key_end) {
  if (query_begin >= query_end || key_begin >= key_end || key_begin >= problem.key_length(b))
    return TileClass::empty;
  bool full = key_end <= problem.key_length(b);
  if (problem.mask.causal) {
    const Index offset = causal_offset(problem, b);
    if (key_begin - (query_end - 1) > offset) return TileClass::empty;
    full = full && key_end - 1 - query_begin <= offset;
  }
  if (!problem.mask.bits) return full ? TileClass::full : TileClass::partial;
  bool any = false;
  for (Index query = query_begin; query < query_end; ++query)
    for (Index key = key_begin; key < key_end; ++key) {
      const bool seen = visible(problem, b, query, key);
      any = any || seen;
      full = full && seen;
    }
  if (full) return TileClass::full;
  return any ? TileClass::partial : TileClass::empty;
}

}  // namespace attest
