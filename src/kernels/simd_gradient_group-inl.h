// A group of query rows meets one tile of keys: five products, and the weights between them.

// One body for each target of Highway.
#if defined(ATTEST_KERNELS_SIMD_GRADIENT_GROUP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_KERNELS_SIMD_GRADIENT_GROUP_INL_H_
#undef ATTEST_KERNELS_SIMD_GRADIENT_GROUP_INL_H_
#else
#define ATTEST_KERNELS_SIMD_GRADIENT_GROUP_INL_H_
#endif

#include <algorithm>
#include <array>

#include "kernels/simd_gradient_rows-inl.h"
#include "kernels/simd_gradient_weights-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attest::kernels::HWY_NAMESPACE {

/// Sums of one tile.
template <class Real>
struct TileGradients {
  Real* dk = nullptr;  ///< keys x pitch of k, without the scale
  Real* dv = nullptr;  ///< keys x pitch of v
};

template <class Real>
class GroupPass {
 public:
  GroupPass(const Problem& problem, TileTerms<Real>& terms, const ScoreGradient<Real>& scores,
            GradientScratch<Real>& scratch)
      : weights_of_(problem, terms, scores),
        weights_(scratch.weights.at_least(kGroupRows * kWeightPitch<Real>)),
        gradients_(scratch.gradients.at_least(kGroupRows * kWeightPitch<Real>)) {}

  /// Rows [first, first + kGroupRows) of the block, as many as it has.
  void absorb(const GradientBlock<Real>& block, Index first, const GradientTile<Real>& tile,
              const VisibleTiles& mask, const TileGradients<Real>& to) {
    first_ = first;
    rows_ = block.rows;
    rows_.first += first;
    rows_.rows = std::min(kGroupRows, block.rows.rows - first);
    if (!find_spans(tile.keys, mask)) return;
    find_products(block, tile);
    for (Index strip = 0; strip * kStripRows < rows_.rows; ++strip)
      find_weights(block, tile, strip);
    add_to_queries(block, tile);
    add_to_keys(block, tile, to);
  }

 private:
  static constexpr Index kStrips = kGroupRows / kStripRows;

  KeyRange& span(Index strip) { return spans_[static_cast<std::size_t>(strip)]; }
  TileBits& bits(Index row) { return bits_[static_cast<std::size_t>(row)]; }
  StripRows strip_rows(Index strip) const {
    StripRows rows = rows_;
    rows.first += strip * kStripRows;
    rows.rows = std::min(kStripRows, rows_.rows - strip * kStripRows);
    return rows;
  }

  /// Whole vectors that hold every key that a strip sees, and those of the group; false if there
  /// are none.
  bool find_spans(const KeyRange& keys, const VisibleTiles& mask) {
    const Index count = keys.end - keys.begin;
    const TileClass tile_class = mask.tile_class(rows_.queries(), keys);
    if (tile_class == TileClass::empty) return false;
    masked_ = tile_class != TileClass::full || count % kLanes<Real> != 0;
    whole_ = {count, 0};
    for (Index strip = 0; strip * kStripRows < rows_.rows; ++strip) {
      span(strip) = masked_ ? visible_span_of(strip, keys, mask) : KeyRange{0, count};
      if (span(strip).begin >= span(strip).end) continue;
      span(strip).begin = span(strip).begin / kLanes<Real> * kLanes<Real>;
      span(strip).end = pitch_of<Real>(span(strip).end);
      whole_.begin = std::min(whole_.begin, span(strip).begin);
      whole_.end = std::max(whole_.end, span(strip).end);
    }
    return whole_.begin < whole_.end;
  }

  KeyRange visible_span_of(Index strip, const KeyRange& keys, const VisibleTiles& mask) {
    const StripRows rows = strip_rows(strip);
    StripBits strip_bits;
    for (Index i = 0; i < rows.rows; ++i) {
      const bool same = i > 0 && rows.row(i).query == rows.row(i - 1).query;
      TileBits& of_row = strip_bits[static_cast<std::size_t>(i)];
      of_row =
          same ? strip_bits[static_cast<std::size_t>(i - 1)] : mask.row(rows.row(i).query, keys);
      bits(strip * kStripRows + i) = of_row;
    }
    return visible_span(strip_bits, rows.rows, keys.end - keys.begin);
  }

  void find_products(const GradientBlock<Real>& block, const GradientTile<Real>& tile) {
    const Index last = (whole_.end + kPanelKeys<Real> - 1) / kPanelKeys<Real>;
    for (Index panel = whole_.begin / kPanelKeys<Real>; panel < last; ++panel) {
      multiply(block.q, tile.k, panel, weights_);
      multiply(block.dout, tile.v, panel, gradients_);
    }
  }

  void multiply(const PackedRows<Real>& left, const PackedRows<Real>& right, Index panel,
                Real* products) {
    const Index begin = panel * kPanelKeys<Real>;
    const Real* const keys = right.pieces + begin * right.columns;
    for (Index strip = 0; strip * kStripRows < rows_.rows; ++strip) {
      if (span(strip).begin >= begin + kPanelKeys<Real> || span(strip).end <= begin) continue;
      const Index row = first_ + strip * kStripRows;
      multiply_strip(left.pieces + row / kStripRows * left.columns * kStripPitch<Real>, keys,
                     left.columns, rows_.rows - strip * kStripRows,
                     products + strip * kStripRows * kWeightPitch<Real> + begin);
    }
  }

  void find_weights(const GradientBlock<Real>& block, const GradientTile<Real>& tile, Index strip) {
    const StripRows rows = strip_rows(strip);
    const Index row = strip * kStripRows;
    const WeightStrip<Real> of_strip{weights_ + row * kWeightPitch<Real>,
                                     gradients_ + row * kWeightPitch<Real>,
                                     block.lse + first_ + row,
                                     block.delta + first_ + row,
                                     masked_ ? &bits(row) : nullptr,
                                     rows.rows,
                                     span(strip).begin / kLanes<Real>,
                                     span(strip).end / kLanes<Real>};
    if (of_strip.first < of_strip.last) weights_of_.find(of_strip, rows, tile.keys);
    if (masked_) clear_outside(of_strip);
  }

  /// Keys that another strip of the group sees have weights of 0 here.
  void clear_outside(const WeightStrip<Real>& strip) const {
    const bool none = strip.first >= strip.last;
    const Index begin = none ? whole_.end : strip.first * kLanes<Real>;
    const Index end = none ? whole_.end : strip.last * kLanes<Real>;
    for (Index i = 0; i < strip.rows; ++i)
      for (Real* const row :
           {strip.weights + i * kWeightPitch<Real>, strip.gradients + i * kWeightPitch<Real>}) {
        std::fill(row + whole_.begin, row + begin, Real(0));
        std::fill(row + end, row + whole_.end, Real(0));
      }
  }

  /// dq(i, c) += sum_j dx(i, j) k(j, c).
  void add_to_queries(const GradientBlock<Real>& block, const GradientTile<Real>& tile) {
    for (Index strip = 0; strip * kStripRows < rows_.rows; ++strip) {
      const KeyRange keys = span(strip);
      if (keys.begin >= keys.end) continue;
      const Index row = strip * kStripRows;
      const ProductSums<Real> sums{gradients_ + row * kWeightPitch<Real> + keys.begin,
                                   tile.k.rows + keys.begin * tile.k.pitch, keys.end - keys.begin,
                                   tile.k.pitch, block.dq + (first_ + row) * block.q.pitch};
      const Index rows = strip_rows(strip).rows;
      if (!masked_ || tile.finite)
        add_products<Factors::in_rows>(sums, rows);
      else
        add_visible<Factors::in_rows>(sums, rows, row, keys.begin);
    }
  }

  /// dv(j, c) += sum_i p(i, j) dout(i, c) and dk(j, c) += sum_i dx(i, j) q(i, c).
  void add_to_keys(const GradientBlock<Real>& block, const GradientTile<Real>& tile,
                   const TileGradients<Real>& to) {
    const ProductSums<Real> of_values{weights_ + whole_.begin,
                                      block.dout.rows + first_ * block.dout.pitch, rows_.rows,
                                      tile.v.pitch, to.dv + whole_.begin * tile.v.pitch};
    const ProductSums<Real> of_keys{gradients_ + whole_.begin,
                                    block.q.rows + first_ * block.q.pitch, rows_.rows, tile.k.pitch,
                                    to.dk + whole_.begin * tile.k.pitch};
    const Index keys = whole_.end - whole_.begin;
    if (!masked_ || block.dout_finite)
      add_products<Factors::in_columns>(of_values, keys);
    else
      add_visible<Factors::in_columns>(of_values, keys, whole_.begin, 0);
    if (!masked_ || block.q_finite)
      add_products<Factors::in_columns>(of_keys, keys);
    else
      add_visible<Factors::in_columns>(of_keys, keys, whole_.begin, 0);
  }

  /// The same sums, pair by pair and in the same order, of pairs that are visible: 0 times an
  /// infinite factor would be NaN. `row` and `t` are the first row of sums and the first term, of
  /// the group or of the tile.
  template <Factors order>
  void add_visible(ProductSums<Real> sums, Index rows, Index row, Index t) {
    const Index depth = sums.depth;
    for (Index i = 0; i < rows; ++i) {
      ProductSums<Real> one = sums;
      one.depth = 1;
      for (Index at = 0; at < depth; ++at) {
        const bool visible =
            order == Factors::in_rows ? bits(row + i).at(t + at) : bits(t + at).at(row + i);
        if (visible) add_columns_of<order, 1>(one);
        one.terms += one.pitch;
        one.factors += factor_at<order, Real>(0, 1);
      }
      sums.factors += factor_at<order, Real>(1, 0);
      sums.sums += sums.pitch;
    }
  }

  GradientWeights<Real> weights_of_;
  Real* weights_;
  Real* gradients_;
  StripRows rows_;  ///< of the group
  Index first_ = 0;
  bool masked_ = false;
  KeyRange whole_;
  std::array<KeyRange, static_cast<std::size_t>(kStrips)> spans_;
  std::array<TileBits, static_cast<std::size_t>(kGroupRows)> bits_;
};

}  // namespace attest::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
