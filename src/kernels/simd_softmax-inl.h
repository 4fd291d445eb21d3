// The online softmax of one strip and one tile: scores become weights, and the factor on what the
// rows have summed up so far is found. One rescale a tile.

// One body for each target of Highway.
#if defined(ATTEST_KERNELS_SIMD_SOFTMAX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_KERNELS_SIMD_SOFTMAX_INL_H_
#undef ATTEST_KERNELS_SIMD_SOFTMAX_INL_H_
#else
#define ATTEST_KERNELS_SIMD_SOFTMAX_INL_H_
#endif

#include <array>
#include <limits>

#include "kernels/simd_blocks-inl.h"
#include "kernels/simd_math-inl.h"
#include "kernels/visible_tiles.hpp"

HWY_BEFORE_NAMESPACE();
namespace attest::kernels::HWY_NAMESPACE {

template <class Real>
inline constexpr Real kMinusInfinity = -std::numeric_limits<Real>::infinity();

/// Rows of a strip over the vectors [first, last) of a tile.
template <class Real>
struct StripSoftmax {
  Real* scores;          ///< rows x kTileKeys; becomes weights
  Real* row_max;         ///< per row
  Real* row_sum;         ///< rows x lanes: the sum of the lanes is the row's
  Real* factors;         ///< kStripRows: exp(old row_max - new row_max)
  const TileBits* bits;  ///< per row, for exclude_keys
  Index rows;
  Index first;
  Index last;
};

HWY_INLINE auto visible_lanes(Tag<float> d, const TileBits& bits, Index vector) {
  const std::uint64_t word = bits.from(vector * kLanes<float>);
  return hn::LoadMaskBits(d, reinterpret_cast<const std::uint8_t*>(&word));
}
HWY_INLINE auto visible_lanes(Tag<double> d, const TileBits& bits, Index vector) {
  const std::uint64_t word = bits.from(vector * kLanes<double>);
  return hn::LoadMaskBits(d, reinterpret_cast<const std::uint8_t*>(&word));
}

/// Excluded keys get a score of -inf, and with it a weight of exactly 0.
template <class Real>
void exclude_keys(const StripSoftmax<Real>& strip) {
  const Tag<Real> d;
  for (Index i = 0; i < strip.rows; ++i)
    for (Index v = strip.first; v < strip.last; ++v) {
      Real* const at = strip.scores + i * kTileKeys<Real> + v * kLanes<Real>;
      const auto visible = visible_lanes(d, strip.bits[i], v);
      hn::Store(hn::IfThenElse(visible, hn::Load(d, at), hn::Set(d, kMinusInfinity<Real>)), d, at);
    }
}

/// The largest lanes of a row's vectors; two maxima, so that one need not wait for the other.
template <class Real>
HWY_INLINE Vec<Real> largest_lanes(const Real* scores, Index vectors) {
  const Tag<Real> d;
  Vec<Real> largest = hn::Load(d, scores);
  Vec<Real> other = largest;
  Index v = 1;
  for (; v + 2 <= vectors; v += 2) {
    largest = hn::Max(largest, hn::Load(d, scores + v * kLanes<Real>));
    other = hn::Max(other, hn::Load(d, scores + (v + 1) * kLanes<Real>));
  }
  if (v < vectors) largest = hn::Max(largest, hn::Load(d, scores + v * kLanes<Real>));
  return hn::Max(largest, other);
}

/// Raises row_max to the largest score; true if it rose for a row. The old ones go to `before`.
template <class Real>
HWY_INLINE bool raise_maxima(const StripSoftmax<Real>& strip, Real* before) {
  const Tag<Real> d;
  bool rose = false;
  const Real* scores = strip.scores + strip.first * kLanes<Real>;
  for (Index i = 0; i < strip.rows; ++i, scores += kTileKeys<Real>) {
    const Vec<Real> largest = largest_lanes(scores, strip.last - strip.first);
    before[i] = strip.row_max[i];
    // Mostly no lane is larger, and then the lanes need not be compared with each other.
    if (HWY_LIKELY(hn::AllTrue(d, hn::Le(largest, hn::Set(d, before[i]))))) continue;
    const Real tile_max = hn::GetLane(hn::MaxOfLanes(d, largest));
    if (!(tile_max > before[i])) continue;
    strip.row_max[i] = tile_max + Real(0);  // +0 for -0
    rose = true;
  }
  return rose;
}

/// What scores and older maxima are taken relative to: 0 for a row that has seen nothing, so that
/// no -inf is subtracted from itself.
template <class Real>
HWY_INLINE Real reference_of(Real row_max) {
  return row_max == kMinusInfinity<Real> ? Real(0) : row_max;
}

template <class Real>
HWY_INLINE void find_factors(const StripSoftmax<Real>& strip, const Real* before) {
  const Tag<Real> d;
  // Lanes without a row are 0, too: what is left there may have a subnormal result, which is slow.
  HWY_ALIGN Real factors[kStripRows + kLanes<Real>] = {};
  for (Index i = 0; i < kStripRows; ++i)
    factors[i] = i < strip.rows ? before[i] - reference_of(strip.row_max[i]) : Real(0);
  for (Index i = 0; i < kStripRows; i += kLanes<Real>)
    hn::Store(ExpNonPositive(d, hn::Load(d, factors + i)), d, factors + i);
  for (Index i = 0; i < kStripRows; ++i) strip.factors[i] = factors[i];
}

template <class Real>
HWY_INLINE void weigh_row(const StripSoftmax<Real>& strip, Index i) {
  const Tag<Real> d;
  const Vec<Real> reference = hn::Set(d, reference_of(strip.row_max[i]));
  Real* const row_sum = strip.row_sum + i * kLanes<Real>;
  Vec<Real> sum = hn::Zero(d);
  Vec<Real> other = hn::Zero(d);
  Real* at = strip.scores + i * kTileKeys<Real> + strip.first * kLanes<Real>;
  Real* const end = at + (strip.last - strip.first) * kLanes<Real>;
  for (; at + kLanes<Real> < end; at += 2 * kLanes<Real>) {
    const Vec<Real> weights = ExpNonPositive(d, hn::Sub(hn::Load(d, at), reference));
    const Vec<Real> others = ExpNonPositive(d, hn::Sub(hn::Load(d, at + kLanes<Real>), reference));
    hn::Store(weights, d, at);
    hn::Store(others, d, at + kLanes<Real>);
    sum = hn::Add(sum, weights);
    other = hn::Add(other, others);
  }
  if (at != end) {
    const Vec<Real> weights = ExpNonPositive(d, hn::Sub(hn::Load(d, at), reference));
    hn::Store(weights, d, at);
    sum = hn::Add(sum, weights);
  }
  sum = hn::Add(sum, other);
  // Last, because the factor may not be there yet.
  hn::Store(hn::MulAdd(hn::Set(d, strip.factors[i]), hn::Load(d, row_sum), sum), d, row_sum);
}

/// One step of the online softmax. Precondition: first < last; excluded keys have scores of -inf.
template <class Real>
HWY_NOINLINE void weigh_strip(const StripSoftmax<Real>& strip) {
  std::array<Real, kStripRows> before;
  if (raise_maxima(strip, before.data()))
    find_factors(strip, before.data());
  else
    for (Index i = 0; i < kStripRows; ++i) strip.factors[i] = 1;
  for (Index i = 0; i < strip.rows; ++i) weigh_row(strip, i);
}

}  // namespace attest::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
