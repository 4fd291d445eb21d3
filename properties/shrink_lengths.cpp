#include <algorithm>
#include <numeric>
#include <utility>

#include "properties/shrink_candidates.hpp"

namespace attest::properties {
namespace {

Index longest(const std::vector<Index>& lengths) {
  return *std::max_element(lengths.begin(), lengths.end());
}

/// Other key lengths; keys that no member has any more are gone. Precondition: not empty.
Case with_key_lengths(const Case& from, std::vector<Index> lengths) {
  Case changed = from;
  changed.problem.key_lengths.clear();
  const KvStorage kv = changed.problem.kv;
  if (longest(lengths) != changed.problem.seq_kv)
    changed = select_keys(changed, all_keys(longest(lengths)));
  changed.problem.kv = kv;  // tables may be longer than needed
  changed.problem.key_lengths = std::move(lengths);
  becomes_literal(changed);
  return with_fitting_tiling(std::move(changed));
}

Case with_query_lengths(const Case& from, std::vector<Index> lengths) {
  Case changed = from;
  changed.problem.query_lengths.clear();
  if (longest(lengths) != changed.problem.seq_q)
    changed = select_queries(changed, all_keys(longest(lengths)));
  changed.problem.query_lengths = std::move(lengths);
  becomes_literal(changed);
  return changed;
}

template <class Value>
void drop(std::vector<Value>& from, Index first, Index count) {
  if (!from.empty()) from.erase(from.begin() + first, from.begin() + first + count);
}

/// Every member but one. Precondition: batch > 1.
Case without_member(const Case& from, Index dropped) {
  Case fewer = from;
  Problem& problem = fewer.problem;
  --problem.batch;
  drop(problem.key_lengths, dropped, 1);
  drop(problem.query_lengths, dropped, 1);
  drop(problem.kv.page_table, dropped, 1);
  if (problem.descales)
    for (auto* const factors : {&problem.descales->q, &problem.descales->k, &problem.descales->v})
      if (factors->size() > 1) drop(*factors, dropped * problem.heads_kv, problem.heads_kv);
  for (const CaseTensor& of : case_tensors()) {
    const Tensor& tensor = from.*of.tensor;
    Extents extents = tensor.extents();
    if (extents == Extents{} || extents[0] != from.problem.batch) continue;  // the same for all
    --extents[0];
    fewer.*of.tensor =
        filled(tensor.dtype(), extents, [&](Index b, Index h, Index row, Index column) {
          return tensor.get(b < dropped ? b : b + 1, h, row, column);
        });
  }
  becomes_literal(fewer);
  // A text has no more rows than its longest member needs.
  if (!problem.key_lengths.empty()) fewer = with_key_lengths(fewer, fewer.problem.key_lengths);
  if (!fewer.problem.query_lengths.empty())
    fewer = with_query_lengths(fewer, fewer.problem.query_lengths);
  return fewer;
}

/// Offers one length smaller: 0, the half, one less.
template <class WithLengths>
void shorten(const Case& from, const std::vector<Index>& lengths, Candidates& candidates,
             WithLengths&& with_lengths) {
  for (std::size_t b = 0; b < lengths.size(); ++b)
    for (const Index length : {Index{0}, lengths[b] / 2, lengths[b] - 1}) {
      if (candidates.taken()) return;
      if (length < 0 || length >= lengths[b]) continue;
      std::vector<Index> shorter = lengths;
      shorter[b] = length;
      candidates.offer(with_lengths(from, std::move(shorter)));
    }
}

}  // namespace

Index lengths_cost(const Problem& problem) {
  const auto cost = [](const std::vector<Index>& lengths) {
    return lengths.empty() ? Index{0} : std::accumulate(lengths.begin(), lengths.end(), Index{4});
  };
  return cost(problem.key_lengths) + cost(problem.query_lengths);
}

void shorter_members(const Case& from, Candidates& candidates) {
  const Problem& problem = from.problem;
  for (Index b = 0; problem.batch > 1 && b < problem.batch; ++b)
    if (!candidates.taken()) candidates.offer(without_member(from, b));
  shorten(from, problem.key_lengths, candidates, with_key_lengths);
  shorten(from, problem.query_lengths, candidates, with_query_lengths);
  candidates.offer_changed([](Case& c) { c.problem.key_lengths.clear(); });
}

}  // namespace attest::properties
