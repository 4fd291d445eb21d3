// Floating-point formats of 8 and 16 bits: rounding to them, and their codes.
//
// Rounding is to nearest, ties to even, with gradual underflow, straight from f64 or f32: never by
// way of a third format. What lies beyond the largest finite number after rounding with an
// unbounded exponent has overflowed; `Overflow` says what becomes of it.
// Sources: IEEE 754-2019, sections 4.3.1 and 7.4 (binary16, and bfloat16 in its manner); Open
// Compute Project, 8-bit Floating Point Specification, revision 1.0 (2023): e4m3 and e5m2.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "attest/dtype.hpp"

namespace attest {

/// What becomes of a finite value beyond the largest finite number of a format.
enum class Overflow {
  saturate,  ///< the largest finite number of its sign, from an infinity as well ("satfinite")
  infinity,  ///< an infinity of its sign (IEEE 754)
  nan,       ///< NaN, from an infinity as well: e4m3, which has no infinities, unless it saturates
};

/// The number of `format` nearest to `value`, in the type of `value`. NaN stays NaN, a zero and
/// what rounds to zero keep their sign.
/// Precondition: the format has at most 24 significant bits and the exponents of f32 or fewer.
template <std::floating_point Real>
Real round_to(const Format& format, Real value, Overflow overflow = Overflow::infinity) {
  constexpr std::uint64_t kExponentBits = 0x7FF0'0000'0000'0000;
  const double magnitude = std::abs(static_cast<double>(value));
  double rounded = magnitude;
  if (magnitude < 2 * format.max_finite) {
    // The largest power of two not above the value; 0 for what is subnormal in f64.
    const double power =
        std::bit_cast<double>(std::bit_cast<std::uint64_t>(magnitude) & kExponentBits);
    const double spacing =
        std::max(power * 2 * format.unit_roundoff, 2 * format.rounding_underflow);
    // Around 1.5 * 2^52 spacings f64 has steps of one spacing: the addition rounds as wanted.
    const double shift = 0x1.8p52 * spacing;
    rounded = (magnitude + shift) - shift;
  }
  if (rounded > format.max_finite) {
    switch (overflow) {
      case Overflow::saturate:
        rounded = format.max_finite;
        break;
      case Overflow::infinity:
        rounded = std::numeric_limits<double>::infinity();
        break;
      case Overflow::nan:
        rounded = std::numeric_limits<double>::quiet_NaN();
        break;
    }
  }
  return std::copysign(static_cast<Real>(rounded), value);
}

/// One number as its code: sign, exponent, mantissa, from the highest bit down.
/// Without infinities the code with all bits of exponent and mantissa set is the only NaN of a
/// sign.
template <int ExponentBits, int MantissaBits, bool HasInfinity>
struct NarrowFloat {
  static_assert(ExponentBits >= 2 && ExponentBits <= 8 && MantissaBits >= 1);
  using Bits =
      std::conditional_t<(1 + ExponentBits + MantissaBits > 8), std::uint16_t, std::uint8_t>;

  Bits bits = 0;

  static constexpr int kBias = (1 << (ExponentBits - 1)) - 1;
  static constexpr unsigned kMantissaMask = (1U << MantissaBits) - 1;
  static constexpr unsigned kMagnitudeMask = (1U << (ExponentBits + MantissaBits)) - 1;
  static constexpr unsigned kInfinity = kMagnitudeMask - kMantissaMask;  ///< if there is one

  static constexpr double power_of_two(int exponent) {
    double power = 1;
    for (; exponent > 0; --exponent) power *= 2;
    for (; exponent < 0; ++exponent) power /= 2;
    return power;
  }
  static constexpr Format kFormat{
      power_of_two(-MantissaBits - 1), power_of_two(1 - kBias), power_of_two(-kBias - MantissaBits),
      HasInfinity ? (2 - power_of_two(-MantissaBits)) * power_of_two(kBias)
                  : (2 - power_of_two(1 - MantissaBits)) * power_of_two(kBias + 1)};

  /// Rounds; what overflows saturates, or becomes an infinity, or NaN where there is none.
  template <std::floating_point Real>
  static NarrowFloat nearest(Real value, bool saturate) {
    const Overflow unbounded = HasInfinity ? Overflow::infinity : Overflow::nan;
    return of_exact(
        static_cast<double>(round_to(kFormat, value, saturate ? Overflow::saturate : unbounded)));
  }

  /// Exact.
  explicit operator double() const {
    const unsigned magnitude = bits & kMagnitudeMask;
    const unsigned exponent = magnitude >> MantissaBits;
    const unsigned mantissa = magnitude & kMantissaMask;
    double value = 0;
    if (HasInfinity ? magnitude > kInfinity : magnitude == kMagnitudeMask)
      value = std::numeric_limits<double>::quiet_NaN();
    else if (HasInfinity && magnitude == kInfinity)
      value = std::numeric_limits<double>::infinity();
    else if (exponent == 0)
      value = std::ldexp(mantissa, 1 - kBias - MantissaBits);
    else
      value = std::ldexp(kMantissaMask + 1 + mantissa,
                         static_cast<int>(exponent) - kBias - MantissaBits);
    return is_negative() ? -value : value;
  }
  explicit operator float() const { return static_cast<float>(static_cast<double>(*this)); }

  bool is_negative() const { return (bits & (kMagnitudeMask + 1)) != 0; }

  friend bool operator==(const NarrowFloat&, const NarrowFloat&) = default;  ///< of the codes

 private:
  /// The code of a number of the format, an infinity or NaN.
  static NarrowFloat of_exact(double value) {
    const double size = std::abs(value);
    unsigned code = kMagnitudeMask;  // NaN, whether or not there are infinities
    if (size <= kFormat.max_finite) {
      const int exponent = std::max(size == 0 ? 1 - kBias : std::ilogb(size), 1 - kBias);
      // Counts spacings from 2^exponent; a subnormal number counts from 0, one binade lower.
      const auto steps = static_cast<int>(std::ldexp(size, MantissaBits - exponent));
      code = static_cast<unsigned>(((exponent + kBias - 1) << MantissaBits) + steps);
    } else if (HasInfinity && !std::isnan(size)) {
      code = kInfinity;
    }
    if (std::signbit(value)) code |= kMagnitudeMask + 1;
    return {static_cast<Bits>(code)};
  }
};

using Bf16 = NarrowFloat<8, 7, true>;
using F16 = NarrowFloat<5, 10, true>;
using E4m3 = NarrowFloat<4, 3, false>;
using E5m2 = NarrowFloat<5, 2, true>;

static_assert(Bf16::kFormat == kBf16 && F16::kFormat == kF16);
static_assert(E4m3::kFormat == kE4m3 && E5m2::kFormat == kE5m2);

}  // namespace attest
