// Keys of a tile that are read where they are stored.

// One body for each target of Highway.
#if defined(ATTEST_KERNELS_SIMD_RUNS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_KERNELS_SIMD_RUNS_INL_H_
#undef ATTEST_KERNELS_SIMD_RUNS_INL_H_
#else
#define ATTEST_KERNELS_SIMD_RUNS_INL_H_
#endif

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "attest/tiling.hpp"
#include "kernels/simd_blocks-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attest::kernels::HWY_NAMESPACE {

/// Rows that lie in memory at equal distances: all of a tile, or in a paged cache those of a page.
template <class Real>
struct RowRun {
  const Real* first = nullptr;
  Index pitch = 0;
  Index begin = 0;  ///< number of the first row in the tile
  Index end = 0;

  const Real* row(Index key) const { return first + (key - begin) * pitch; }
  RowRun within(const KeyRange& keys) const {
    const Index from = std::max(begin, keys.begin);
    return {from < end ? row(from) : first, pitch, from, std::max(from, std::min(end, keys.end))};
  }
};

/// All rows of a tile, run by run.
template <class Real>
class RowRuns {
 public:
  void clear() { count_ = 0; }
  void add(const RowRun<Real>& run) { runs_[count_++] = run; }
  std::span<const RowRun<Real>> all() const { return {runs_.data(), count_}; }

 private:
  std::array<RowRun<Real>, static_cast<std::size_t>(kTileKeys<Real>)> runs_;
  std::size_t count_ = 0;
};

template <class Real>
using PanelRows = std::array<const Real*, static_cast<std::size_t>(kPanelKeys<Real>)>;

/// Rows of the panel that begins at key `begin`, up to `end`; the rest of `rows` stays as it is.
template <class Real>
void find_rows(const RowRuns<Real>& runs, Index begin, Index end, PanelRows<Real>& rows) {
  for (const RowRun<Real>& run : runs.all()) {
    const RowRun<Real> part = run.within({begin, std::min(begin + kPanelKeys<Real>, end)});
    for (Index key = part.begin; key < part.end; ++key)
      rows[static_cast<std::size_t>(key - begin)] = part.row(key);
  }
}

}  // namespace attest::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
