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
#include "kernels/simd_call.hpp"
#include "kernels/simd_convert-inl.h"
#include "kernels/simd_runs-inl.h"
#include "kernels/simd_scratch-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attest::kernels::HWY_NAMESPACE {

template <class Ref>
void prefetch_row(const Ref& tensor, const RowPlace& at) {
  constexpr Index kLine = 64;
  const auto* const first = static_cast<const std::byte*>(tensor.data) + row_offset(tensor, at);
  const Index bytes =
      tensor.extents[3] * tensor.strides[3] * static_cast<Index>(size_of(tensor.dtype));
  for (Index byte = 0; byte < bytes; byte += kLine) __builtin_prefetch(first + byte);
}

/// Rows of k and v of one call as numbers of type Real side by side.
template <class Real>
class KeyRows {
 public:
  KeyRows(const Problem& problem, const InputTensors& tensors)
      : problem_(problem), places_(problem), inputs_(problem, tensors), tensors_(tensors) {}

  /// Begins to fetch the row of a query.
  void prefetch_query(const RowIndex& row) const { prefetch_row(tensors_.q, places_.query(row)); }
  /// The row itself, or a copy of it at `copy`.
  const Real* key(Index b, Index kv_head, Index key, Real* copy) {
    if (problem_.qv || problem_.descales) {
      const auto row = inputs_.key(b, kv_head, key, buffer_);
      std::copy(row.begin(), row.end(), copy);
      return copy;
    }
    return stored(tensors_.k, place(b, kv_head, key), copy);
  }
  /// Whether `key` never copies.
  bool reads_keys_in_place() const {
    return !problem_.qv && !problem_.descales && is_contiguous<Real>(tensors_.k);
  }
  /// The keys of a range. Precondition: reads_keys_in_place().
  void find_keys(Index b, Index kv_head, const KeyRange& keys, RowRuns<Real>& runs) const {
    find_runs(tensors_.k, b, kv_head, keys, runs);
  }
  /// The values. Precondition: reads_values_in_place().
  void find_values(Index b, Index kv_head, const KeyRange& keys, RowRuns<Real>& runs) const {
    find_runs(tensors_.v, b, kv_head, keys, runs);
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

  /// Whether `value` never copies, and its rows are whole vectors.
  bool reads_values_in_place() const {
    return !problem_.descales && is_contiguous<Real>(tensors_.v) &&
           problem_.head_dim_v % kLanes<Real> == 0;
  }
  Index columns() const { return score_columns(problem_); }
  Index columns_v() const { return problem_.head_dim_v; }

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
  /// Keys lie one behind the other, in a paged cache up to the end of a page.
  void find_runs(const ConstTensorRef& tensor, Index b, Index kv_head, const KeyRange& keys,
                 RowRuns<Real>& runs) const {
    const KvStorage& kv = problem_.kv;
    runs.clear();
    for (Index key = keys.begin; key < keys.end;) {
      const Index end = kv.kind == KvStorage::Kind::paged
                            ? std::min(keys.end, key + kv.page_size - key % kv.page_size)
                            : keys.end;
      const auto* const first =
          static_cast<const std::byte*>(tensor.data) + row_offset(tensor, place(b, kv_head, key));
      runs.add({reinterpret_cast<const Real*>(first), tensor.strides[2], key - keys.begin,
                end - keys.begin});
      key = end;
    }
  }
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
struct KeyTile {
  KeyRange keys = {};
  const Real* k = nullptr;  ///< panels of columns x kPanelKeys; null: see k_runs
  const Real* v = nullptr;  ///< keys x pitch; null: see v_runs
  const RowRuns<Real>* k_runs = nullptr;
  const RowRuns<Real>* v_runs = nullptr;
  bool finite = true;  ///< no infinity or NaN among packed values
  bool full = false;   ///< every row of the block sees every key
};

template <class Real>
class TilePacker {
 public:
  TilePacker(KeyRows<Real>& rows, Scratch<Real>& scratch)
      : rows_(rows),
        scratch_(scratch),
        columns_(rows.columns()),
        row_pitch_(pitch_of<Real>(std::max(rows.columns(), rows.columns_v()))),
        copies_(scratch.key_rows.at_least((kTileKeys<Real> + 1) * row_pitch_)),
        zeros_(copies_ + kTileKeys<Real> * row_pitch_) {
    std::fill_n(zeros_, columns_, Real(0));
  }

  /// For many strips. Precondition of both: keys exist, and are at most kTileKeys.
  KeyTile<Real> packed(Index b, Index kv_head, const KeyRange& keys) {
    KeyTile<Real> tile{keys};
    Real* const k = scratch_.k.at_least(kTileKeys<Real> * columns_);
    for (Index begin = keys.begin; begin < keys.end; begin += kPanelKeys<Real>) {
      const auto rows = panel_rows(b, kv_head, {begin, keys.end});
      Real* const panel = k + (begin - keys.begin) * columns_;
      for (Index at = 0; at < kPanelKeys<Real>; at += kLanes<Real>)
        pack_rows(rows.data() + at, columns_, panel + at, kPanelKeys<Real>);
    }
    tile.k = k;
    pack_v(b, kv_head, tile);
    return tile;
  }
  /// For one strip: what can be read where it is stored is not copied.
  KeyTile<Real> stored(Index b, Index kv_head, const KeyRange& keys) {
    KeyTile<Real> tile{keys};
    find_keys(b, kv_head, keys);
    tile.k_runs = &k_runs_;
    if (!rows_.reads_values_in_place()) {
      pack_v(b, kv_head, tile);
      return tile;
    }
    rows_.find_values(b, kv_head, keys, v_runs_);
    tile.v_runs = &v_runs_;
    return tile;
  }

 private:
  /// Where they are stored, or copies.
  void find_keys(Index b, Index kv_head, const KeyRange& keys) {
    if (rows_.reads_keys_in_place()) return rows_.find_keys(b, kv_head, keys, k_runs_);
    const Index count = keys.end - keys.begin;
    for (Index at = 0; at < count; ++at)
      rows_.key(b, kv_head, keys.begin + at, copies_ + at * row_pitch_);
    k_runs_.clear();
    k_runs_.add({copies_, row_pitch_, 0, count});
  }
  /// Rows of the first panel of a range, of zeros behind the keys.
  PanelRows<Real> panel_rows(Index b, Index kv_head, KeyRange keys) {
    keys.end = std::min(keys.end, keys.begin + kPanelKeys<Real>);
    find_keys(b, kv_head, keys);
    PanelRows<Real> rows;
    rows.fill(zeros_);
    find_rows(k_runs_, 0, keys.end - keys.begin, rows);
    return rows;
  }
  void pack_v(Index b, Index kv_head, KeyTile<Real>& tile) {
    const Index columns = rows_.columns_v();
    const Index pitch = pitch_of<Real>(columns);
    Real* const v = scratch_.v.at_least(kTileKeys<Real> * pitch);
    Real* const copy = scratch_.value_row.at_least(pitch);
    const Tag<Real> d;
    Vec<Real> not_finite = hn::Zero(d);
    for (Index key = 0; key < tile.keys.end - tile.keys.begin; ++key)
      pack_values(rows_.value(b, kv_head, tile.keys.begin + key, copy), columns, v + key * pitch,
                  not_finite);
    tile.v = v;
    tile.finite = hn::AllTrue(d, hn::Eq(not_finite, hn::Zero(d)));
  }

  KeyRows<Real>& rows_;
  Scratch<Real>& scratch_;
  Index columns_;
  Index row_pitch_;
  Real* copies_;
  Real* zeros_;
  RowRuns<Real> k_runs_;
  RowRuns<Real> v_runs_;
};

}  // namespace attest::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
