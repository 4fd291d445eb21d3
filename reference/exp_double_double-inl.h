// exp of a double-word on vectors; the error budget is in docs/numerics.md ("Fast oracle").
//
//   x = k ln(2)/4096 + r, k whole, |r| <= 2^-13.52;   exp(x) = 2^q c_i f_j (1 + (exp(r) - 1))
//   with k = 4096 q + 64 i + j, c_i = 2^(i/64), f_j = 2^(j/4096) from exp_table.hpp.

#if defined(ATTEST_REFERENCE_EXP_DOUBLE_DOUBLE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_REFERENCE_EXP_DOUBLE_DOUBLE_INL_H_
#undef ATTEST_REFERENCE_EXP_DOUBLE_DOUBLE_INL_H_
#else
#define ATTEST_REFERENCE_EXP_DOUBLE_DOUBLE_INL_H_
#endif

#include <cstdint>

#include "reference/double_double-inl.h"
#include "reference/exp_table.hpp"

HWY_BEFORE_NAMESPACE();
namespace attest::reference::HWY_NAMESPACE {

/// exp(r) - 1 for a double-word |r| <= 2^-13.52, off by at most 2^-109; not normalised.
///
///   exp(r) - 1 = r + r^2 (1/2 + r A),   A = 1/6 + r (1/24 + r (1/120 + r (1/720 + r/5040)))
///
/// Only r/24 + ... is left to doubles: it is below 2^-18 and counts times r^3 < 2^-40.5.
template <class V>
HWY_INLINE Pair<V> expm1_near_zero(Pair<V> r) {
  const hn::DFromV<V> d;
  V tail = hn::MulAdd(r.high, hn::Set(d, 1.0 / 5040), hn::Set(d, 1.0 / 720));
  tail = hn::MulAdd(r.high, tail, hn::Set(d, 1.0 / 120));
  tail = hn::MulAdd(r.high, tail, hn::Set(d, 1.0 / 24));
  Pair<V> a = fast_two_sum(hn::Set(d, kSixthHigh), hn::Mul(r.high, tail));
  a.low = hn::Add(a.low, hn::Set(d, kSixthLow));
  Pair<V> b = two_product(r.high, a.high);
  b.low = hn::Add(b.low, hn::MulAdd(r.high, a.low, hn::Mul(r.low, a.high)));
  Pair<V> c = fast_two_sum(hn::Set(d, 0.5), b.high);
  c.low = hn::Add(c.low, b.low);
  Pair<V> square = two_product(r.high, r.high);
  square.low = hn::MulAdd(hn::Add(r.high, r.high), r.low, square.low);
  Pair<V> rest = two_product(square.high, c.high);
  rest.low = hn::Add(rest.low, hn::MulAdd(square.high, c.low, hn::Mul(square.low, c.high)));
  const Pair<V> sum = fast_two_sum(r.high, rest.high);
  return {sum.high, hn::Add(sum.low, hn::Add(r.low, rest.low))};
}

/// exp(x) for a double-word x, |x| <= kExpDomain; relative error exp_relative_error(x).
template <class V>
HWY_INLINE Pair<V> exp(Pair<V> x) {
  const hn::DFromV<V> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const hn::RebindToSigned<decltype(d)> di;
  // Adding 3 * 2^51 rounds to an integer, whose bits are then the low bits of the sum. Whichever
  // integer near x / step comes out, what follows is exact.
  const V anchor = hn::Set(d, 0x1.8p52);
  const V anchored = hn::Add(hn::Mul(x.high, hn::Set(d, kExpStepInverse)), anchor);
  const V k = hn::Sub(anchored, anchor);
  const auto whole = hn::Sub(hn::BitCast(du, anchored), hn::BitCast(du, anchor));
  const auto mask = hn::Set(du, kExpTableSize - 1);
  const auto fine = hn::BitCast(di, hn::And(whole, mask));
  const auto coarse = hn::BitCast(di, hn::And(hn::ShiftRight<6>(whole), mask));
  // 2^q: its exponent field is q + 1023 > 0.
  const auto biased = hn::ShiftRight<12>(hn::Add(whole, hn::Set(du, std::uint64_t{1023} << 12U)));
  const V power = hn::BitCast(d, hn::ShiftLeft<52>(biased));

  // |k| < 2^23 and the head has 30 bits: their product is exact.
  const Pair<V> head = two_sum(x.high, hn::Neg(hn::Mul(k, hn::Set(d, kExpStepHead))));
  const Pair<V> middle = two_product(k, hn::Set(d, -kExpStepMiddle));
  const V tail = hn::Sub(middle.low, hn::Mul(k, hn::Set(d, kExpStepTail)));
  const Pair<V> near = two_sum(head.high, middle.high);
  const V rest = hn::Add(hn::Add(head.low, near.low), hn::Add(x.low, tail));
  const Pair<V> e = expm1_near_zero(two_sum(near.high, rest));

  const Pair<V> table = multiply(Pair<V>{hn::GatherIndex(d, kExpCoarseHigh.data(), coarse),
                                         hn::GatherIndex(d, kExpCoarseLow.data(), coarse)},
                                 Pair<V>{hn::GatherIndex(d, kExpFineHigh.data(), fine),
                                         hn::GatherIndex(d, kExpFineLow.data(), fine)});
  Pair<V> product = two_product(table.high, e.high);
  product.low = hn::Add(product.low, hn::MulAdd(table.high, e.low, hn::Mul(table.low, e.high)));
  const Pair<V> sum = fast_two_sum(table.high, product.high);
  const Pair<V> value = fast_two_sum(sum.high, hn::Add(sum.low, hn::Add(table.low, product.low)));
  return {hn::Mul(value.high, power), hn::Mul(value.low, power)};
}

}  // namespace attest::reference::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle of the include guard
