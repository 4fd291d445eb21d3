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

#include "kernels/simd_products-inl.h"
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

template <class Real>
class StripPass {
 public:
  StripPass(const Problem& problem, TileTerms<Real>& terms, Scratch<Real>& scratch)
      : columns_(score_columns(problem)),
        terms_(terms),
        weights_(scratch.weights.at_least(kStripRows * kTileKeys<Real>)) {}

  /// `q` is the packed strip; `part` the summaries of its rows.
  void absorb(const StripRows& strip, const Real* q, const PackedTile<Real>& tile,
              const VisibleTiles& mask, const Summaries<Real>& part) {
    const Index count = tile.keys.end - tile.keys.begin;
    const TileClass tile_class = mask.tile_class(strip.queries(), tile.keys);
    if (tile_class == TileClass::empty) return;
    const bool masked = tile_class != TileClass::full || count % kLanes<Real> != 0;
    KeyRange span{0, count};
    if (masked) {
      for (Index i = 0; i < strip.rows; ++i)
        bits_[static_cast<std::size_t>(i)] = mask.row(strip.row(i).query, tile.keys);
      span = visible_span(bits_, strip.rows, count);
      if (span.begin >= span.end) return;
    }
    score(strip, q, tile, span);
    const Index first = span.begin / kLanes<Real>;
    const Index last = (span.end + kLanes<Real> - 1) / kLanes<Real>;
    const StripSoftmax<Real> softmax{weights_,     part.row_max, part.row_sum, factors_.data(),
                                     bits_.data(), strip.rows,   first,        last};
    if (masked) exclude_keys(softmax);
    if (!tile.finite) note_seen(strip.rows, span);
    weigh_strip(softmax);
    const ValueBlock<Real> block{factors_.data(),
                                 weights_ + span.begin,
                                 tile.v + span.begin * part.pitch,
                                 span.end - span.begin,
                                 part.pitch,
                                 part.numerators};
    if (tile.finite)
      add_values_of_strip(block, strip.rows);
    else
      add_values_seen(block, strip.rows, span.begin);
  }

 private:
  void score(const StripRows& strip, const Real* q, const PackedTile<Real>& tile,
             const KeyRange& span) {
    const Index first = span.begin / kPanelKeys<Real>;
    const Index last = (span.end + kPanelKeys<Real> - 1) / kPanelKeys<Real>;
    const StripScores<Real> scores{q, tile.k, columns_, strip.rows, weights_};
    score_strip(scores, first, last);
    if (!terms_.any()) return;
    const Index begin = first * kPanelKeys<Real>;
    const KeyRange keys{tile.keys.begin + begin, tile.keys.begin + span.end};
    for (Index i = 0; i < strip.rows; ++i)
      terms_.apply(strip.row(i), keys, weights_ + i * kTileKeys<Real> + begin);
  }

  /// The keys that take part in a row: 0 times an infinite value would be NaN.
  void note_seen(Index rows, const KeyRange& span) {
    for (Index i = 0; i < rows; ++i) {
      TileBits& seen = seen_[static_cast<std::size_t>(i)];
      seen = {};
      for (Index key = span.begin; key < span.end; ++key)
        if (weights_[i * kTileKeys<Real> + key] != kMinusInfinity<Real>) seen.set(key, key + 1);
    }
  }

  void add_values_seen(const ValueBlock<Real>& block, Index rows, Index begin) {
    static constexpr Real kOne = 1;
    for (Index i = 0; i < rows; ++i) {
      ValueBlock<Real> one{block.factors + i, block.weights + i * kTileKeys<Real>, block.values, 0,
                           block.pitch,       block.numerators + i * block.pitch};
      add_columns<1>(one);
      one.factors = &kOne;
      one.keys = 1;
      for (Index key = 0; key < block.keys; ++key) {
        if (seen_[static_cast<std::size_t>(i)].at(begin + key)) add_columns<1>(one);
        ++one.weights;
        one.values += block.pitch;
      }
    }
  }

  Index columns_;
  TileTerms<Real>& terms_;
  Real* weights_;
  StripBits bits_;
  StripBits seen_;
  std::array<Real, static_cast<std::size_t>(kStripRows)> factors_;
};

}  // namespace attest::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
