// K and V of one tile as the register blocks read them.

// One body for each target of Highway.
#if defined(ATTEST_KERNELS_SIMD_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_KERNELS_SIMD_TILE_INL_H_
#undef ATTEST_KERNELS_SIMD_TILE_INL_H_
#else
#define ATTEST_KERNELS_SIMD_TILE_INL_H_
#endif

#include <algorithm>
#include <array>
#include <vector>

#include "attest/tiling.hpp"
#include "kernels/input_rows.hpp"
#include "kernels/simd_convert-inl.h"
#include "kernels/simd_scratch-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attest::kernels::HWY_NAMESPACE {

/// Rows of k and v of one call as numbers of type Real side by side.
template <class Real>
class KeyRows {
 public:
  KeyRows(const Problem& problem, const InputTensors& tensors)
      : problem_(problem), places_(problem), inputs_(problem, tensors), tensors_(tensors) {}

  Index key_columns() const {
    return problem_.head_dim + (problem_.qv ? problem_.head_dim_v : 0);
  }
  /// The row itself, or a copy of it at `copy`.
  const Real* key(Index b, Index kv_head, Index key, Real* copy) {
    if (problem_.qv || problem_.descales) {
      const auto row = inputs_.key(b, kv_head, key, buffer_);
      std::copy(row.begin(), row.end(), copy);
      return copy;
    }
    return stored(tensors_.k, place(b, kv_head, key), copy);
  }
  const Real* value(Index b, Index kv_head, Index key, Real* copy) {
    if (problem_.descales) {
      const auto row = inputs_.value(b, kv_head, key, buffer_);
      std::copy(row.begin(), row.end(), copy);
      return copy;
    }
    return stored(tensors_.v, place(b, kv_head, key), copy);
  }
  const Real* query(const RowIndex& row, Real* copy) {
    if (problem_.qv || problem_.descales) {
      const auto whole = inputs_.query(row, buffer_);
      std::copy(whole.begin(), whole.end(), copy);
      return copy;
    }
    return stored(tensors_.q, places_.query(row), copy);
  }

  /// The row of any tensor.
  static const Real* stored(const ConstTensorRef& tensor, const RowPlace& at, Real* copy) {
    const auto* const first = static_cast<const std::byte*>(tensor.data) + row_offset(tensor, at);
    if (is_contiguous<Real>(tensor)) return reinterpret_cast<const Real*>(first);
    const Index columns = tensor.extents[3];
    if constexpr (std::is_same_v<Real, float>)
      if (tensor.strides[3] == 1 && converts(tensor.dtype)) {
        convert_from(tensor.dtype, reinterpret_cast<const std::uint16_t*>(first), columns, copy);
        return copy;
      }
    convert_row(tensor, at, std::span<Real>(copy, static_cast<std::size_t>(columns)));
    return copy;
  }

 private:
  RowPlace place(Index b, Index kv_head, Index key) const {
    const StoredRow at = places_.key(b, key);
    return {at.b, kv_head, at.row};
  }
  const Problem& problem_;
  StoredPlaces places_;
  InputRows<Real> inputs_;
  InputTensors tensors_;
  std::vector<Real> buffer_;
};

template <class Real>
struct PackedTile {
  KeyRange keys;
  Real* k = nullptr;
  Real* v = nullptr;
  bool finite = true;  ///< no infinity or NaN among the values
};

/// Precondition: keys exist, and are at most kTileKeys.
template <class Real>
PackedTile<Real> pack_tile(KeyRows<Real>& rows, Index b, Index kv_head, const KeyRange& keys,
                           Index columns_v, Scratch<Real>& scratch) {
  const Index columns = rows.key_columns();
  const Index row_pitch = pitch_of<Real>(std::max(columns, columns_v));
  const Index pitch = pitch_of<Real>(columns_v);
  PackedTile<Real> tile{keys, scratch.k.at_least(kTileKeys<Real> * columns),
                        scratch.v.at_least(kTileKeys<Real> * pitch)};
  Real* const copies = scratch.rows.at_least((kLanes<Real> + 1) * row_pitch);
  Real* const zeros = copies + kLanes<Real> * row_pitch;
  std::fill_n(zeros, columns, Real(0));

  const Index count = keys.end - keys.begin;
  const Index in_panels = (count + kPanelKeys<Real> - 1) / kPanelKeys<Real> * kPanelKeys<Real>;
  std::array<const Real*, static_cast<std::size_t>(kLanes<Real>)> vector_of_rows;
  for (Index begin = 0; begin < in_panels; begin += kLanes<Real>) {
    for (Index lane = 0; lane < kLanes<Real>; ++lane)
      vector_of_rows[static_cast<std::size_t>(lane)] =
          begin + lane < count
              ? rows.key(b, kv_head, keys.begin + begin + lane, copies + lane * row_pitch)
              : zeros;
    const Index panel = begin / kPanelKeys<Real>;
    pack_rows(vector_of_rows.data(), columns,
              tile.k + panel * columns * kPanelKeys<Real> + begin % kPanelKeys<Real>,
              kPanelKeys<Real>);
  }

  const Tag<Real> d;
  Vec<Real> not_finite = hn::Zero(d);
  for (Index key = 0; key < count; ++key)
    pack_values(rows.value(b, kv_head, keys.begin + key, copies), columns_v, tile.v + key * pitch,
                not_finite);
  tile.finite = hn::AllTrue(d, hn::Eq(not_finite, hn::Zero(d)));
  return tile;
}

}  // namespace attest::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
