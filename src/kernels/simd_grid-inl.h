// Sums that depend on their terms and not on the order of them.
//
// An accumulator of doubles begins at C = 1.5 * 2^(52 + g) and never leaves [2^(52 + g), 2^(53 +
// g)), where the numbers are 2^g apart. To add x rounded towards minus infinity then adds x rounded
// down to a multiple of 2^g: what the accumulator holds has no part in it, and there are no ties.
// So acc - C is the sum of the rounded terms, exactly, in whatever order they came, and
// accumulators of the same C are merged exactly by acc + (other - C). It stays there if n terms of
// at most 2^e in size have g >= e + ceil(log2 n) - 51. The product of two floats is exact in
// double, so that FMA, and product and addition, give the same bits. Rounding terms to a grid:
// Demmel and Nguyen, "Parallel Reproducible Summation", IEEE TC 2015.

// One body for each target of Highway.
#if defined(ATTEST_KERNELS_SIMD_GRID_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_KERNELS_SIMD_GRID_INL_H_
#undef ATTEST_KERNELS_SIMD_GRID_INL_H_
#else
#define ATTEST_KERNELS_SIMD_GRID_INL_H_
#endif

#include <bit>
#include <cfenv>
#include <limits>

#include "kernels/simd_products-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attest::kernels::HWY_NAMESPACE {

/// Rounds towards minus infinity while it lives. Only calls that are not inlined may stand beside
/// it: the compiler knows nothing of rounding modes.
class RoundDown {
 public:
  RoundDown() : before_(std::fegetround()) { std::fesetround(FE_DOWNWARD); }
  ~RoundDown() { std::fesetround(before_); }
  RoundDown(const RoundDown&) = delete;
  RoundDown& operator=(const RoundDown&) = delete;

 private:
  int before_;
};

/// ceil(log2 n) of n >= 1.
inline int count_bits(Index n) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n - 1)));
}

/// C of sums of 2^bits terms, each at most in size as a term of `largest` >= 0: with 2^x <= largest
/// < 2^(x + 1), e = x + 1 and g = x + bits - 50.
HWY_INLINE Vec<double> grid_start(Vec<double> largest, int bits) {
  const Tag<double> d;
  const hn::RebindToUnsigned<Tag<double>> du;
  // Below the least float there is no term, but a logarithm of 0.
  const Vec<double> least = hn::Set(d, double{std::numeric_limits<float>::denorm_min()});
  const auto raised = hn::BitCast(du, hn::Max(largest, least));
  const auto exponent = hn::And(raised, hn::Set(du, std::uint64_t{0x7ff} << 52));
  const auto up = hn::Set(du, (static_cast<std::uint64_t>(bits) + 2) << 52);
  const auto half = hn::Set(du, std::uint64_t{1} << 51);
  return hn::BitCast(d, hn::Or(hn::Add(exponent, up), half));
}

/// Rows of doubles, kTileKeys<double> apart: what their lanes add up to.
struct GridRows {
  const double* terms;
  double* sums;  ///< rows x lanes
  Index rows;
  Index first;  ///< vectors [first, last) of the rows
  Index last;
};

HWY_NOINLINE inline void add_to_lanes(const GridRows& block) {
  const Tag<double> d;
  for (Index i = 0; i < block.rows; ++i) {
    double* const at = block.sums + i * kLanes<double>;
    const double* const terms = block.terms + i * kTileKeys<double>;
    Vec<double> sum = hn::Load(d, at);
    for (Index v = block.first; v < block.last; ++v)
      sum = hn::Add(sum, hn::Load(d, terms + v * kLanes<double>));
    hn::Store(sum, d, at);
  }
}

}  // namespace attest::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
