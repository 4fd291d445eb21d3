// The scores of one strip and one tile, without what becomes of them.

// One body for each target of Highway.
#if defined(ATTEST_KERNELS_SIMD_STRIP_SCORES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_KERNELS_SIMD_STRIP_SCORES_INL_H_
#undef ATTEST_KERNELS_SIMD_STRIP_SCORES_INL_H_
#else
#define ATTEST_KERNELS_SIMD_STRIP_SCORES_INL_H_
#endif

#include <algorithm>
#include <array>
#include <bit>

#include "kernels/simd_stored_scores-inl.h"
#include "kernels/simd_terms-inl.h"
#include "kernels/simd_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attest::kernels::HWY_NAMESPACE {

/// Rows of a strip: row i is of query (first + i) / group and of head (first + i) % group of those
/// that read one kv head, counted from `query`.
struct StripRows {
  Index b = 0;
  Index first_head = 0;
  Index group = 1;
  Index query = 0;
  Index first = 0;
  Index rows = 0;

  RowIndex row(Index i) const {
    return {b, first_head + (first + i) % group, query + (first + i) / group};
  }
  KeyRange queries() const {
    return {query + first / group, query + (first + rows - 1) / group + 1};
  }
};

using StripBits = std::array<TileBits, static_cast<std::size_t>(kStripRows)>;

/// Keys [begin, end) of a tile hold every key that some row sees.
inline KeyRange visible_span(const StripBits& bits, Index rows, Index count) {
  KeyRange span{count, 0};
  for (Index i = 0; i < rows; ++i) {
    const TileBits& row = bits[static_cast<std::size_t>(i)];
    for (std::size_t word = 0; word < row.words.size(); ++word) {
      if (row.words[word] == 0) continue;
      const auto first = static_cast<Index>(word) * 64;
      span.begin = std::min<Index>(span.begin, first + std::countr_zero(row.words[word]));
      span.end = std::max<Index>(span.end, first + 64 - std::countl_zero(row.words[word]));
    }
  }
  return span;
}

/// Vectors that hold a range of keys of a tile.
struct VectorRange {
  Index first = 0;
  Index last = 0;
  bool empty() const { return first >= last; }
};

template <class Real>
VectorRange vectors_of(const KeyRange& span) {
  return {span.begin / kLanes<Real>, (span.end + kLanes<Real> - 1) / kLanes<Real>};
}

/// A score is a function of its query and its key alone, wherever the key stands in a tile: one
/// lane sums it up, term by term. Few rows sum it up in another order, but in a call of one_order.
template <class Real>
class StripScorer {
 public:
  StripScorer(const SimdForwardCall& call, TileTerms<Real>& terms, Scratch<Real>& scratch)
      : columns_(score_columns(call.problem)),
        one_order_(call.one_order),
        terms_(terms),
        copies_(scratch.panel_rows.at_least(HWY_MAX(kPanelKeys<Real>, kFewRows) *
                                            (pitch_of<Real>(columns_) + kLanes<Real>))),
        scores_(scratch.weights.at_least(kStripRows * kTileKeys<Real>)) {}

  /// kStripRows x kTileKeys.
  Real* scores() const { return scores_; }

  /// Scores the keys of the tile that it returns, in whole vectors; those that a row does not see
  /// get -inf there. `q` is the packed strip.
  KeyRange score(const StripRows& strip, const Real* q, const KeyTile<Real>& tile,
                 const VisibleTiles& mask) {
    const Index count = tile.keys.end - tile.keys.begin;
    const TileClass tile_class =
        tile.full ? TileClass::full : mask.tile_class(strip.queries(), tile.keys);
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
    const VectorRange vectors = vectors_of<Real>(span);
    if (masked)
      exclude_keys(StripSoftmax<Real>{scores_, nullptr, nullptr, nullptr, bits_.data(), strip.rows,
                                      vectors.first, vectors.last});
    return span;
  }

 private:
  void score_span(const StripRows& strip, const Real* q, const KeyTile<Real>& tile,
                  const KeyRange& span) {
    const Index first = span.begin / kPanelKeys<Real>;
    const Index last = (span.end + kPanelKeys<Real> - 1) / kPanelKeys<Real>;
    const StripScores<Real> scores{q, tile.k, columns_, strip.rows, scores_, copies_};
    if (tile.k != nullptr)
      score_strip(scores, first, last);
    else if (strip.rows <= kFewRows && !one_order_)
      score_few_rows(scores, *tile.k_runs, {first * kPanelKeys<Real>, span.end});
    else
      score_stored_strip(scores, *tile.k_runs, {first * kPanelKeys<Real>, span.end});
    if (!terms_.any()) return;
    const Index begin = first * kPanelKeys<Real>;
    const KeyRange keys{tile.keys.begin + begin, tile.keys.begin + span.end};
    for (Index i = 0; i < strip.rows; ++i)
      terms_.apply(strip.row(i), keys, scores_ + i * kTileKeys<Real> + begin);
  }

  Index columns_;
  bool one_order_;
  TileTerms<Real>& terms_;
  Real* copies_;
  Real* scores_;
  StripBits bits_;
};

}  // namespace attest::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
