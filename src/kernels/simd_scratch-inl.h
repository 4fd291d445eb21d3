// Memory that a thread keeps between calls: the first touch of a page costs more than its use.

// One body for each target of Highway.
#if defined(ATTEST_KERNELS_SIMD_SCRATCH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_KERNELS_SIMD_SCRATCH_INL_H_
#undef ATTEST_KERNELS_SIMD_SCRATCH_INL_H_
#else
#define ATTEST_KERNELS_SIMD_SCRATCH_INL_H_
#endif

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <new>

#include "hwy/aligned_allocator.h"
#include "kernels/simd_pack-inl.h"
#include "kernels/simd_softmax-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attest::kernels::HWY_NAMESPACE {

/// Aligned elements; what they hold is lost when it grows. Without memory it throws, as a vector.
template <class Real>
class AlignedBuffer {
 public:
  Real* at_least(Index count) {
    if (count > size_) {
      elements_ = hwy::AllocateAligned<Real>(static_cast<std::size_t>(count));
      size_ = elements_ ? count : 0;
      if (!elements_) throw std::bad_alloc();
    }
    return elements_.get();
  }

 private:
  hwy::AlignedFreeUniquePtr<Real[]> elements_;
  Index size_ = 0;
};

/// Summaries of rows, strip by strip (attest/summary.hpp). The sum of the lanes is the row_sum.
template <class Real>
struct Summaries {
  Index rows = 0;  ///< a multiple of kStripRows
  Index pitch = 0;
  Real* row_max = nullptr;
  Real* row_sum = nullptr;     ///< rows x lanes
  Real* numerators = nullptr;  ///< rows x pitch

  static Index elements(Index rows, Index pitch) {
    return rows * (pitch + kLanes<Real>)+pitch_of<Real>(rows);
  }
  /// In memory of elements(rows, pitch).
  static Summaries in(Real* memory, Index rows, Index pitch) {
    Real* const row_sum = memory + rows * pitch;
    return {rows, pitch, row_sum + rows * kLanes<Real>, row_sum, memory};
  }
  void clear() const {
    std::fill_n(row_max, rows, kMinusInfinity<Real>);
    std::fill_n(row_sum, rows * kLanes<Real>, Real(0));
    std::fill_n(numerators, rows * pitch, Real(0));
  }
};

/// The rows of one strip, which begins at row `first`.
template <class Real>
Summaries<Real> strip_of(const Summaries<Real>& part, Index first) {
  return {kStripRows, part.pitch, part.row_max + first, part.row_sum + first * kLanes<Real>,
          part.numerators + first * part.pitch};
}

template <class Real>
struct Scratch {
  AlignedBuffer<Real> q;           ///< strips x head_dim x kStripRows
  AlignedBuffer<Real> k;           ///< panels x head_dim x kPanelKeys
  AlignedBuffer<Real> v;           ///< keys x pitch
  AlignedBuffer<Real> query_rows;  ///< a strip of rows that had to be converted, and zeros
  AlignedBuffer<Real> key_rows;    ///< the same for a tile
  AlignedBuffer<Real> value_row;
  AlignedBuffer<Real> panel_rows;  ///< of a strip that is alone
  AlignedBuffer<Real> saved;       ///< numerators of a strip
  AlignedBuffer<Real> summaries;
  AlignedBuffer<Real> weights;  ///< kStripRows x kTileKeys
};

template <class Real>
Scratch<Real>& scratch_of_thread() {
  static thread_local Scratch<Real> scratch;
  return scratch;
}

}  // namespace attest::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
