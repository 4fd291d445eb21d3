// Random draws and random masks, for the tests of the problem text.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "attest/element.hpp"
#include "attest/problem.hpp"
#include "attest/random.hpp"
#include "problem_checks.hpp"

namespace attest {

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}

  bool chance(std::uint64_t one_in) { return random_.below(one_in) == 0; }
  Index between(Index low, Index high) {
    return low + static_cast<Index>(random_.below(static_cast<std::uint64_t>(high - low + 1)));
  }
  std::uint64_t bits() { return random_.next(); }
  template <class Value>
  Value pick(const std::vector<Value>& values) {
    return values[random_.below(values.size())];
  }
  std::vector<bool> visible(Index count) {
    std::vector<bool> list;
    for (; count > 0; --count) list.push_back(chance(2));
    return list;
  }

  /// Any bit pattern of the dtype, or a small whole number.
  double number(Dtype dtype) {
    if (chance(2)) return rounded_to(dtype, static_cast<double>(between(-9, 9)));
    const std::uint64_t code = random_.next();
    return load_element(dtype, &code);
  }
  double finite_number(Dtype dtype) {
    double value = number(dtype);
    while (!std::isfinite(value)) value = number(dtype);
    return value;
  }
  double positive_number(Dtype dtype) {
    double value = std::abs(finite_number(dtype));
    while (value == 0) value = std::abs(finite_number(dtype));
    return value;
  }
  std::vector<double> numbers(const Extents& extents, Dtype dtype) {
    std::vector<double> list(
        static_cast<std::size_t>(extents[0] * extents[1] * extents[2] * extents[3]));
    for (double& element : list) element = number(dtype);
    return list;
  }

 private:
  SplitMix64 random_;
};

inline Causal random_diagonal(Draw& draw) {
  Causal diagonal;
  diagonal.alignment = static_cast<Causal::Alignment>(draw.between(0, 2));
  if (diagonal.alignment == Causal::Alignment::explicit_offset)
    diagonal.offset = draw.chance(2) ? draw.between(-5, 5) : std::bit_cast<Index>(draw.bits());
  return diagonal;
}

inline Index random_limit(Draw& draw) {
  return draw.chance(6) ? std::numeric_limits<Index>::max() : draw.between(0, 4);
}

/// What counts from a diagonal, and the diagonal.
inline void fill_band(Draw& draw, Mask& mask) {
  if (draw.chance(2)) {
    mask.causal = random_diagonal(draw);
    if (draw.chance(3)) mask.prefix = random_limit(draw);
  } else if (draw.chance(2)) {
    mask.alignment = random_diagonal(draw);
  }
  if (!mask.causal && !mask.alignment) return;
  if (draw.chance(3)) mask.window.left = random_limit(draw);
  if (draw.chance(3)) mask.window.right = random_limit(draw);
  if (mask.window.left && draw.chance(2)) mask.keep_first = random_limit(draw);
  if (draw.chance(4)) mask.chunk = draw.between(1, 4);
}

inline void fill_tables(Draw& draw, Problem& problem) {
  Mask& mask = problem.mask;
  const auto rows = [&] { return problem.seq_q == 0 || draw.chance(2) ? 1 : problem.seq_q; };
  if (draw.chance(4)) {
    Segments& segments = mask.segments.emplace();
    for (Index i = 0; i < problem.seq_q; ++i) segments.q.push_back(draw.between(-1, 1));
    for (Index j = 0; j < problem.seq_kv; ++j) segments.k.push_back(draw.between(-1, 1));
    if (problem.seq_q == problem.seq_kv && draw.chance(2)) segments.k = segments.q;
  }
  if (draw.chance(3)) {
    MaskBits& bits = mask.bits.emplace(MaskBits{rows(), problem.seq_kv, {}});
    bits.visible = draw.visible(bits.rows * bits.columns);
  }
  if (draw.chance(4)) {
    BlockMask& blocks = mask.blocks.emplace();
    blocks.block_q = draw.between(1, 3);
    blocks.block_kv = draw.between(1, 3);
    blocks.rows = ceil_divide(problem.seq_q, blocks.block_q);
    blocks.columns = ceil_divide(problem.seq_kv, blocks.block_kv);
    blocks.visible = draw.visible(blocks.rows * blocks.columns);
  }
  if (draw.chance(4)) {
    AdditiveMask& additive = mask.additive.emplace(AdditiveMask{rows(), problem.seq_kv, {}});
    for (Index i = 0; i < additive.rows * additive.columns; ++i)
      additive.value.push_back(draw.chance(3) ? -std::numeric_limits<double>::infinity()
                                              : draw.finite_number(problem.compute_dtype()));
  }
}

}  // namespace attest
