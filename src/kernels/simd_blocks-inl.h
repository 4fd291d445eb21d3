// Products of register blocks: the inner loops of the SIMD kernels.
//
// A strip is kStripRows query rows, a panel kPanelKeys keys side by side in kPanelVectors vectors.
// Accumulators stay in registers while the loop runs over head_dim (scores) or keys (values), so
// every loaded vector meets all rows of its block. Goto and van de Geijn, ACM TOMS 34(3), 2008.

// One body for each target of Highway.
#if defined(ATTEST_KERNELS_SIMD_BLOCKS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_KERNELS_SIMD_BLOCKS_INL_H_
#undef ATTEST_KERNELS_SIMD_BLOCKS_INL_H_
#else
#define ATTEST_KERNELS_SIMD_BLOCKS_INL_H_
#endif

#include <cstdint>

#include "attest/status.hpp"
#include "hwy/highway.h"

// Loops of constant length over accumulators are unrolled, or the accumulators live in memory.
#define ATTEST_UNROLLED _Pragma("GCC unroll 16")
// Lambdas of an inner loop get the target's instructions, and their sums stay in registers.
#define ATTEST_INLINED HWY_ATTR __attribute__((always_inline))

HWY_BEFORE_NAMESPACE();
namespace attest::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// AVX-512 has 32 registers, the other targets 16: accumulators, loaded vectors and one broadcast.
inline constexpr bool kManyRegisters = HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86;

inline constexpr Index kStripRows = kManyRegisters ? 12 : 6;
inline constexpr int kPanelVectors = 2;
inline constexpr int kValueRows = 6;
inline constexpr int kValueVectors = kManyRegisters ? 4 : 2;

template <class Real>
using Tag = hn::ScalableTag<Real>;
template <class Real>
using Vec = hn::Vec<Tag<Real>>;

template <class Real>
inline constexpr Index kLanes = static_cast<Index>(hn::MaxLanes(Tag<Real>()));
template <class Real>
inline constexpr Index kPanelKeys = kPanelVectors* kLanes<Real>;
/// Elements from a row of scores or weights to the next: room for the longest tile.
template <class Real>
inline constexpr Index kTileKeys = 256;

/// scores(i, j) = sum_c q(c, i) k(c, j) for `rows` rows of a strip and one panel, each sum in
/// ascending order of c, one rounding a term with FMA.
///   q (head_dim x kStripRows), k (head_dim x kPanelKeys), scores (rows x kTileKeys)
template <int rows, class Real>
HWY_NOINLINE void score_panel(const Real* HWY_RESTRICT q, const Real* HWY_RESTRICT k,
                              Index head_dim, Real* HWY_RESTRICT scores) {
  const Tag<Real> d;
  Vec<Real> sums[rows][kPanelVectors];
  ATTEST_UNROLLED
  for (int i = 0; i < rows; ++i) {
    ATTEST_UNROLLED
    for (int v = 0; v < kPanelVectors; ++v) sums[i][v] = hn::Zero(d);
  }
  for (Index c = 0; c < head_dim; ++c) {
    Vec<Real> keys[kPanelVectors];
    ATTEST_UNROLLED
    for (int v = 0; v < kPanelVectors; ++v) keys[v] = hn::Load(d, k + v * kLanes<Real>);
    ATTEST_UNROLLED
    for (int i = 0; i < rows; ++i) {
      const Vec<Real> query = hn::Set(d, q[i]);
      ATTEST_UNROLLED
      for (int v = 0; v < kPanelVectors; ++v) sums[i][v] = hn::MulAdd(query, keys[v], sums[i][v]);
    }
    q += kStripRows;
    k += kPanelKeys<Real>;
  }
  ATTEST_UNROLLED
  for (int i = 0; i < rows; ++i) {
    ATTEST_UNROLLED
    for (int v = 0; v < kPanelVectors; ++v)
      hn::Store(sums[i][v], d, scores + i * kTileKeys<Real> + v * kLanes<Real>);
  }
}

/// Keys from a row of values to the one that is fetched.
inline constexpr Index kValuesAhead = 12;
/// The same for rows that are read where they are stored, from far away.
inline constexpr Index kStoredAhead = 16;

/// Rows of values at equal distances, with whole vectors of columns: packed ones side by side, or
/// where they are stored.
template <class Real, bool is_packed>
struct ValueRows {
  static constexpr bool packed = is_packed;
  const Real* first;
  Index pitch;

  const Real* row(Index key) const { return first + key * pitch; }
  ValueRows from(Index key) const { return {row(key), pitch}; }
  ValueRows at_column(Index column) const { return {first + column, pitch}; }
};
template <class Real>
using PackedValues = ValueRows<Real, true>;
template <class Real>
using StoredValues = ValueRows<Real, false>;

/// Begins to fetch what lies so many elements behind, where an array may have ended.
template <class Real>
HWY_INLINE void fetch_behind(const Real* at, Index elements) {
  const std::uintptr_t behind =
      reinterpret_cast<std::uintptr_t>(at) + static_cast<std::uintptr_t>(elements) * sizeof(Real);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): nothing is read there
  __builtin_prefetch(reinterpret_cast<const void*>(behind));
}

/// What a block of numerators is made from.
template <class Real, class Values>
struct ValueBlock {
  const Real* factors;  ///< per row, on what the numerators hold
  const Real* weights;  ///< rows x kTileKeys
  Values values;
  Index keys;
  Index pitch;       ///< of numerators, in elements
  Real* numerators;  ///< rows x pitch
};

/// numerators(i, c) = factors(i) numerators(i, c) + sum_j weights(i, j) values(j, c) for `rows`
/// rows and `vectors` vectors of columns, in ascending order of j.
template <int rows, int vectors, class Real, class Values>
HWY_NOINLINE void add_values(const ValueBlock<Real, Values>& block) {
  const Tag<Real> d;
  const Values from = block.values;
  const Real* HWY_RESTRICT weights = block.weights;
  Real* HWY_RESTRICT numerators = block.numerators;
  Vec<Real> sums[rows][vectors];
  ATTEST_UNROLLED
  for (int i = 0; i < rows; ++i) {
    const Vec<Real> factor = hn::Set(d, block.factors[i]);
    ATTEST_UNROLLED
    for (int v = 0; v < vectors; ++v)
      sums[i][v] = hn::Mul(factor, hn::Load(d, numerators + i * block.pitch + v * kLanes<Real>));
  }
  const auto add_key = [&](Index j) ATTEST_INLINED {
    const Real* HWY_RESTRICT const values = from.row(j);
    Vec<Real> columns[vectors];
    ATTEST_UNROLLED
    for (int v = 0; v < vectors; ++v) columns[v] = hn::LoadU(d, values + v * kLanes<Real>);
    if constexpr (Values::packed) {
      // V of a tile may be larger than the first cache.
      ATTEST_UNROLLED
      for (int v = 0; v < vectors; ++v)
        __builtin_prefetch(values + kValuesAhead * from.pitch + v * kLanes<Real>);
    } else {
      ATTEST_UNROLLED
      for (int v = 0; v < vectors; ++v)
        fetch_behind(values + v * kLanes<Real>, kStoredAhead * from.pitch);
    }
    ATTEST_UNROLLED
    for (int i = 0; i < rows; ++i) {
      const Vec<Real> weight = hn::Set(d, weights[i * kTileKeys<Real> + j]);
      ATTEST_UNROLLED
      for (int v = 0; v < vectors; ++v) sums[i][v] = hn::MulAdd(weight, columns[v], sums[i][v]);
    }
  };
  for (Index j = 0; j < block.keys; ++j) add_key(j);
  ATTEST_UNROLLED
  for (int i = 0; i < rows; ++i) {
    ATTEST_UNROLLED
    for (int v = 0; v < vectors; ++v)
      hn::Store(sums[i][v], d, numerators + i * block.pitch + v * kLanes<Real>);
  }
}

}  // namespace attest::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
