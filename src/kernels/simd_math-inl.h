// exp, tanh and log on vectors of float and double, for the inner loops of the SIMD kernels.
//
// Every lane is computed alone and by the same operations: a result depends on its argument and the
// target only. Nothing here is contracted (-ffp-contract=off); MulAdd is one rounding where the
// target has FMA and two elsewhere. NaN gives NaN. Declared errors: simd_math_accuracy.hpp. The
// largest errors below are of all floats, found by `attest bench --exhaustive FUNCTION`; those of
// double are of the sample in src/cli/exhaustive_test.cpp. u = 2^-24 or 2^-53.

// One body for each target of Highway.
#if defined(ATTEST_KERNELS_SIMD_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_KERNELS_SIMD_MATH_INL_H_
#undef ATTEST_KERNELS_SIMD_MATH_INL_H_
#else
#define ATTEST_KERNELS_SIMD_MATH_INL_H_
#endif

#include <cstddef>
#include <limits>

#include "hwy/highway.h"
#include "kernels/simd_math_constants.hpp"

HWY_BEFORE_NAMESPACE();
namespace attest::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// max(x, bound), NaN for NaN.
template <class V>
HWY_INLINE V AtLeast(V bound, V x) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR
  return hn::Max(bound, x);  // maxps returns its second operand where one is NaN
#else
  return hn::IfThenElse(hn::Lt(x, bound), bound, x);
#endif
}

/// min(x, bound), NaN for NaN.
template <class V>
HWY_INLINE V AtMost(V bound, V x) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR
  return hn::Min(bound, x);
#else
  return hn::IfThenElse(hn::Gt(x, bound), bound, x);
#endif
}

/// c[First] + c[First + 1] x + ... by Horner's rule.
template <std::size_t First = 0, class D, class Coefficients, class V>
HWY_INLINE V Polynomial(D d, const Coefficients& c, V x) {
  const V coefficient = hn::Set(d, c[First]);
  if constexpr (First + 1 == std::tuple_size_v<Coefficients>)
    return coefficient;
  else
    return hn::MulAdd(Polynomial<First + 1>(d, c, x), x, coefficient);
}

/// x = n ln(2) + r with whole n.
template <class V>
struct Reduced {
  V n, r;
};

/// |r| <= 0.3468. n times ln2_high is exact, and so is the first difference.
template <class D, class V>
HWY_INLINE Reduced<V> ReduceByLn2(D d, V x) {
  using Constants = ExponentConstants<hn::TFromD<D>>;
  const V round = hn::Set(d, Constants::round_to_whole);
  const V n = hn::Sub(hn::MulAdd(x, hn::Set(d, Constants::log2_e), round), round);
  const V head = hn::NegMulAdd(n, hn::Set(d, Constants::ln2_high), x);
  return {n, hn::NegMulAdd(n, hn::Set(d, Constants::ln2_low), head)};
}

/// 2^n of whole n whose powers are normal numbers.
template <class D, class V>
HWY_INLINE V PowerOfTwo(D d, V n) {
  using Constants = ExponentConstants<hn::TFromD<D>>;
  const hn::RebindToUnsigned<D> du;
  const V anchored = hn::Add(n, hn::Set(d, Constants::round_to_whole + Constants::bias));
  return hn::BitCast(d, hn::ShiftLeft<Constants::mantissa_bits>(hn::BitCast(du, anchored)));
}

#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
// p 2^n, rounded once; 0 where x < lowest, whatever p and n are there. The masked lanes cost
// nothing: an unmasked result below the normal numbers takes the processor some 60 ns.
HWY_INLINE hn::Vec512<float> ScaleOrZero(hn::Vec512<float> p, hn::Vec512<float> n,
                                         hn::Vec512<float> x, hn::Vec512<float> lowest) {
  const __mmask16 keep = _mm512_cmp_ps_mask(x.raw, lowest.raw, _CMP_NLT_UQ);
  return hn::Vec512<float>{_mm512_maskz_scalef_ps(keep, p.raw, n.raw)};
}
HWY_INLINE hn::Vec512<double> ScaleOrZero(hn::Vec512<double> p, hn::Vec512<double> n,
                                          hn::Vec512<double> x, hn::Vec512<double> lowest) {
  const __mmask8 keep = _mm512_cmp_pd_mask(x.raw, lowest.raw, _CMP_NLT_UQ);
  return hn::Vec512<double>{_mm512_maskz_scalef_pd(keep, p.raw, n.raw)};
}
HWY_INLINE hn::Vec256<float> ScaleOrZero(hn::Vec256<float> p, hn::Vec256<float> n,
                                         hn::Vec256<float> x, hn::Vec256<float> lowest) {
  const __mmask8 keep = _mm256_cmp_ps_mask(x.raw, lowest.raw, _CMP_NLT_UQ);
  return hn::Vec256<float>{_mm256_maskz_scalef_ps(keep, p.raw, n.raw)};
}
HWY_INLINE hn::Vec256<double> ScaleOrZero(hn::Vec256<double> p, hn::Vec256<double> n,
                                          hn::Vec256<double> x, hn::Vec256<double> lowest) {
  const __mmask8 keep = _mm256_cmp_pd_mask(x.raw, lowest.raw, _CMP_NLT_UQ);
  return hn::Vec256<double>{_mm256_maskz_scalef_pd(keep, p.raw, n.raw)};
}
template <std::size_t N>
HWY_INLINE hn::Vec128<float, N> ScaleOrZero(hn::Vec128<float, N> p, hn::Vec128<float, N> n,
                                            hn::Vec128<float, N> x, hn::Vec128<float, N> lowest) {
  const __mmask8 keep = _mm_cmp_ps_mask(x.raw, lowest.raw, _CMP_NLT_UQ);
  return hn::Vec128<float, N>{_mm_maskz_scalef_ps(keep, p.raw, n.raw)};
}
template <std::size_t N>
HWY_INLINE hn::Vec128<double, N> ScaleOrZero(hn::Vec128<double, N> p, hn::Vec128<double, N> n,
                                             hn::Vec128<double, N> x,
                                             hn::Vec128<double, N> lowest) {
  const __mmask8 keep = _mm_cmp_pd_mask(x.raw, lowest.raw, _CMP_NLT_UQ);
  return hn::Vec128<double, N>{_mm_maskz_scalef_pd(keep, p.raw, n.raw)};
}
#else
/// p 2^n, rounded once: the first product is exact, because half of n keeps it normal.
template <class D, class V>
HWY_INLINE V Scale(D d, V p, V n) {
  using Constants = ExponentConstants<hn::TFromD<D>>;
  const V round = hn::Set(d, Constants::round_to_whole);
  const V half = hn::Sub(hn::MulAdd(n, hn::Set(d, hn::TFromD<D>(0.5)), round), round);
  return hn::Mul(hn::Mul(p, PowerOfTwo(d, half)), PowerOfTwo(d, hn::Sub(n, half)));
}
#endif

/// e^x of x <= 0, -inf or NaN. Exactly 1 for 0, +0 for -inf and below -104 or -746; the subnormal
/// results are rounded once, and are slow on x86 (some 60 ns a vector).
///
/// float: degree 6, with FMA 0.8913 ulp (at -0x1.765026p+2) and 1.28 u, without 1.1671 ulp (at
/// -0x1.337ad4p+5) and 1.65 u. Degree 5 has 2.17 ulp and 2.85 u and is not measurably faster.
/// double: degree 11, with FMA 1.21 u, without 1.41 u.
template <class D, class V>
HWY_INLINE V ExpNonPositive(D d, V x) {
  using T = hn::TFromD<D>;
  using Constants = ExpConstants<T>;
#if HWY_TARGET > HWY_AVX3 || !HWY_ARCH_X86
  // Far below the last subnormal number, where a product that underflows is fast.
  x = AtLeast(hn::Set(d, Constants::all_below), x);
#endif
  const Reduced<V> reduced = ReduceByLn2(d, x);
  const V one = hn::Set(d, T(1));
  const V c = Polynomial(d, Constants::c, reduced.r);
  const V p = hn::MulAdd(hn::MulAdd(c, reduced.r, one), reduced.r, one);
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  return ScaleOrZero(p, reduced.n, x, hn::Set(d, Constants::zero_below));
#else
  return Scale(d, p, reduced.n);
#endif
}

/// e^x of every x: like ExpNonPositive, and +inf where e^x is beyond the largest number.
template <class D, class V>
HWY_INLINE V Exp(D d, V x) {
  return ExpNonPositive(d, AtMost(hn::Set(d, ExpConstants<hn::TFromD<D>>::infinite_above), x));
}

/// tanh(x) = -e / (2 + e) with e = exp(-2 |x|) - 1, and the sign of x. At most 1 in size; x itself
/// where r^2 is too small to count; +-0 for +-0.
///
/// float: 2.4984 ulp (at 0x1.205368p+2), with FMA 2.99 u (at 0x1.7713f6p-3), without 2.97 u.
/// double: 2.63 u.
template <class D, class V>
HWY_INLINE V Tanh(D d, V x) {
  using T = hn::TFromD<D>;
  const V size = AtMost(hn::Set(d, TanhConstants<T>::one_above), hn::Abs(x));
  const Reduced<V> reduced = ReduceByLn2(d, hn::Mul(size, hn::Set(d, T(-2))));
  const V c = Polynomial(d, ExpConstants<T>::c, reduced.r);
  const V p = hn::MulAdd(hn::Mul(reduced.r, reduced.r), c, reduced.r);  // e^r - 1
  const V power = PowerOfTwo(d, reduced.n);
  const V e = hn::MulAdd(p, power, hn::Sub(power, hn::Set(d, T(1))));
  return hn::CopySign(hn::Div(e, hn::Add(hn::Set(d, T(2)), e)), x);
}

/// The natural logarithm: +0 for 1, -inf for +-0, +inf for +inf, NaN for x < 0.
///
/// x = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)). With s = f / (2 + f) and h = f^2 / 2,
/// log(1 + f) = f - h + s (h + R(s^2)), R of LogConstants: f is exact and all else is smaller.
///
/// float: 0.8399 ulp (at 0x1.69cf3ep+0), 1.37 u. double: 1.30 u.
template <class D, class V>
HWY_INLINE V Log(D d, V x) {
  using T = hn::TFromD<D>;
  using Exponent = ExponentConstants<T>;
  using Constants = LogConstants<T>;
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  const hn::RebindToSigned<D> di;
  const auto small = hn::Lt(x, hn::Set(d, std::numeric_limits<T>::min()));
  const V normal = hn::IfThenElse(small, hn::Mul(x, hn::Set(d, Constants::to_normal)), x);
  const auto bits = hn::BitCast(di, normal);
  const auto root = hn::BitCast(di, hn::Set(d, T(0x1.6a09e667f3bcdp-1)));
  const auto exponent = hn::ShiftRight<Exponent::mantissa_bits>(hn::Sub(bits, root));
  const auto near_one = hn::Sub(bits, hn::ShiftLeft<Exponent::mantissa_bits>(exponent));
  const V shift = hn::IfThenElseZero(small, hn::Set(d, Constants::exponent_of_that));
  const V k = hn::Sub(hn::ConvertTo(d, exponent), shift);

  const V f = hn::Sub(hn::BitCast(d, near_one), hn::Set(d, T(1)));
  const V s = hn::Div(f, hn::Add(hn::Set(d, T(2)), f));
  const V z = hn::Mul(s, s);
  const V h = hn::Mul(hn::Mul(f, f), hn::Set(d, T(0.5)));
  const V r = hn::Mul(z, Polynomial(d, Constants::c, z));
  const V tail = hn::MulAdd(s, hn::Add(h, r), hn::Mul(k, hn::Set(d, Exponent::ln2_low)));
  const V rest = hn::Sub(hn::Sub(h, tail), f);
  const V value = hn::MulSub(k, hn::Set(d, Exponent::ln2_high), rest);

  const V of_zero = hn::Set(d, -kInfinity);
  const V of_nan = hn::Set(d, std::numeric_limits<T>::quiet_NaN());
  const V other = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), of_zero, of_nan);
  const V finite = hn::IfThenElse(hn::Gt(x, hn::Zero(d)), value, other);
  return hn::IfThenElse(hn::Eq(x, hn::Set(d, kInfinity)), x, finite);
}

}  // namespace attest::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle of the include guard
