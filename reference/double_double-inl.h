// Double-double arithmetic on vectors: a lane is a number, held as an unevaluated sum of two
// doubles.
//
// u = 2^-53, round to nearest even, RN() rounds one operation. Nothing here is contracted
// (-ffp-contract=off); where a target has FMA, it is asked for by name.
//   Knuth: The Art of Computer Programming 2, 1969; Dekker: Numer. Math. 18, 1971.
//   ORO:   Ogita, Rump, Oishi, Accurate sum and dot product, SIAM J. Sci. Comput. 26(6), 2005.
//   JMP:   Joldes, Muller, Popescu, Tight and rigorous error bounds for basic building blocks of
//          double-word arithmetic, ACM TOMS 44(2), 2017.
// The bounds of JMP hold without overflow and underflow. Overflow shows as a result that is not
// finite, and callers refuse it. Underflow: sums are exact in the subnormal range (Hauser, ACM
// TOPLAS 18(2), 1996), a product or quotient is off by at most eta / 2 more, eta = 2^-1074.

// One body for each target of Highway.
#if defined(ATTEST_REFERENCE_DOUBLE_DOUBLE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_REFERENCE_DOUBLE_DOUBLE_INL_H_
#undef ATTEST_REFERENCE_DOUBLE_DOUBLE_INL_H_
#else
#define ATTEST_REFERENCE_DOUBLE_DOUBLE_INL_H_
#endif

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace attest::reference::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// high + low. A "double-word" when |low| <= u |high|, that is high = RN(high + low).
template <class V>
struct Pair {
  V high, low;
};

/// high = RN(a + b), high + low = a + b exactly. Knuth 1969, 4.2.2 Theorem B; any a, b.
template <class V>
HWY_INLINE Pair<V> two_sum(V a, V b) {
  const V sum = hn::Add(a, b);
  const V b_part = hn::Sub(sum, a);
  const V a_part = hn::Sub(sum, b_part);
  return {sum, hn::Add(hn::Sub(a, a_part), hn::Sub(b, b_part))};
}

/// The same when a = 0 or |a| >= |b|. Dekker 1971, (4.7).
template <class V>
HWY_INLINE Pair<V> fast_two_sum(V a, V b) {
  const V sum = hn::Add(a, b);
  return {sum, hn::Sub(b, hn::Sub(sum, a))};
}

#if !HWY_NATIVE_FMA
/// a = high + low with at most 26 bits each (one of them in the sign). Dekker 1971, (5.6);
/// an |a| above 2^996 overflows to NaN.
template <class V>
HWY_INLINE Pair<V> split(V a) {
  const V big = hn::Mul(a, hn::Set(hn::DFromV<V>(), 0x1p27 + 1));
  const V high = hn::Sub(big, hn::Sub(big, a));
  return {high, hn::Sub(a, high)};
}
#endif

/// high = RN(a b), high + low = a b exactly, unless a product underflows: then up to 5 eta.
/// With FMA: the error of a product is a double (Dekker 1971); without: ORO Algorithm 3.3, (3.2).
template <class V>
HWY_INLINE Pair<V> two_product(V a, V b) {
  const V product = hn::Mul(a, b);
#if HWY_NATIVE_FMA
  return {product, hn::MulSub(a, b, product)};
#else
  const Pair<V> x = split(a);
  const Pair<V> y = split(b);
  const V high = hn::Sub(product, hn::Mul(x.high, y.high));
  const V cross = hn::Sub(hn::Sub(high, hn::Mul(x.low, y.high)), hn::Mul(x.high, y.low));
  return {product, hn::Sub(hn::Mul(x.low, y.low), cross)};
#endif
}

/// Double-word + double: relative error 2 u^2. JMP Algorithm 4, Theorem 2.1.
template <class V>
HWY_INLINE Pair<V> add(Pair<V> x, V y) {
  const Pair<V> s = two_sum(x.high, y);
  return fast_two_sum(s.high, hn::Add(x.low, s.low));
}

/// Double-word + double-word: relative error 3 u^2 + 13 u^3. JMP Algorithm 6, Theorem 3.1.
template <class V>
HWY_INLINE Pair<V> add(Pair<V> x, Pair<V> y) {
  const Pair<V> s = two_sum(x.high, y.high);
  const Pair<V> t = two_sum(x.low, y.low);
  const Pair<V> v = fast_two_sum(s.high, hn::Add(s.low, t.high));
  return fast_two_sum(v.high, hn::Add(t.low, v.low));
}

/// Double-word x double: relative error 1.5 u^2 + 4 u^3. JMP Algorithm 7, Theorem 4.1.
template <class V>
HWY_INLINE Pair<V> multiply(Pair<V> x, V y) {
  const Pair<V> c = two_product(x.high, y);
  const Pair<V> t = fast_two_sum(c.high, hn::Mul(x.low, y));
  return fast_two_sum(t.high, hn::Add(t.low, c.low));
}

/// Double-word x double-word: relative error 7 u^2. JMP Algorithm 10, Theorem 5.1.
template <class V>
HWY_INLINE Pair<V> multiply(Pair<V> x, Pair<V> y) {
  const Pair<V> c = two_product(x.high, y.high);
  const V cross = hn::Add(hn::Mul(x.high, y.low), hn::Mul(x.low, y.high));
  return fast_two_sum(c.high, hn::Add(c.low, cross));
}

/// Double-word / double-word: relative error 15 u^2 + 56 u^3. JMP Algorithm 17, Theorem 7.1.
template <class V>
HWY_INLINE Pair<V> divide(Pair<V> x, Pair<V> y) {
  const V quotient = hn::Div(x.high, y.high);
  const Pair<V> r = multiply(y, quotient);
  const V rest = hn::Add(hn::Sub(x.high, r.high), hn::Sub(x.low, r.low));
  return fast_two_sum(quotient, hn::Div(rest, y.high));
}

}  // namespace attest::reference::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle of the include guard
