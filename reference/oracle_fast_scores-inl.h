// Scores of the fast oracle on vectors. Error terms: docs/numerics.md, "Fast oracle".

#if defined(ATTEST_REFERENCE_ORACLE_FAST_SCORES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_REFERENCE_ORACLE_FAST_SCORES_INL_H_
#undef ATTEST_REFERENCE_ORACLE_FAST_SCORES_INL_H_
#else
#define ATTEST_REFERENCE_ORACLE_FAST_SCORES_INL_H_
#endif

#include <algorithm>
#include <array>
#include <cmath>

#include "reference/exp_double_double-inl.h"
#include "reference/oracle_fast_row.hpp"

HWY_BEFORE_NAMESPACE();
namespace attest::reference::HWY_NAMESPACE {

using Tag = hn::ScalableTag<double>;
using Vector = hn::Vec<Tag>;
using Double = Pair<Vector>;
inline constexpr std::size_t kLanes = hn::MaxLanes(Tag());
static_assert(kKeyPadding % kLanes == 0);

HWY_INLINE Vector set(double value) {
  return hn::Set(Tag(), value);
}

/// The first `count` < kLanes doubles at `from`, then zeros. Nothing behind them is read: Highway
/// promises that of MaskedLoad only where the hardware has it, which is where vectors are wide.
HWY_INLINE Vector load_first(const double* from, std::size_t count) {
  const Tag d;
  if constexpr (kLanes > 2) return hn::MaskedLoad(hn::FirstN(d, count), d, from);
  HWY_ALIGN std::array<double, kLanes> lanes{};
  std::copy_n(from, count, lanes.data());
  return hn::Load(d, lanes.data());
}

/// value * factor + addend where a rounding more does not matter.
HWY_INLINE Vector fused(Vector value, double factor, Vector addend) {
  return hn::MulAdd(value, set(factor), addend);
}

/// One key's sums over a part of its coordinates, per lane.
struct DotSums {
  Vector sum;        ///< of q k, in double
  Vector rest;       ///< what the roundings of `sum` left out
  Vector magnitude;  ///< of |q k|
  Vector size;       ///< of |k|
};

/// Sum2 and Dot2 (ORO Algorithms 4.4 and 5.3) with an unevaluated result.
template <bool kExactProducts>
HWY_INLINE void add_product(DotSums& sums, Vector q, Vector k) {
  if constexpr (kExactProducts) {
    const Double step = two_sum(sums.sum, hn::Mul(q, k));
    sums.sum = step.high;
    sums.rest = hn::Add(sums.rest, step.low);
  } else {
    const Double product = two_product(q, k);
    const Double step = two_sum(sums.sum, product.high);
    sums.sum = step.high;
    sums.rest = hn::Add(sums.rest, hn::Add(step.low, product.low));
  }
  const Vector size = hn::Abs(k);
  sums.size = hn::Add(sums.size, size);
  sums.magnitude = hn::MulAdd(hn::Abs(q), size, sums.magnitude);
}

/// The sums of a vector of keys, key by key, to be read lane by lane.
struct DotBuffer {
  static constexpr std::size_t kSize = kLanes * kLanes;
  HWY_ALIGN std::array<double, kSize> sum{}, rest{}, magnitude{}, size{};

  HWY_INLINE void store(std::size_t key, const DotSums& sums) {
    const Tag d;
    hn::Store(sums.sum, d, sum.data() + key * kLanes);
    hn::Store(sums.rest, d, rest.data() + key * kLanes);
    hn::Store(sums.magnitude, d, magnitude.data() + key * kLanes);
    hn::Store(sums.size, d, size.data() + key * kLanes);
  }
};

/// Vector i of the result: lane i of every key.
HWY_INLINE std::array<Vector, kLanes> lanes_of(const std::array<double, DotBuffer::kSize>& rows) {
  const Tag d;
  std::array<Vector, kLanes> columns;
  if constexpr (kLanes == 1) {
    columns[0] = hn::Load(d, rows.data());
  } else if constexpr (kLanes == 2) {
    hn::LoadInterleaved2(d, rows.data(), columns[0], columns[1]);
  } else if constexpr (kLanes == 4) {
    hn::LoadInterleaved4(d, rows.data(), columns[0], columns[1], columns[2], columns[3]);
  } else {
    const hn::RebindToSigned<Tag> di;
    const auto first = hn::Mul(hn::Iota(di, 0), hn::Set(di, static_cast<std::int64_t>(kLanes)));
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      columns[lane] = hn::GatherIndex(d, rows.data() + lane, first);
  }
  return columns;
}

HWY_INLINE Vector total(const std::array<double, DotBuffer::kSize>& rows) {
  const std::array<Vector, kLanes> columns = lanes_of(rows);
  Vector sum = columns[0];
  for (std::size_t lane = 1; lane < kLanes; ++lane) sum = hn::Add(sum, columns[lane]);
  return sum;
}

/// Two keys at a time: two chains of additions hide each other's latency.
template <bool kExactProducts, std::size_t kCount>
HWY_INLINE void sum_products(const FastRow& fast, std::size_t key, std::size_t slot,
                             DotBuffer& buffer) {
  const Tag d;
  const double* const q = fast.row.q.data();
  const double* const k = fast.row.k.data() + key * fast.dim;
  std::array<DotSums, kCount> sums;
  for (DotSums& each : sums) each = {set(0), set(0), set(0), set(0)};
  std::size_t c = 0;
  for (; c + kLanes <= fast.dim; c += kLanes) {
    const Vector query = hn::LoadU(d, q + c);
    for (std::size_t i = 0; i < kCount; ++i)
      add_product<kExactProducts>(sums[i], query, hn::LoadU(d, k + i * fast.dim + c));
  }
  if (c < fast.dim) {
    const Vector query = load_first(q + c, fast.dim - c);
    for (std::size_t i = 0; i < kCount; ++i)
      add_product<kExactProducts>(sums[i], query, load_first(k + i * fast.dim + c, fast.dim - c));
  }
  for (std::size_t i = 0; i < kCount; ++i) buffer.store(slot + i, sums[i]);
}

/// cap tanh(x / cap) = cap (1 - t) / (1 + t) with t = exp(-2 |x / cap|), and the sign of x. It
/// moves an error of x by at most itself, and adds at most kSoftcapError |cap|: (5) of the notes.
inline constexpr double kSoftcapError = 0x1p-99;
HWY_INLINE Double soften(Double x, double cap) {
  const Double one{set(1), set(0)};
  const Double ratio = divide(x, Double{set(std::abs(cap)), set(0)});
  const Vector sign = hn::CopySign(set(2), hn::Neg(ratio.high));
  const Double twice{hn::Mul(ratio.high, sign), hn::Mul(ratio.low, sign)};  // -2 |x / cap|
  const auto saturated = hn::Lt(twice.high, set(kLowestArgument));
  Double t = exp(
      Double{hn::Max(twice.high, set(kLowestArgument)), hn::IfThenZeroElse(saturated, twice.low)});
  t = {hn::IfThenZeroElse(saturated, t.high), hn::IfThenZeroElse(saturated, t.low)};
  const Double tanh = divide(add(one, Double{hn::Neg(t.high), hn::Neg(t.low)}), add(one, t));
  return multiply(tanh, hn::CopySign(set(std::abs(cap)), ratio.high));
}

/// Adds what comes before the softcap, or after it, to a vector of scores; (4) of the notes.
HWY_INLINE void add_addends(const Row& row, bool before, std::size_t first, std::size_t count,
                            Double& score, Vector& error) {
  for (const ScoreAddend& addend : row.addends) {
    if ((row.softcap != 0 && addend.before_softcap) != before) continue;
    HWY_ALIGN std::array<double, kLanes> value{};
    std::copy_n(addend.value.data() + first, count, value.data());
    score = add(score, hn::Load(Tag(), value.data()));
    error = fused(hn::Abs(score.high), 2 * kUnit2 * kRoundUp, error);
  }
}

template <bool kExactProducts>
void score_visible_keys(FastRow& fast) {
  const Tag d;
  const Row& row = fast.row;
  const std::size_t whole_steps = (fast.dim + kLanes - 1) / kLanes;
  const auto steps = static_cast<double>(whole_steps);
  const auto dim = static_cast<double>(fast.dim);
  // (3) and (4) of the notes, and the product with the scale.
  const double share =
      kRoundUp * kUnit2 * (steps * steps / 2 + 3 * steps + 1 + 3 * static_cast<double>(kLanes) + 2);
  const double lost = kTiny * (64 + 8 * dim * std::abs(row.scale));
  // d products and additions round, and the lanes' sum; a product may underflow.
  const double upward = 1 + 0x1p-52 * (dim + 16);
  Vector dot_max = set(0);
  Vector size_max = set(0);
  Vector check = set(0);
  for (std::size_t first = 0; first < fast.visible; first += kLanes) {
    const std::size_t count = std::min(kLanes, fast.visible - first);
    DotBuffer buffer;
    std::size_t i = 0;
    for (; i + 2 <= count; i += 2) sum_products<kExactProducts, 2>(fast, first + i, i, buffer);
    if (i < count) sum_products<kExactProducts, 1>(fast, first + i, i, buffer);

    const std::array<Vector, kLanes> sums = lanes_of(buffer.sum);
    const std::array<Vector, kLanes> rests = lanes_of(buffer.rest);
    Double dot = two_sum(sums[0], rests[0]);
    for (std::size_t lane = 1; lane < kLanes; ++lane)
      dot = add(dot, two_sum(sums[lane], rests[lane]));
    const Vector magnitude = fused(total(buffer.magnitude), upward, set(4 * dim * kTiny));
    dot_max = hn::Max(dot_max, magnitude);
    size_max = hn::Max(size_max, fused(total(buffer.size), upward, set(0)));

    Double score = multiply(dot, set(row.scale));
    const Vector scaled = fused(magnitude, std::abs(row.scale) * (1 + 0x1p-51), set(4 * kTiny));
    Vector error = fused(scaled, share, set(lost));
    add_addends(row, true, first, count, score, error);
    if (row.softcap != 0) {
      score = soften(score, row.softcap);
      error = hn::Add(error, set(kSoftcapError * std::abs(row.softcap)));
    }
    add_addends(row, false, first, count, score, error);
    check = hn::MulAdd(hn::Add(hn::Add(score.high, score.low), scaled), set(0), check);
    hn::StoreU(score.high, d, fast.score_high.data() + first);
    hn::StoreU(score.low, d, fast.score_low.data() + first);
    hn::StoreU(hn::Mul(error, set(kRoundUp)), d, fast.score_error.data() + first);
    hn::StoreU(scaled, d, fast.score_magnitude.data() + first);
  }
  fast.dot_magnitude_max = hn::GetLane(hn::MaxOfLanes(d, dot_max));
  fast.key_size_max = hn::GetLane(hn::MaxOfLanes(d, size_max));
  // 0 x is 0 for every finite x, and NaN otherwise.
  fast.finite = hn::GetLane(hn::SumOfLanes(d, check)) == 0 &&
                std::isfinite(fast.dot_magnitude_max) && std::isfinite(fast.key_size_max);
}

}  // namespace attest::reference::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle of the include guard
