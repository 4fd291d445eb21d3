// Rows of q, k and v in the order in which the register blocks read them.

// One body for each target of Highway.
#if defined(ATTEST_KERNELS_SIMD_PACK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_KERNELS_SIMD_PACK_INL_H_
#undef ATTEST_KERNELS_SIMD_PACK_INL_H_
#else
#define ATTEST_KERNELS_SIMD_PACK_INL_H_
#endif

#include <algorithm>

#include "kernels/simd_blocks-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attest::kernels::HWY_NAMESPACE {

/// Elements of one row of values or numerators: columns up to a whole vector.
template <class Real>
constexpr Index pitch_of(Index columns) {
  return (columns + kLanes<Real> - 1) / kLanes<Real> * kLanes<Real>;
}

#if HWY_TARGET != HWY_SCALAR
/// 16 bytes from each of rows[0], rows[step], rows[2 step] ..., side by side.
template <class D, class Real>
HWY_INLINE hn::Vec<D> load_pieces(D d, const Real* const* rows, Index step, Index column) {
  constexpr Index kPieces = static_cast<Index>(hn::MaxLanes(D()) * sizeof(Real) / 16);
  if constexpr (kPieces <= 1) {
    return hn::LoadU(d, rows[0] + column);
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, load_pieces(half, rows + kPieces / 2 * step, step, column),
                       load_pieces(half, rows, step, column));
  }
}

/// to(c, j) = rows(j, c) for one vector of rows and the columns of 16 bytes.
HWY_INLINE void transpose_columns(Tag<float> d, const float* const* rows, Index column, float* to,
                                  Index step) {
  const auto even = load_pieces(d, rows, 4, column);
  const auto odd = load_pieces(d, rows + 1, 4, column);
  const auto even_up = load_pieces(d, rows + 2, 4, column);
  const auto odd_up = load_pieces(d, rows + 3, 4, column);
  const auto low_even = hn::InterleaveLower(d, even, even_up);
  const auto low_odd = hn::InterleaveLower(d, odd, odd_up);
  const auto high_even = hn::InterleaveUpper(d, even, even_up);
  const auto high_odd = hn::InterleaveUpper(d, odd, odd_up);
  hn::StoreU(hn::InterleaveLower(d, low_even, low_odd), d, to);
  hn::StoreU(hn::InterleaveUpper(d, low_even, low_odd), d, to + step);
  hn::StoreU(hn::InterleaveLower(d, high_even, high_odd), d, to + 2 * step);
  hn::StoreU(hn::InterleaveUpper(d, high_even, high_odd), d, to + 3 * step);
}
HWY_INLINE void transpose_columns(Tag<double> d, const double* const* rows, Index column,
                                  double* to, Index step) {
  const auto even = load_pieces(d, rows, 2, column);
  const auto odd = load_pieces(d, rows + 1, 2, column);
  hn::StoreU(hn::InterleaveLower(d, even, odd), d, to);
  hn::StoreU(hn::InterleaveUpper(d, even, odd), d, to + step);
}

#endif

/// to(c, j) = rows(j, column + c) for one vector of rows and the columns of 16 bytes or less.
template <class Real>
HWY_INLINE void turn_rows(const Real* const* rows, Index column, Index columns, Real* to) {
#if HWY_TARGET != HWY_SCALAR
  if (HWY_LIKELY(columns * Index{sizeof(Real)} == 16))
    return transpose_columns(Tag<Real>(), rows, column, to, kPanelKeys<Real>);
#endif
  for (Index c = 0; c < columns; ++c)
    for (Index j = 0; j < kLanes<Real>; ++j) to[c * kPanelKeys<Real> + j] = rows[j][column + c];
}

/// to(c, j) = rows(j, c) for one vector of rows; columns are `step` elements apart, and are written
/// in ascending order, a whole vector each.
template <class Real>
void pack_rows(const Real* const* rows, Index columns, Real* to, Index step) {
  Index c = 0;
#if HWY_TARGET != HWY_SCALAR
  constexpr Index kColumns = 16 / sizeof(Real);
  for (; c + kColumns <= columns; c += kColumns)
    transpose_columns(Tag<Real>(), rows, c, to + c * step, step);
#endif
  for (; c < columns; ++c)
    for (Index j = 0; j < kLanes<Real>; ++j) to[c * step + j] = rows[j][c];
}

/// One row of values, zeros behind its columns. Adds 0 times each element to `not_finite`, which
/// becomes NaN with the first infinity or NaN.
template <class Real>
HWY_INLINE void pack_values(const Real* HWY_RESTRICT row, Index columns, Real* HWY_RESTRICT to,
                            Vec<Real>& not_finite) {
  const Tag<Real> d;
  Index c = 0;
  for (; c + kLanes<Real> <= columns; c += kLanes<Real>) {
    const Vec<Real> values = hn::LoadU(d, row + c);
    not_finite = hn::MulAdd(values, hn::Zero(d), not_finite);
    hn::Store(values, d, to + c);
  }
  if (c == columns) return;
  std::fill(to + c, to + c + kLanes<Real>, Real(0));
  std::copy(row + c, row + columns, to + c);
  not_finite = hn::MulAdd(hn::Load(d, to + c), hn::Zero(d), not_finite);
}

template <class Real>
void scale_in_place(Real* elements, Index count, Real scale) {
  const Tag<Real> d;
  for (Index at = 0; at < count; at += kLanes<Real>)
    hn::StoreU(hn::Mul(hn::Set(d, scale), hn::LoadU(d, elements + at)), d, elements + at);
}

}  // namespace attest::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
