#include "properties/small_worlds.hpp"

#include <algorithm>
#include <utility>

#include "properties/shrink.hpp"

namespace attest::properties {
namespace {

std::vector<Mask> masks_like(const Mask& like, Index seq_kv) {
  std::vector<Mask> masks{Mask{}};
  if (like.causal) masks.push_back({.causal = like.causal});
  if (!like.bits || seq_kv == 0) return masks;
  // All rows of bits that hide something.
  for (unsigned pattern = 0; pattern + 1 < 1U << seq_kv; ++pattern) {
    MaskBits bits{1, seq_kv, {}};
    for (Index key = 0; key < seq_kv; ++key) bits.visible.push_back((pattern >> key & 1U) != 0);
    masks.push_back({.bits = std::move(bits)});
  }
  return masks;
}

/// Fills a tensor from the bits of a number.
Tensor from_bits(Dtype dtype, const Extents& extents, unsigned bits) {
  unsigned next = 0;
  return filled(dtype, extents, [&](Index, Index, Index, Index) {
    return static_cast<double>(bits >> next++ & 1U);
  });
}

void append_worlds(const Problem& problem, const Tiling& tiling, std::vector<Case>& worlds) {
  const unsigned patterns = 1U << problem.seq_kv;
  for (const unsigned q : {0U, 1U})
    for (unsigned k = 0; k < patterns; ++k)
      for (unsigned v = 0; v < patterns; ++v) {
        Case& world = worlds.emplace_back();
        world.problem = problem;
        world.tiling = tiling;
        becomes_literal(world);
        world.q = from_bits(problem.dtype, problem.q_extents(), q == 0 ? 0U : 3U);
        world.k = from_bits(problem.dtype, problem.k_extents(), k);
        world.v = from_bits(problem.dtype, problem.v_extents(), v);
      }
}

}  // namespace

std::vector<Case> small_worlds(const Case& like) {
  std::vector<Case> worlds;
  for (const Index seq_q : {1, 2}) {
    for (const Index seq_kv : {1, 2}) {
      for (const Mask& mask : masks_like(like.problem.mask, seq_kv)) {
        Problem problem;
        problem.seq_q = seq_q;
        problem.seq_kv = seq_kv;
        problem.dtype = like.problem.dtype;
        problem.lse = like.problem.lse;
        problem.all_masked = like.problem.all_masked;
        problem.mask = mask;
        for (const Index splits : {1, 2})
          append_worlds(problem, {1, 1, {.count = splits, .cuts = {}}, {}}, worlds);
      }
    }
  }
  std::vector<std::pair<Complexity, std::size_t>> order;
  order.reserve(worlds.size());
  for (std::size_t i = 0; i < worlds.size(); ++i) order.emplace_back(complexity(worlds[i]), i);
  std::sort(order.begin(), order.end());
  std::vector<Case> ascending;
  ascending.reserve(worlds.size());
  for (const auto& [ignored, i] : order) ascending.push_back(std::move(worlds[i]));
  if (like.values.seed == 0) return ascending;
  // The same once more, with the choices that the law drew for `like`.
  const std::size_t plain = ascending.size();
  ascending.reserve(2 * plain);
  for (std::size_t i = 0; i < plain; ++i) {
    ascending.push_back(ascending[i]);
    ascending.back().values.seed = like.values.seed;
  }
  return ascending;
}

}  // namespace attest::properties
