// What the backward pass reads of a block of query rows and of a tile of keys, as the register
// blocks read it.

// One body for each target of Highway.
#if defined(ATTEST_KERNELS_SIMD_GRADIENT_PACK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_KERNELS_SIMD_GRADIENT_PACK_INL_H_
#undef ATTEST_KERNELS_SIMD_GRADIENT_PACK_INL_H_
#else
#define ATTEST_KERNELS_SIMD_GRADIENT_PACK_INL_H_
#endif

#include <algorithm>
#include <array>

#include "kernels/simd_gradient_blocks-inl.h"
#include "kernels/simd_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attest::kernels::HWY_NAMESPACE {

/// Memory that a thread keeps between calls.
template <class Real>
struct GradientScratch {
  AlignedBuffer<Real> q_strips, dout_strips;  ///< strips of columns x kStripPitch
  AlignedBuffer<Real> q_rows, dout_rows, dq;  ///< rows x pitch
  AlignedBuffer<Real> lse, delta;             ///< per row
  AlignedBuffer<Real> k_panels, v_panels;     ///< panels of columns x kPanelKeys
  AlignedBuffer<Real> k_rows, v_rows;         ///< keys x pitch
  AlignedBuffer<Real> dk, dv;                 ///< keys x pitch, of one block and one tile
  AlignedBuffer<Real> weights, gradients;     ///< kGroupRows x kWeightPitch
  AlignedBuffer<Real> copy;                   ///< one row
  AlignedBuffer<Real> dk_sums, dv_sums;       ///< of one kv head
};

/// Rows of a matrix of the inputs, twice: side by side, and cut into panels or strips.
template <class Real>
struct PackedRows {
  Index columns = 0;
  Index pitch = 0;
  Real* rows = nullptr;
  Real* pieces = nullptr;

  /// Of pieces of `step` rows.
  const Real* piece(Index at, Index step) const { return pieces + at * columns * step; }
};

/// Copies a row behind which zeros fill the pitch; the first infinity or NaN makes it not finite.
template <class Real>
class RowCopier {
 public:
  RowCopier() : not_finite_(hn::Zero(Tag<Real>())) {}

  void copy(const Real* from, const PackedRows<Real>& to, Index row) {
    pack_values(from, to.columns, to.rows + row * to.pitch, not_finite_);
  }
  bool finite() const {
    const Tag<Real> d;
    return hn::AllTrue(d, hn::Eq(not_finite_, hn::Zero(d)));
  }

 private:
  Vec<Real> not_finite_;
};

/// pieces(piece, c, i) = rows(piece * height + i, c). A piece has room for `step` rows, whole
/// vectors; what lies between its height and that is another row or anything.
/// Precondition: rows up to the last piece, and a vector more, can be read.
template <class Real>
void cut_rows(const PackedRows<Real>& packed, Index pieces, Index height, Index step) {
  std::array<const Real*, static_cast<std::size_t>(kLanes<Real>)> rows;
  for (Index piece = 0; piece < pieces; ++piece)
    for (Index vector = 0; vector < step; vector += kLanes<Real>) {
      for (Index lane = 0; lane < kLanes<Real>; ++lane)
        rows[static_cast<std::size_t>(lane)] =
            packed.rows + (piece * height + vector + lane) * packed.pitch;
      pack_rows(rows.data(), packed.columns, packed.pieces + piece * packed.columns * step + vector,
                step);
    }
}

template <class Real>
struct GradientTile {
  KeyRange keys;
  PackedRows<Real> k;
  PackedRows<Real> v;
  bool finite = true;  ///< no infinity or NaN in k
};

/// Precondition: keys exist, and are at most kGradientKeys.
template <class Real>
GradientTile<Real> pack_gradient_tile(KeyRows<Real>& rows, const Problem& problem,
                                      const RowIndex& first, const KeyRange& keys,
                                      GradientScratch<Real>& scratch) {
  const auto place = [](Index columns, AlignedBuffer<Real>& in_rows, AlignedBuffer<Real>& panels) {
    const Index pitch = pitch_of<Real>(columns);
    return PackedRows<Real>{columns, pitch, in_rows.at_least(kGradientKeys<Real> * pitch),
                            panels.at_least(kGradientKeys<Real> * columns)};
  };
  GradientTile<Real> tile{keys, place(problem.head_dim, scratch.k_rows, scratch.k_panels),
                          place(problem.head_dim_v, scratch.v_rows, scratch.v_panels)};
  Real* const copy = scratch.copy.at_least(std::max(tile.k.pitch, tile.v.pitch));
  const Index count = keys.end - keys.begin;
  const Index panels = (count + kPanelKeys<Real> - 1) / kPanelKeys<Real>;
  RowCopier<Real> copy_k;
  RowCopier<Real> copy_v;
  for (Index key = 0; key < count; ++key) {
    copy_k.copy(rows.key(first.batch, first.head, keys.begin + key, copy), tile.k, key);
    copy_v.copy(rows.value(first.batch, first.head, keys.begin + key, copy), tile.v, key);
  }
  for (const PackedRows<Real>& packed : {tile.k, tile.v}) {
    std::fill(packed.rows + count * packed.pitch,
              packed.rows + panels * kPanelKeys<Real> * packed.pitch, Real(0));
    cut_rows(packed, panels, kPanelKeys<Real>, kPanelKeys<Real>);
  }
  tile.finite = copy_k.finite();
  return tile;
}

}  // namespace attest::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
