#include "properties/shrink.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <set>
#include <string>

#include "properties/check.hpp"
#include "properties/derive.hpp"
#include "properties/shrink_candidates.hpp"
#include "properties/small_worlds.hpp"

namespace attest::properties {
namespace {

/// 0 and small whole numbers are plain, powers of two less so, long fractions least.
double number_cost(double value) {
  if (value == 0) return std::signbit(value) ? 0.5 : 0;
  if (!std::isfinite(value)) return 1000;
  const double size = std::abs(value);
  const double sign = value < 0 ? 0.5 : 0;
  if (size <= 64 && size == std::trunc(size)) return 1 + size + sign;
  int exponent = 0;
  double mantissa = std::frexp(size, &exponent);
  double bits = 0;
  while (mantissa != std::trunc(mantissa)) {
    mantissa *= 2;
    ++bits;
  }
  return 100 + 2 * bits + std::abs(exponent) / 8.0 + sign;
}

double values_cost(const Tensor& tensor) {
  double cost = 0;
  for_each_index(tensor.extents(), [&](Index b, Index h, Index row, Index column) {
    cost += number_cost(tensor.get(b, h, row, column));
  });
  return cost;
}

Index tiling_cost(const Case& of) {
  const Tiling& tiling = of.tiling;
  const Index splits = tiling.splits.cuts.empty()
                           ? tiling.splits.count
                           : 100 + 10 * static_cast<Index>(tiling.splits.cuts.size());
  const Index merge = tiling.merge.kind == MergeOrder::Kind::left     ? 0
                      : tiling.merge.kind == MergeOrder::Kind::random ? 3
                                                                      : 2;
  // Beyond the keys a tile size says nothing, so that smaller is plainer.
  return splits + merge + std::min(tiling.tile_q, Index{1000}) +
         std::min(tiling.tile_kv, Index{1000});
}

/// The sub-tensor at the given positions along one axis.
Tensor pick(const Tensor& from, std::size_t axis, const std::vector<Index>& positions) {
  Extents extents = from.extents();
  extents[axis] = static_cast<Index>(positions.size());
  return filled(from.dtype(), extents, [&](Index b, Index h, Index row, Index column) {
    std::array<Index, 4> at{b, h, row, column};
    at[axis] = positions[static_cast<std::size_t>(at[axis])];
    return from.get(at[0], at[1], at[2], at[3]);
  });
}

/// 0 .. n-1 without [begin, end).
std::vector<Index> without(Index n, Index begin, Index end) {
  std::vector<Index> kept;
  for (Index i = 0; i < n; ++i)
    if (i < begin || i >= end) kept.push_back(i);
  return kept;
}

/// Calls body(kept positions) for ever smaller removed chunks: all but one, halves, ..., singles.
template <class Body>
void for_each_cut(Index n, Body&& body) {
  for (Index chunk = n - 1; chunk >= 1; chunk /= 2)
    for (Index begin = 0; begin < n; begin += chunk)
      body(without(n, begin, std::min(n, begin + chunk)));
}

void drop_members_and_heads(const Case& from, Candidates& candidates) {
  const Problem& problem = from.problem;
  if (problem.batch > 1 || !problem.key_lengths.empty() || !problem.query_lengths.empty())
    for (Index b = 0; b < problem.batch; ++b) candidates.offer(single_member(from, b));
  if (problem.heads_q == 1) return;
  for (Index h = 0; h < problem.heads_q; ++h)
    if (!candidates.taken()) candidates.offer(single_head(from, h));
}

void drop_keys(const Case& from, Candidates& candidates) {
  if (!from.problem.key_lengths.empty()) return;
  for_each_cut(from.problem.seq_kv, [&](const std::vector<Index>& kept) {
    if (!candidates.taken()) candidates.offer(select_keys(from, kept));
  });
}

void drop_queries(const Case& from, Candidates& candidates) {
  if (!from.problem.query_lengths.empty()) return;
  for_each_cut(from.problem.seq_q, [&](const std::vector<Index>& kept) {
    if (!candidates.taken()) candidates.offer(select_queries(from, kept));
  });
}

void drop_columns(const Case& from, Candidates& candidates) {
  for_each_cut(from.problem.head_dim, [&](const std::vector<Index>& kept) {
    candidates.offer_changed([&](Case& c) {
      c.problem.head_dim = static_cast<Index>(kept.size());
      if (c.problem.v_is_k_view && c.problem.head_dim_v > c.problem.head_dim) return;
      c.q = pick(from.q, 3, kept);
      c.k = pick(from.k, 3, kept);
      share_values(c);
      becomes_literal(c);
    });
  });
  for_each_cut(from.problem.head_dim_v, [&](const std::vector<Index>& kept) {
    candidates.offer_changed([&](Case& c) {
      c.problem.head_dim_v = static_cast<Index>(kept.size());
      c.v = pick(from.v, 3, kept);
      if (c.problem.qv) c.qv = pick(from.qv, 3, kept);
      if (c.problem.backward) c.dout = pick(from.dout, 3, kept);
      share_values(c);
      becomes_literal(c);
    });
  });
}

void plainer_parts(const Case& from, Candidates& candidates) {
  plainer_masks(from, candidates);
  candidates.offer_changed([](Case& c) { c.tiling = {1, 1, {}, {}}; });
  candidates.offer_changed([](Case& c) { c.tiling.splits = {}; });
  candidates.offer_changed([](Case& c) { c.tiling.merge = {}; });
  candidates.offer_changed([](Case& c) { c.tiling.tile_q = 1; });
  for (const Index tile : {Index{1}, from.tiling.tile_kv / 2, from.tiling.tile_kv - 1})
    candidates.offer_changed([&](Case& c) { c.tiling.tile_kv = std::max(Index{1}, tile); });
  candidates.offer_changed([](Case& c) {
    if (!c.tiling.splits.cuts.empty()) c.tiling.splits.cuts.pop_back();
  });
  candidates.offer_changed([](Case& c) {
    if (!c.tiling.splits.cuts.empty()) c.tiling.splits.cuts.erase(c.tiling.splits.cuts.begin());
  });
  candidates.offer_changed([](Case& c) {
    if (c.tiling.splits.count > 1) --c.tiling.splits.count;
  });
  candidates.offer_changed([](Case& c) { c.problem.scale = {}; });
  candidates.offer_changed([](Case& c) { c.problem.scale = {false, 1.0}; });
  candidates.offer_changed([](Case& c) { c.problem.all_masked = AllMaskedPolicy::zero; });
}

void plainer_values(const Case& from, Candidates& candidates) {
  std::vector<Tensor Case::*> tensors;
  for (const CaseTensor& of : case_tensors())
    if ((from.*of.tensor).extents() != Extents{} && !is_view(from.problem, of.tensor))
      tensors.push_back(of.tensor);
  const auto offer_mapped = [&](Tensor Case::*tensor, double (*map)(double)) {
    if (candidates.taken()) return;
    candidates.offer(with_values(from, tensor, [&](Index b, Index h, Index row, Index column) {
      return map((from.*tensor).get(b, h, row, column));
    }));
  };
  candidates.offer_changed([](Case& c) {
    becomes_literal(c);
    c.values.seed = 0;
  });
  for (const auto tensor : tensors) {
    offer_mapped(tensor, [](double) { return 0.0; });
    offer_mapped(tensor, [](double) { return 1.0; });
    offer_mapped(tensor, [](double value) { return std::round(value); });
    offer_mapped(tensor, [](double value) { return value > 0 ? 1.0 : value < 0 ? -1.0 : 0.0; });
    offer_mapped(tensor,
                 [](double value) { return static_cast<double>(static_cast<float>(value)); });
  }
  for (const auto tensor : tensors) {
    for_each_index((from.*tensor).extents(), [&](Index b, Index h, Index row, Index column) {
      const double value = (from.*tensor).get(b, h, row, column);
      for (const double simpler :
           {0.0, 1.0, -1.0, std::round(value), std::trunc(value / 2), value / 2}) {
        if (candidates.taken()) return;
        Case changed = from;
        (changed.*tensor).set(b, h, row, column, simpler);
        share_values(changed);
        becomes_literal(changed);
        candidates.offer(std::move(changed));
      }
    });
  }
}

/// Small cases that were judged and hold: every step offers the same small worlds again.
class JudgedSmall {
 public:
  /// Whether the case is new, or too large to be remembered.
  bool is_new(const Case& of) {
    const Problem& problem = of.problem;
    const bool small = problem.rows() <= 4 && problem.seq_kv <= 2 && problem.head_dim == 1;
    return !small || judged_.insert(minimal_text(to_text(of))).second;
  }

 private:
  std::set<std::string> judged_;
};

/// Until no simpler case violates the law, or `spent` says that it is enough.
Shrunk descend(const Kernel& kernel, const Law& law, const Case& from, const Verdict& verdict,
               const std::function<bool(const Shrunk&)>& spent) {
  Shrunk shrunk{from, verdict};
  JudgedSmall judged;
  bool moved = true;
  while (moved) {
    moved = false;
    const Case start = shrunk.smallest;
    visit_simpler_cases(start, [&](Case&& candidate) {
      if (spent(shrunk)) {
        shrunk.finished = false;
        return true;
      }
      if (!judged.is_new(candidate)) return false;
      ++shrunk.tried;
      Verdict smaller = check_once(kernel, law, candidate);
      if (!is_violation(smaller.outcome)) return false;
      ++shrunk.kept;
      shrunk.smallest = std::move(candidate);
      shrunk.verdict = std::move(smaller);
      moved = true;
      return true;
    });
  }
  if (shrunk.kept > 0) shrunk.verdict = check_case(kernel, law, shrunk.smallest);
  return shrunk;
}

}  // namespace

Complexity complexity(const Case& of) {
  const Problem& problem = of.problem;
  const Index settings = (problem.scale.reciprocal_sqrt ? 0
                          : problem.scale.value == 1.0  ? 1
                                                        : 2) +
                         (problem.all_masked == AllMaskedPolicy::zero ? 0 : 1) +
                         (of.values.seed == 0 ? 0 : 1);
  double values = 0;
  for (const CaseTensor& tensor : case_tensors())
    if (!is_view(problem, tensor.tensor)) values += values_cost(of.*tensor.tensor);
  return {features_cost(problem),
          problem.batch + problem.heads_q + problem.heads_kv,
          problem.seq_kv + problem.seq_q,
          problem.head_dim + problem.head_dim_v,
          mask_cost(problem.mask) + lengths_cost(problem),
          tiling_cost(of),
          settings,
          values};
}

void visit_simpler_cases(const Case& from, const std::function<bool(Case&&)>& visit) {
  Candidates candidates(from, visit);
  for (Case& world : small_worlds(from)) candidates.offer(std::move(world));
  for (const auto moves : {strip_features, drop_members_and_heads, shorter_members, drop_keys,
                           drop_queries, drop_columns, plainer_parts, plainer_values}) {
    if (candidates.taken()) return;
    moves(from, candidates);
  }
}

Shrunk shrink(const Kernel& kernel, const Law& law, const Case& from, const Verdict& verdict,
              double seconds) {
  // Every smaller case that hangs as well would take a whole timeout.
  if (seconds <= 0 || verdict.outcome == Outcome::timeout) return {from, verdict};
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  return descend(kernel, law, from, verdict, [&](const Shrunk&) { return Clock::now() >= end; });
}

Shrunk shrink_within(const Kernel& kernel, const Law& law, const Case& from, const Verdict& verdict,
                     int tries) {
  return descend(kernel, law, from, verdict,
                 [&](const Shrunk& shrunk) { return shrunk.tried >= tries; });
}

}  // namespace attest::properties
