// Register blocks of the backward pass: products of packed strips and panels, and sums of products
// that grow in memory.

// One body for each target of Highway.
#if defined(ATTEST_KERNELS_SIMD_GRADIENT_BLOCKS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_KERNELS_SIMD_GRADIENT_BLOCKS_INL_H_
#undef ATTEST_KERNELS_SIMD_GRADIENT_BLOCKS_INL_H_
#else
#define ATTEST_KERNELS_SIMD_GRADIENT_BLOCKS_INL_H_
#endif

#include "kernels/simd_blocks-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attest::kernels::HWY_NAMESPACE {

/// Rows that meet a tile together: the sums of dk and dv are loaded and stored once for all of
/// them.
inline constexpr Index kGroupRows = 96;
static_assert(kGroupRows % kStripRows == 0);

/// Keys of the longest tile of the backward pass.
template <class Real>
inline constexpr Index kGradientKeys = 256 / static_cast<Index>(sizeof(Real));
/// Elements from one row of weights to the next: columns do not fall into a few sets of the cache.
template <class Real>
inline constexpr Index kWeightPitch = kGradientKeys<Real> + kLanes<Real>;

/// products(i, j) = sum_c left(i, c) right(c, j) for `rows` rows and one panel, each sum in
/// ascending order of c.
///   left (rows x pitch), right (depth x kPanelKeys), products (rows x kWeightPitch)
template <class Real>
struct PanelProduct {
  const Real* left;
  Index pitch;
  const Real* right;
  Index depth;
  Real* products;
};

template <int rows, class Real>
HWY_NOINLINE void multiply_panel(const PanelProduct<Real>& product) {
  // Every third row has a pointer of its own: the others are one and two pitches from it.
  constexpr int kPointers = (rows + 2) / 3;
  const Tag<Real> d;
  const Index pitch = product.pitch;
  const Real* HWY_RESTRICT right = product.right;
  const Real* left[kPointers];
  ATTEST_UNROLLED
  for (int i = 0; i < kPointers; ++i) left[i] = product.left + Index{3} * i * pitch;
  Vec<Real> sums[rows][kPanelVectors];
  ATTEST_UNROLLED
  for (int i = 0; i < rows; ++i) {
    ATTEST_UNROLLED
    for (int v = 0; v < kPanelVectors; ++v) sums[i][v] = hn::Zero(d);
  }
  for (Index c = 0; c < product.depth; ++c) {
    Vec<Real> columns[kPanelVectors];
    ATTEST_UNROLLED
    for (int v = 0; v < kPanelVectors; ++v) columns[v] = hn::Load(d, right + v * kLanes<Real>);
    ATTEST_UNROLLED
    for (int i = 0; i < rows; ++i) {
      const Vec<Real> row = hn::Set(d, left[i / 3][i % 3 * pitch]);
      ATTEST_UNROLLED
      for (int v = 0; v < kPanelVectors; ++v) sums[i][v] = hn::MulAdd(row, columns[v], sums[i][v]);
    }
    ATTEST_UNROLLED
    for (int i = 0; i < kPointers; ++i) ++left[i];
    right += kPanelKeys<Real>;
  }
  ATTEST_UNROLLED
  for (int i = 0; i < rows; ++i) {
    ATTEST_UNROLLED
    for (int v = 0; v < kPanelVectors; ++v)
      hn::Store(sums[i][v], d, product.products + i * kWeightPitch<Real> + v * kLanes<Real>);
  }
}

/// Rows of a strip that exist against one panel; a few more are computed where no block of that
/// height was compiled.
template <class Real>
void multiply_strip(const PanelProduct<Real>& product, Index rows) {
  if constexpr (kStripRows > 6) {
    if (rows > 8) return multiply_panel<kStripRows>(product);
    if (rows > 6) return multiply_panel<8>(product);
  }
  if (rows > 4) return multiply_panel<6>(product);
  if (rows > 2) return multiply_panel<4>(product);
  multiply_panel<2>(product);
}

/// How the factors of a row of sums lie: side by side, or one below the other.
enum class Factors { in_rows, in_columns };

template <class Real>
struct ProductSums {
  const Real* factors;  ///< kWeightPitch apart
  const Real* terms;    ///< depth x pitch
  Index depth;
  Index pitch;  ///< of terms and sums, in elements
  Real* sums;
};

template <Factors order, class Real>
HWY_INLINE Index factor_at(Index row, Index t) {
  return order == Factors::in_rows ? row * kWeightPitch<Real> + t : t * kWeightPitch<Real> + row;
}

/// sums(i, c) += sum_t factor(i, t) terms(t, c) for `rows` rows and `vectors` vectors of columns,
/// in ascending order of t.
template <Factors order, int rows, int vectors, class Real>
HWY_NOINLINE void add_block(const ProductSums<Real>& block) {
  const Tag<Real> d;
  const Real* HWY_RESTRICT terms = block.terms;
  const Real* HWY_RESTRICT factors = block.factors;
  Real* HWY_RESTRICT to = block.sums;
  const Index pitch = block.pitch;
  Vec<Real> sums[rows][vectors];
  ATTEST_UNROLLED
  for (int i = 0; i < rows; ++i) {
    ATTEST_UNROLLED
    for (int v = 0; v < vectors; ++v) sums[i][v] = hn::Load(d, to + i * pitch + v * kLanes<Real>);
  }
  for (Index t = 0; t < block.depth; ++t) {
    Vec<Real> columns[vectors];
    ATTEST_UNROLLED
    for (int v = 0; v < vectors; ++v) columns[v] = hn::Load(d, terms + v * kLanes<Real>);
    ATTEST_UNROLLED
    for (int i = 0; i < rows; ++i) {
      const Vec<Real> factor = hn::Set(d, factors[factor_at<order, Real>(i, 0)]);
      ATTEST_UNROLLED
      for (int v = 0; v < vectors; ++v) sums[i][v] = hn::MulAdd(factor, columns[v], sums[i][v]);
    }
    terms += pitch;
    factors += factor_at<order, Real>(0, 1);
  }
  ATTEST_UNROLLED
  for (int i = 0; i < rows; ++i) {
    ATTEST_UNROLLED
    for (int v = 0; v < vectors; ++v) hn::Store(sums[i][v], d, to + i * pitch + v * kLanes<Real>);
  }
}

/// All columns, in blocks of nearly one width: 5 vectors are 3 and 2.
template <Factors order, int rows, class Real>
void add_columns_of(ProductSums<Real> block) {
  constexpr Index kWidest = kValueVectors;
  Index vectors = block.pitch / kLanes<Real>;
  for (Index blocks = (vectors + kWidest - 1) / kWidest; blocks > 0; --blocks) {
    const Index width = (vectors + blocks - 1) / blocks;
    if constexpr (kWidest > 2) {
      if (width == 4) add_block<order, rows, 4>(block);
      if (width == 3) add_block<order, rows, 3>(block);
    }
    if (width == 2) add_block<order, rows, 2>(block);
    if (width == 1) add_block<order, rows, 1>(block);
    block.terms += width * kLanes<Real>;
    block.sums += width * kLanes<Real>;
    vectors -= width;
  }
}

/// `rows` rows of sums and no more, all columns.
template <Factors order, class Real>
void add_products(ProductSums<Real> block, Index rows) {
  while (rows > 0) {
    const Index height = rows >= kValueRows ? kValueRows : rows >= 4 ? 4 : rows >= 2 ? 2 : 1;
    if (height == kValueRows)
      add_columns_of<order, kValueRows>(block);
    else if (height == 4)
      add_columns_of<order, 4>(block);
    else if (height == 2)
      add_columns_of<order, 2>(block);
    else
      add_columns_of<order, 1>(block);
    block.factors += factor_at<order, Real>(height, 0);
    block.sums += height * block.pitch;
    rows -= height;
  }
}

}  // namespace attest::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
