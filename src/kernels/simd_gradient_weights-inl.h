// Scores of one strip become weights, and products dout . v gradients of scores:
//   p = exp(s - lse),  ds = p (dP - D),  dx = ds (1 - (c / softcap)^2)

// One body for each target of Highway.
#if defined(ATTEST_KERNELS_SIMD_GRADIENT_WEIGHTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_KERNELS_SIMD_GRADIENT_WEIGHTS_INL_H_
#undef ATTEST_KERNELS_SIMD_GRADIENT_WEIGHTS_INL_H_
#else
#define ATTEST_KERNELS_SIMD_GRADIENT_WEIGHTS_INL_H_
#endif

#include <array>

#include "kernels/simd_gradient_sums-inl.h"
#include "kernels/simd_terms-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attest::kernels::HWY_NAMESPACE {

/// Vectors [first, last) of a tile and the rows of a strip.
template <class Real>
struct WeightStrip {
  Real* weights;         ///< rows x kWeightPitch: q . k, becomes p
  Real* gradients;       ///< rows x kWeightPitch: dout . v, becomes dx
  const Real* lse;       ///< per row
  const Real* delta;     ///< per row
  const TileBits* bits;  ///< per row; null: every key is visible
  Index rows;
  Index first;
  Index last;
};

template <class Real>
class GradientWeights {
 public:
  GradientWeights(const Problem& problem, TileTerms<Real>& terms, const ScoreGradient<Real>& scores)
      : terms_(terms),
        scores_(scores),
        scale_(static_cast<Real>(scale_value(problem))),
        softcap_(static_cast<Real>(problem.softcap)),
        bias_is_capped_(problem.bias && problem.order.bias_before_softcap) {}

  void find(const WeightStrip<Real>& strip, const StripRows& rows, const KeyRange& tile) {
    if (terms_.any()) return find_with_terms(strip, rows, tile);
    for (Index i = 0; i < strip.rows; ++i)
      if (strip.bits == nullptr)
        weigh<false>(strip, i, scale_);
      else
        weigh<true>(strip, i, scale_);
  }

 private:
  /// p = exp(factor x - lse). Pairs that are excluded get exactly 0.
  template <bool masked>
  static HWY_INLINE void weigh(const WeightStrip<Real>& strip, Index i, Real factor) {
    const Tag<Real> d;
    const Vec<Real> lse = hn::Set(d, strip.lse[i]);
    const Vec<Real> delta = hn::Set(d, strip.delta[i]);
    for (Index v = strip.first; v < strip.last; ++v) {
      Real* const weight_at = strip.weights + i * kWeightPitch<Real> + v * kLanes<Real>;
      Real* const gradient_at = strip.gradients + i * kWeightPitch<Real> + v * kLanes<Real>;
      const Vec<Real> score = hn::Load(d, weight_at);
      Vec<Real> weight = Exp(d, hn::MulSub(hn::Set(d, factor), score, lse));
      Vec<Real> gradient = hn::Mul(weight, hn::Sub(hn::Load(d, gradient_at), delta));
      if (masked) {
        const auto visible = visible_lanes(d, strip.bits[i], v);
        weight = hn::IfThenElseZero(visible, weight);
        gradient = hn::IfThenElseZero(visible, gradient);
      }
      hn::Store(weight, d, weight_at);
      hn::Store(gradient, d, gradient_at);
    }
  }

  void find_with_terms(const WeightStrip<Real>& strip, const StripRows& rows,
                       const KeyRange& tile) {
    const Index begin = strip.first * kLanes<Real>;
    const Index count = (strip.last - strip.first) * kLanes<Real>;
    const KeyRange keys{tile.begin + begin, std::min(tile.begin + begin + count, tile.end)};
    for (Index i = 0; i < strip.rows; ++i) {
      Real* const scores = strip.weights + i * kWeightPitch<Real> + begin;
      Real* const gradients = strip.gradients + i * kWeightPitch<Real> + begin;
      scale_in_place(scores, count, scale_);
      terms_.apply_capped(rows.row(i), keys, scores);
      if (softcap_ != 0) find_slopes(scores, count);
      terms_.apply_rest(rows.row(i), keys, scores);
      if (strip.bits == nullptr)
        weigh<false>(strip, i, 1);
      else
        weigh<true>(strip, i, 1);
      if (scores_.has_bias() && !bias_is_capped_) scores_.add_bias(rows.row(i), keys, gradients);
      if (softcap_ != 0) multiply_by_slopes(strip, i);
      if (scores_.has_bias() && bias_is_capped_) scores_.add_bias(rows.row(i), keys, gradients);
    }
  }

  /// The derivative of the softcap where it is `capped`.
  void find_slopes(const Real* capped, Index count) {
    const Tag<Real> d;
    for (Index key = 0; key < count; key += kLanes<Real>) {
      const Vec<Real> ratio = hn::Div(hn::Load(d, capped + key), hn::Set(d, softcap_));
      hn::StoreU(hn::NegMulAdd(ratio, ratio, hn::Set(d, Real(1))), d, slopes_.data() + key);
    }
  }

  void multiply_by_slopes(const WeightStrip<Real>& strip, Index i) {
    const Tag<Real> d;
    for (Index v = strip.first; v < strip.last; ++v) {
      Real* const at = strip.gradients + i * kWeightPitch<Real> + v * kLanes<Real>;
      const Real* const slopes = slopes_.data() + (v - strip.first) * kLanes<Real>;
      Vec<Real> gradient = hn::Mul(hn::Load(d, at), hn::LoadU(d, slopes));
      if (strip.bits != nullptr)
        gradient = hn::IfThenElseZero(visible_lanes(d, strip.bits[i], v), gradient);
      hn::Store(gradient, d, at);
    }
  }

  TileTerms<Real>& terms_;
  const ScoreGradient<Real>& scores_;
  Real scale_;
  Real softcap_;
  bool bias_is_capped_;
  std::array<Real, static_cast<std::size_t>(kGradientKeys<Real>)> slopes_{};
};

}  // namespace attest::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
