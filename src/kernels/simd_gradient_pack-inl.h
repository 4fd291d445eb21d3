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
  AlignedBuffer<Real> q, dout, dq;         ///< rows of a block x pitch
  AlignedBuffer<Real> lse, delta;          ///< rows of a block
  AlignedBuffer<Real> rows;                ///< keys x pitch of k or v
  AlignedBuffer<Real> k_panels, v_panels;  ///< panels of columns x kPanelKeys
  AlignedBuffer<Real> dk, dv;              ///< keys x pitch, of one block and one tile
  AlignedBuffer<Real> weights, gradients;  ///< kGroupRows x kWeightPitch
  AlignedBuffer<Real> copy;                ///< two rows
  AlignedBuffer<Real> dk_sums, dv_sums;    ///< of one kv head
};

/// Rows of one width, zeros behind their columns.
template <class Real>
struct Rows {
  Index columns = 0;
  Index pitch = 0;
  Real* elements = nullptr;

  static Rows in(AlignedBuffer<Real>& buffer, Index rows, Index columns) {
    const Index pitch = pitch_of<Real>(columns);
    return {columns, pitch, buffer.at_least(rows * pitch)};
  }
  Real* row(Index at) const { return elements + at * pitch; }
};

/// Copies rows; the first infinity or NaN makes them not finite.
template <class Real>
class RowCopier {
 public:
  RowCopier() : not_finite_(hn::Zero(Tag<Real>())) {}

  void copy(const Real* from, const Rows<Real>& to, Index row) {
    pack_values(from, to.columns, to.row(row), not_finite_);
  }
  bool finite() const {
    const Tag<Real> d;
    return hn::AllTrue(d, hn::Eq(not_finite_, hn::Zero(d)));
  }

 private:
  Vec<Real> not_finite_;
};

/// panels(panel, c, j) = rows(panel * kPanelKeys + j, c).
template <class Real>
void cut_into_panels(const Rows<Real>& from, Index keys, Real* panels) {
  std::array<const Real*, static_cast<std::size_t>(kLanes<Real>)> rows;
  for (Index begin = 0; begin < keys; begin += kLanes<Real>) {
    for (Index lane = 0; lane < kLanes<Real>; ++lane)
      rows[static_cast<std::size_t>(lane)] = from.row(begin + lane);
    const Index in_panel = begin % kPanelKeys<Real>;
    pack_rows(rows.data(), from.columns, panels + (begin - in_panel) * from.columns + in_panel,
              kPanelKeys<Real>);
  }
}

template <class Real>
struct GradientTile {
  KeyRange keys;
  Rows<Real> k;
  Real* k_panels = nullptr;
  Real* v_panels = nullptr;
  bool finite = true;  ///< no infinity or NaN in k
};

/// `at`: batch and kv head. Precondition: keys exist, and are at most kGradientKeys.
template <class Real>
GradientTile<Real> pack_gradient_tile(KeyRows<Real>& inputs, const Problem& problem,
                                      const RowIndex& at, const KeyRange& keys,
                                      GradientScratch<Real>& scratch) {
  const Index most = std::max(problem.head_dim, problem.head_dim_v);
  scratch.rows.at_least(kGradientKeys<Real> * pitch_of<Real>(most));
  const Rows<Real> v = Rows<Real>::in(scratch.rows, kGradientKeys<Real>, problem.head_dim_v);
  GradientTile<Real> tile{keys, Rows<Real>::in(scratch.rows, kGradientKeys<Real>, problem.head_dim),
                          scratch.k_panels.at_least(kGradientKeys<Real> * problem.head_dim),
                          scratch.v_panels.at_least(kGradientKeys<Real> * problem.head_dim_v)};
  Real* const copy = scratch.copy.at_least(pitch_of<Real>(most));
  const Index count = keys.end - keys.begin;
  const Index whole = (count + kPanelKeys<Real> - 1) / kPanelKeys<Real> * kPanelKeys<Real>;
  RowCopier<Real> values;
  for (Index key = 0; key < count; ++key)
    values.copy(inputs.value(at.batch, at.head, keys.begin + key, copy), v, key);
  std::fill(v.row(count), v.row(whole), Real(0));
  cut_into_panels(v, whole, tile.v_panels);
  RowCopier<Real> copier;  // of k, which stays
  for (Index key = 0; key < count; ++key)
    copier.copy(inputs.key(at.batch, at.head, keys.begin + key, copy), tile.k, key);
  std::fill(tile.k.row(count), tile.k.row(whole), Real(0));
  cut_into_panels(tile.k, whole, tile.k_panels);
  tile.finite = copier.finite();
  return tile;
}

}  // namespace attest::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
