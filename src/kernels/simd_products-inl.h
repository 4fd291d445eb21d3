// The products of one strip, cut into the register blocks of simd_blocks-inl.h.

// One body for each target of Highway.
#if defined(ATTEST_KERNELS_SIMD_PRODUCTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_KERNELS_SIMD_PRODUCTS_INL_H_
#undef ATTEST_KERNELS_SIMD_PRODUCTS_INL_H_
#else
#define ATTEST_KERNELS_SIMD_PRODUCTS_INL_H_
#endif

#include <algorithm>
#include <array>
#include <cstddef>

#include "kernels/simd_pack-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attest::kernels::HWY_NAMESPACE {

/// Panels [first, last) of a tile against `rows` rows. Rows beyond are computed too, where no block
/// of that height was compiled: a strip has room for them.
template <class Real>
struct StripScores {
  const Real* q;  ///< head_dim x kStripRows
  const Real* k;  ///< panels of head_dim x kPanelKeys
  Index head_dim;
  Index rows;
  Real* scores;            ///< kStripRows x kTileKeys
  Real* copies = nullptr;  ///< for score_stored_strip: a panel of rows, each a vector longer
};

template <int rows, class Real>
void score_panels(const StripScores<Real>& strip, Index first, Index last) {
  for (Index panel = first; panel < last; ++panel)
    score_panel<rows>(strip.q, strip.k + panel * strip.head_dim * kPanelKeys<Real>, strip.head_dim,
                      strip.scores + panel * kPanelKeys<Real>);
}

template <class Real>
void score_strip(const StripScores<Real>& strip, Index first, Index last) {
  if constexpr (kStripRows > 6) {
    if (strip.rows > 8) return score_panels<kStripRows>(strip, first, last);
    if (strip.rows > 6) return score_panels<8>(strip, first, last);
  }
  if (strip.rows > 4) return score_panels<6>(strip, first, last);
  if (strip.rows > 2) return score_panels<4>(strip, first, last);
  if (strip.rows > 1) return score_panels<2>(strip, first, last);
  score_panels<1>(strip, first, last);
}

template <int rows, Index widest, class Real, class Values>
void add_vectors(const ValueBlock<Real, Values>& block, Index width) {
  if constexpr (widest > 1)
    if (width < widest) return add_vectors<rows, widest - 1>(block, width);
  add_values<rows, static_cast<int>(widest)>(block);
}

template <int rows, class Real, class Values>
void add_columns(ValueBlock<Real, Values> block) {
  // One row has no use for a block of columns but to have enough sums under way.
  constexpr Index kWidest = rows == 1 ? 2 * kValueVectors : kValueVectors;
  Index vectors = block.pitch / kLanes<Real>;
  // Blocks of nearly one width: 5 vectors are 3 and 2.
  for (Index blocks = (vectors + kWidest - 1) / kWidest; blocks > 0; --blocks) {
    const Index width = (vectors + blocks - 1) / blocks;
    add_vectors<rows, kWidest>(block, width);
    block.values = block.values.at_column(width * kLanes<Real>);
    block.numerators += width * kLanes<Real>;
    vectors -= width;
  }
}

/// The same for `rows` rows of a strip and all columns.
template <class Real, class Values>
void add_values_of_strip(ValueBlock<Real, Values> block, Index rows) {
  while (rows > 0) {
    if (rows > 4)
      add_columns<6>(block);
    else if (rows > 2)
      add_columns<4>(block);
    else if (rows > 1)
      add_columns<2>(block);
    else
      add_columns<1>(block);
    block.factors += kValueRows;
    block.weights += kValueRows * kTileKeys<Real>;
    block.numerators += kValueRows * block.pitch;
    rows -= kValueRows;
  }
}

}  // namespace attest::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
