// The scores of one strip and one tile, without what becomes of them.

// One body for each target of Highway.
#if defined(ATTEST_KERNELS_SIMD_STRIP_SCORES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_KERNELS_SIMD_STRIP_SCORES_INL_H_
#undef ATTEST_KERNELS_SIMD_STRIP_SCORES_INL_H_
#else
#define ATTEST_KERNELS_SIMD_STRIP_SCORES_INL_H_
#endif

#include "kernels/simd_strip-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attest::kernels::HWY_NAMESPACE {

/// Vectors [first, last) of a tile.
struct VectorRange {
  Index first = 0;
  Index last = 0;
  bool empty() const { return first >= last; }
};

/// A score is a function of its query and its key alone: one lane sums it up, term by term,
/// wherever the key stands in a tile.
template <class Real>
class StripScorer {
 public:
  StripScorer(const Problem& problem, TileTerms<Real>& terms, Real* scores)
      : columns_(score_columns(problem)), terms_(terms), scores_(scores) {}

  /// kStripRows x kTileKeys.
  Real* scores() const { return scores_; }

  /// Scores the vectors that it returns; keys that a row does not see get -inf there.
  VectorRange score(const StripRows& strip, const Real* q, const KeyTile<Real>& tile,
                    const VisibleTiles& mask) {
    const Index count = tile.keys.end - tile.keys.begin;
    const TileClass tile_class = mask.tile_class(strip.queries(), tile.keys);
    if (tile_class == TileClass::empty) return {};
    const bool masked = tile_class != TileClass::full || count % kLanes<Real> != 0;
    KeyRange span{0, count};
    if (masked) {
      for (Index i = 0; i < strip.rows; ++i)
        bits_[static_cast<std::size_t>(i)] = mask.row(strip.row(i).query, tile.keys);
      span = visible_span(bits_, strip.rows, count);
      if (span.begin >= span.end) return {};
    }
    score_span(strip, q, tile, span);
    const VectorRange vectors{span.begin / kLanes<Real>,
                              (span.end + kLanes<Real> - 1) / kLanes<Real>};
    if (masked)
      exclude_keys(StripSoftmax<Real>{scores_, nullptr, nullptr, nullptr, bits_.data(), strip.rows,
                                      vectors.first, vectors.last});
    return vectors;
  }

 private:
  void score_span(const StripRows& strip, const Real* q, const KeyTile<Real>& tile,
                  const KeyRange& span) {
    const Index first = span.begin / kPanelKeys<Real>;
    const Index last = (span.end + kPanelKeys<Real> - 1) / kPanelKeys<Real>;
    score_strip(StripScores<Real>{q, tile.k, columns_, strip.rows, scores_}, first, last);
    if (!terms_.any()) return;
    const Index begin = first * kPanelKeys<Real>;
    const KeyRange keys{tile.keys.begin + begin, tile.keys.begin + span.end};
    for (Index i = 0; i < strip.rows; ++i)
      terms_.apply(strip.row(i), keys, scores_ + i * kTileKeys<Real> + begin);
  }

  Index columns_;
  TileTerms<Real>& terms_;
  Real* scores_;
  StripBits bits_;
};

}  // namespace attest::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
