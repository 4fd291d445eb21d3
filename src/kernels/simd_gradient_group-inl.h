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
    strips_ = (rows_.rows + kStripRows - 1) / kStripRows;
    keys_ = tile.keys.end - tile.keys.begin;
    panels_ = (keys_ + kPanelKeys<Real> - 1) / kPanelKeys<Real>;
    if (!find_meetings(tile.keys, mask)) return;
    for (Index panel = 0; panel < panels_; ++panel)
      for (Index strip = 0; strip < strips_; ++strip)
        if (meets(strip, panel)) find_weights(block, tile, strip, panel);
    for (Index strip = 0; strip < strips_; ++strip) add_to_queries(block, tile, strip);
    add_to_keys(block, to);
  }

 private:
  static constexpr Index kStrips = kGroupRows / kStripRows;
  static_assert(kGradientKeys<Real> / kPanelKeys<Real> <= 64);

  TileBits& bits(Index row) { return bits_[static_cast<std::size_t>(row)]; }
  /// One bit a panel of which some row of the strip sees a key.
  std::uint64_t& meetings(Index strip) { return meetings_[static_cast<std::size_t>(strip)]; }
  bool meets(Index strip, Index panel) { return (meetings(strip) >> panel & 1) != 0; }
  /// Whether every row of the strip sees every key of whole panels.
  bool& is_full(Index strip) { return full_[static_cast<std::size_t>(strip)]; }
  StripRows strip_rows(Index strip) const {
    StripRows rows = rows_;
    rows.first += strip * kStripRows;
    rows.rows = std::min(kStripRows, rows_.rows - strip * kStripRows);
    return rows;
  }

  bool find_meetings(const KeyRange& keys, const VisibleTiles& mask) {
    const TileClass tile_class = mask.tile_class(rows_.queries(), keys);
    if (tile_class == TileClass::empty) return false;
    const bool whole = keys_ % kPanelKeys<Real> == 0;
    masked_ = tile_class != TileClass::full || !whole;
    for (Index strip = 0; strip < strips_; ++strip) {
      const TileClass of_strip =
          masked_ ? mask.tile_class(strip_rows(strip).queries(), keys) : TileClass::full;
      is_full(strip) = of_strip == TileClass::full && whole;
      meetings(strip) = of_strip == TileClass::empty ? 0 : ~std::uint64_t{0} >> (64 - panels_);
      if (masked_) find_bits(strip, of_strip, keys, mask);
    }
    return true;
  }

  void find_bits(Index strip, TileClass of_strip, const KeyRange& keys, const VisibleTiles& mask) {
    const StripRows rows = strip_rows(strip);
    TileBits seen;
    for (Index i = 0; i < rows.rows; ++i) {
      TileBits& row = bits(strip * kStripRows + i);
      const Index query = rows.row(i).query;
      row = i > 0 && query == rows.row(i - 1).query ? bits(strip * kStripRows + i - 1)
                                                    : bits_of(query, of_strip, keys, mask);
      for (std::size_t word = 0; word < seen.words.size(); ++word)
        seen.words[word] |= row.words[word];
    }
    for (Index panel = 0; panel < panels_; ++panel) {
      const std::uint64_t of_panel = seen.from(panel * kPanelKeys<Real>);
      if ((of_panel & ((std::uint64_t{1} << kPanelKeys<Real>)-1)) == 0)
        meetings(strip) &= ~(std::uint64_t{1} << panel);
    }
  }
  TileBits bits_of(Index query, TileClass of_strip, const KeyRange& keys,
                   const VisibleTiles& mask) const {
    const TileClass of_row =
        of_strip == TileClass::partial ? mask.tile_class({query, query + 1}, keys) : of_strip;
    if (of_row == TileClass::partial) return mask.row(query, keys);
    TileBits row;
    if (of_row == TileClass::full) row.set(0, keys_);
    return row;
  }

  void multiply(const Rows<Real>& left, Index row, const Real* panels, Index panel,
                Real* products) const {
    multiply_strip(PanelProduct<Real>{left.row(row), left.pitch,
                                      panels + panel * kPanelKeys<Real> * left.columns,
                                      left.columns, products},
                   first_ + rows_.rows - row);
  }

  void find_weights(const GradientBlock<Real>& block, const GradientTile<Real>& tile, Index strip,
                    Index panel) {
    const StripRows rows = strip_rows(strip);
    const Index row = strip * kStripRows;
    const Index at = row * kWeightPitch<Real> + panel * kPanelKeys<Real>;
    multiply(block.q, first_ + row, tile.k_panels, panel, weights_ + at);
    multiply(block.dout, first_ + row, tile.v_panels, panel, gradients_ + at);
    const WeightStrip<Real> of_strip{weights_ + row * kWeightPitch<Real>,
                                     gradients_ + row * kWeightPitch<Real>,
                                     block.lse + first_ + row,
                                     block.delta + first_ + row,
                                     is_full(strip) ? nullptr : &bits(row),
                                     rows.rows,
                                     panel * kPanelVectors,
                                     (panel + 1) * kPanelVectors};
    weights_of_.find(of_strip, rows, tile.keys);
  }

  /// dq(i, c) += sum_j dx(i, j) k(j, c), run by run of panels.
  void add_to_queries(const GradientBlock<Real>& block, const GradientTile<Real>& tile,
                      Index strip) {
    const Index row = strip * kStripRows;
    const Index rows = strip_rows(strip).rows;
    for (Index panel = 0; panel < panels_; ++panel) {
      if (!meets(strip, panel)) continue;
      const Index begin = panel * kPanelKeys<Real>;
      while (panel + 1 < panels_ && meets(strip, panel + 1)) ++panel;
      const Index end = std::min(keys_, (panel + 1) * kPanelKeys<Real>);
      const ProductSums<Real> sums{gradients_ + row * kWeightPitch<Real> + begin, tile.k.row(begin),
                                   end - begin, tile.k.pitch, block.dq.row(first_ + row)};
      if (is_full(strip) || tile.finite)
        add_products<Factors::in_rows>(sums, rows);
      else
        add_visible<Factors::in_rows>(sums, rows, row, begin);
    }
  }

  bool same_strips(Index left, Index right) {
    for (Index strip = 0; strip < strips_; ++strip)
      if (meets(strip, left) != meets(strip, right)) return false;
    return true;
  }

  /// Panels that the same strips meet together, and those strips run by run.
  void add_to_keys(const GradientBlock<Real>& block, const TileGradients<Real>& to) {
    for (Index panel = 0; panel < panels_; ++panel) {
      const Index first = panel;
      while (panel + 1 < panels_ && same_strips(first, panel + 1)) ++panel;
      const KeyRange keys{first * kPanelKeys<Real>,
                          std::min(keys_, (panel + 1) * kPanelKeys<Real>)};
      for (Index strip = 0; strip < strips_; ++strip) {
        if (!meets(strip, first)) continue;
        const Index row = strip * kStripRows;
        while (strip + 1 < strips_ && meets(strip + 1, first)) ++strip;
        const KeyRange rows{row, std::min(rows_.rows, (strip + 1) * kStripRows)};
        add_to_keys(weights_, rows, keys, block.dout, block.dout_finite, to.dv);
        add_to_keys(gradients_, rows, keys, block.q, block.q_finite, to.dk);
      }
    }
  }

  /// dv(j, c) += sum_i p(i, j) dout(i, c), or dk(j, c) += sum_i dx(i, j) q(i, c).
  void add_to_keys(const Real* factors, const KeyRange& rows, const KeyRange& keys,
                   const Rows<Real>& terms, bool finite, Real* to) {
    const ProductSums<Real> sums{factors + rows.begin * kWeightPitch<Real> + keys.begin,
                                 terms.row(first_ + rows.begin), rows.end - rows.begin, terms.pitch,
                                 to + keys.begin * terms.pitch};
    if (!masked_ || finite)
      add_products<Factors::in_columns>(sums, keys.end - keys.begin);
    else
      add_visible<Factors::in_columns>(sums, keys.end - keys.begin, keys.begin, rows.begin);
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
  Index first_ = 0, strips_ = 0, panels_ = 0, keys_ = 0;
  bool masked_ = false;
  std::array<std::uint64_t, static_cast<std::size_t>(kStrips)> meetings_{};
  std::array<bool, static_cast<std::size_t>(kStrips)> full_{};
  std::array<TileBits, static_cast<std::size_t>(kGroupRows)> bits_;
};

}  // namespace attest::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
