// One strip of query rows takes in one tile of keys.

// One body for each target of Highway.
#if defined(ATTEST_KERNELS_SIMD_STRIP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_KERNELS_SIMD_STRIP_INL_H_
#undef ATTEST_KERNELS_SIMD_STRIP_INL_H_
#else
#define ATTEST_KERNELS_SIMD_STRIP_INL_H_
#endif

#include <algorithm>
#include <array>

#include "kernels/simd_strip_scores-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attest::kernels::HWY_NAMESPACE {

template <class Real>
class StripPass {
  using StripFactors = std::array<Real, static_cast<std::size_t>(kStripRows)>;

 public:
  StripPass(const SimdForwardCall& call, TileTerms<Real>& terms, Scratch<Real>& scratch)
      : scorer_(call, terms, scratch), saved_(scratch.saved), weights_(scorer_.scores()) {}

  /// `q` is the packed strip; `part` the summaries of its rows.
  void absorb(const StripRows& strip, const Real* q, const KeyTile<Real>& tile,
              const VisibleTiles& mask, const Summaries<Real>& part) {
    const KeyRange span = scorer_.score(strip, q, tile, mask);
    if (span.begin >= span.end) return;
    const auto [first, last] = vectors_of<Real>(span);
    const StripSoftmax<Real> softmax{weights_, part.row_max, part.row_sum, factors_.data(),
                                     nullptr,  strip.rows,   first,        last};
    if (tile.v == nullptr || !tile.finite) note_seen(softmax);
    weigh_strip(softmax);
    if (tile.v != nullptr)
      add_values_to(part, strip.rows, span, PackedValues<Real>{tile.v, part.pitch}.from(span.begin),
                    tile.finite, factors_);
    else
      add_stored_values(part, strip.rows, span, *tile.v_runs);
  }

 private:
  /// The keys that take part in a row: 0 times an infinite value would be NaN.
  void note_seen(const StripSoftmax<Real>& softmax) {
    const Tag<Real> d;
    for (Index i = 0; i < softmax.rows; ++i) {
      TileBits& seen = seen_[static_cast<std::size_t>(i)];
      seen = {};
      for (Index v = softmax.first; v < softmax.last; ++v) {
        const auto scores = hn::Load(d, weights_ + i * kTileKeys<Real> + v * kLanes<Real>);
        std::uint64_t lanes = 0;
        hn::StoreMaskBits(d, hn::Ne(scores, hn::Set(d, kMinusInfinity<Real>)),
                          reinterpret_cast<std::uint8_t*>(&lanes));
        seen.put(v * kLanes<Real>, lanes);
      }
    }
  }

  template <class Values>
  void add_values_to(const Summaries<Real>& part, Index rows, const KeyRange& span,
                     const Values& values, bool finite, const StripFactors& factors) {
    const ValueBlock<Real, Values> block{factors.data(), weights_ + span.begin,
                                         values,         span.end - span.begin,
                                         part.pitch,     part.numerators};
    if (finite)
      add_values_of_strip(block, rows);
    else
      add_values_seen(block, rows, span.begin);
  }

  /// Nobody has looked at stored values. What excluded ones hold shows, if it does any harm: then
  /// the numerators are formed again with care.
  void add_stored_values(const Summaries<Real>& part, Index rows, const KeyRange& span,
                         const RowRuns<Real>& runs) {
    const Index size = rows * part.pitch;
    Real* const saved = saved_.at_least(kStripRows * part.pitch);
    std::copy_n(part.numerators, size, saved);
    add_runs(part, rows, span, runs, true);
    if (all_finite(part.numerators, size)) return;
    std::copy_n(saved, size, part.numerators);
    add_runs(part, rows, span, runs, false);
  }

  void add_runs(const Summaries<Real>& part, Index rows, const KeyRange& span,
                const RowRuns<Real>& runs, bool finite) {
    StripFactors factors = factors_;
    for (const RowRun<Real>& run : runs.all()) {
      const RowRun<Real> seen = run.within(span);
      if (seen.begin >= seen.end) continue;
      add_values_to(part, rows, {seen.begin, seen.end}, StoredValues<Real>{seen.first, seen.pitch},
                    finite, factors);
      factors.fill(1);
    }
  }

  static bool all_finite(const Real* numbers, Index count) {
    const Tag<Real> d;
    Vec<Real> not_finite = hn::Zero(d);
    for (Index at = 0; at < count; at += kLanes<Real>)
      not_finite = hn::MulAdd(hn::Load(d, numbers + at), hn::Zero(d), not_finite);
    return hn::AllTrue(d, hn::Eq(not_finite, hn::Zero(d)));
  }

  template <class Values>
  void add_values_seen(const ValueBlock<Real, Values>& block, Index rows, Index begin) {
    static constexpr Real kOne = 1;
    for (Index i = 0; i < rows; ++i) {
      ValueBlock<Real, Values> one{block.factors + i, block.weights + i * kTileKeys<Real>,
                                   block.values,      0,
                                   block.pitch,       block.numerators + i * block.pitch};
      add_columns<1>(one);
      one.factors = &kOne;
      one.keys = 1;
      for (Index key = 0; key < block.keys; ++key) {
        if (seen_[static_cast<std::size_t>(i)].at(begin + key)) add_columns<1>(one);
        ++one.weights;
        one.values = one.values.from(1);
      }
    }
  }

  StripScorer<Real> scorer_;
  AlignedBuffer<Real>& saved_;
  Real* weights_;
  StripBits seen_;
  StripFactors factors_;
};

}  // namespace attest::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
