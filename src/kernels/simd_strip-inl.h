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
        saved_(scratch.saved),
        copies_(scratch.panel_rows.at_least(kPanelKeys<Real> *
                                            (pitch_of<Real>(columns_) + kLanes<Real>))),
        weights_(scratch.weights.at_least(kStripRows * kTileKeys<Real>)) {}

  /// `q` is the packed strip; `part` the summaries of its rows.
  void absorb(const StripRows& strip, const Real* q, const KeyTile<Real>& tile,
              const VisibleTiles& mask, const Summaries<Real>& part) {
    const Index count = tile.keys.end - tile.keys.begin;
    const TileClass tile_class =
        tile.full ? TileClass::full : mask.tile_class(strip.queries(), tile.keys);
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
    if (tile.v == nullptr || !tile.finite) note_seen(softmax);
    weigh_strip(softmax);
    if (tile.v != nullptr)
      add_values_to(part, strip.rows, span, PackedValues<Real>{tile.v, part.pitch}.from(span.begin),
                    tile.finite);
    else
      add_stored_values(part, strip.rows, span, tile);
  }

 private:
  void score(const StripRows& strip, const Real* q, const KeyTile<Real>& tile,
             const KeyRange& span) {
    const Index first = span.begin / kPanelKeys<Real>;
    const Index last = (span.end + kPanelKeys<Real> - 1) / kPanelKeys<Real>;
    const StripScores<Real> scores{q, tile.k, columns_, strip.rows, weights_, copies_};
    if (tile.k != nullptr)
      score_strip(scores, first, last);
    else
      score_stored_strip(scores, tile.k_rows, first, last);
    if (!terms_.any()) return;
    const Index begin = first * kPanelKeys<Real>;
    const KeyRange keys{tile.keys.begin + begin, tile.keys.begin + span.end};
    for (Index i = 0; i < strip.rows; ++i)
      terms_.apply(strip.row(i), keys, weights_ + i * kTileKeys<Real> + begin);
  }

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
                     const Values& values, bool finite) {
    const ValueBlock<Real, Values> block{factors_.data(), weights_ + span.begin,
                                         values,          span.end - span.begin,
                                         part.pitch,      part.numerators};
    if (finite)
      add_values_of_strip(block, rows);
    else
      add_values_seen(block, rows, span.begin);
  }

  /// Nobody has looked at stored values. What excluded ones hold shows, if it does any harm: then
  /// the numerators are formed again with care.
  void add_stored_values(const Summaries<Real>& part, Index rows, const KeyRange& span,
                         const KeyTile<Real>& tile) {
    const Index size = rows * part.pitch;
    Real* const saved = saved_.at_least(kStripRows * part.pitch);
    std::copy_n(part.numerators, size, saved);
    const StoredValues<Real> values = StoredValues<Real>{tile.v_rows}.from(span.begin);
    add_values_to(part, rows, span, values, true);
    if (all_finite(part.numerators, size)) return;
    std::copy_n(saved, size, part.numerators);
    add_values_to(part, rows, span, values, false);
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

  Index columns_;
  TileTerms<Real>& terms_;
  AlignedBuffer<Real>& saved_;
  Real* copies_;
  Real* weights_;
  StripBits bits_;
  StripBits seen_;
  std::array<Real, static_cast<std::size_t>(kStripRows)> factors_;
};

}  // namespace attest::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
