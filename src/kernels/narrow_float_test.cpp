// Every code of every narrow format, every midpoint between neighbours, and values beside it.
#include "attest/narrow_float.hpp"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cstdint>
#include <limits>
#include <vector>

namespace attest {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

template <class Narrow>
class NarrowFormat : public testing::Test {};
using NarrowTypes = testing::Types<Bf16, F16, E4m3, E5m2>;
TYPED_TEST_SUITE(NarrowFormat, NarrowTypes);

/// All codes of the positive finite numbers and +0, in ascending order of code.
template <class Narrow>
std::vector<Narrow> finite_codes() {
  std::vector<Narrow> codes;
  for (unsigned bits = 0; bits <= Narrow::kMagnitudeMask; ++bits) {
    const Narrow code{static_cast<typename Narrow::Bits>(bits)};
    if (!std::isfinite(static_cast<double>(code))) break;
    codes.push_back(code);
  }
  return codes;
}

template <class Narrow>
Narrow negated(Narrow code) {
  code.bits = static_cast<typename Narrow::Bits>(code.bits | (Narrow::kMagnitudeMask + 1));
  return code;
}

/// Both signs; the code as well as the value in f64 and, where f32 holds `value`, in f32.
template <class Narrow>
void expect_rounds(double value, Narrow want, bool saturate) {
  const Overflow overflow = saturate                       ? Overflow::saturate
                            : std::is_same_v<Narrow, E4m3> ? Overflow::nan
                                                           : Overflow::infinity;
  EXPECT_EQ(Narrow::nearest(value, saturate).bits, want.bits) << value;
  EXPECT_EQ(Narrow::nearest(-value, saturate).bits, negated(want).bits) << -value;
  const auto exact = static_cast<double>(want);
  if (!std::isfinite(exact)) return;
  EXPECT_EQ(round_to(Narrow::kFormat, value, overflow), exact) << value;
  EXPECT_EQ(round_to(Narrow::kFormat, -value, overflow), -exact) << -value;
  const auto single = static_cast<float>(value);
  if (static_cast<double>(single) != value) return;
  EXPECT_EQ(round_to(Narrow::kFormat, single, overflow), static_cast<float>(exact)) << value;
  EXPECT_EQ(Narrow::nearest(single, saturate).bits, want.bits) << value;
}

TYPED_TEST(NarrowFormat, EveryFiniteCodeIsItsOwnNearest) {
  const auto codes = finite_codes<TypeParam>();
  EXPECT_EQ(static_cast<double>(codes.back()), TypeParam::kFormat.max_finite);
  for (const TypeParam code : codes)
    for (const bool saturate : {false, true})
      expect_rounds(static_cast<double>(code), code, saturate);
}

TYPED_TEST(NarrowFormat, MidpointsGoToTheEvenNeighbourAndValuesBesideThemToTheNearer) {
  const auto codes = finite_codes<TypeParam>();
  for (std::size_t i = 0; i + 1 < codes.size(); ++i) {
    const auto low = static_cast<double>(codes[i]);
    const auto high = static_cast<double>(codes[i + 1]);
    ASSERT_LT(low, high);
    const double middle = (low + high) / 2;  // exact: one bit more than the format
    expect_rounds(middle, codes[i].bits % 2 == 0 ? codes[i] : codes[i + 1], false);
    expect_rounds(std::nextafter(middle, 0), codes[i], false);
    expect_rounds(std::nextafter(middle, kInfinity), codes[i + 1], false);
    const auto single = static_cast<float>(middle);
    expect_rounds(static_cast<double>(std::nextafter(single, 0.0F)), codes[i], true);
    expect_rounds(
        static_cast<double>(std::nextafter(single, std::numeric_limits<float>::infinity())),
        codes[i + 1], true);
  }
}

TYPED_TEST(NarrowFormat, BeyondTheLargestNumberItSaturatesOrOverflows) {
  const auto codes = finite_codes<TypeParam>();
  const TypeParam largest = codes.back();
  const double max = TypeParam::kFormat.max_finite;
  const double step = max - static_cast<double>(codes[codes.size() - 2]);
  const double tie = max + step / 2;
  const TypeParam beyond{static_cast<typename TypeParam::Bits>(largest.bits + 1)};
  EXPECT_FALSE(std::isfinite(static_cast<double>(beyond)));
  EXPECT_EQ(std::isnan(static_cast<double>(beyond)), (std::is_same_v<TypeParam, E4m3>));
  // The neighbour above, were the exponent unbounded, has the next code: a tie is decided by it.
  expect_rounds(tie, largest.bits % 2 == 0 ? largest : beyond, false);
  expect_rounds(std::nextafter(tie, 0), largest, false);
  for (const double value : {std::nextafter(tie, kInfinity), 1.9 * max, 2.1 * max, 1e300}) {
    expect_rounds(value, beyond, false);
    expect_rounds(value, largest, true);
  }
  expect_rounds(kInfinity, beyond, false);
  expect_rounds(kInfinity, largest, true);
}

TYPED_TEST(NarrowFormat, NanStaysNanAndZeroKeepsItsSign) {
  for (const bool saturate : {false, true}) {
    EXPECT_TRUE(std::isnan(static_cast<double>(TypeParam::nearest(kNan, saturate))));
    EXPECT_EQ(TypeParam::nearest(0.0, saturate).bits, 0);
    EXPECT_EQ(TypeParam::nearest(-0.0, saturate).bits, TypeParam::kMagnitudeMask + 1);
    const double tiny = std::numeric_limits<double>::denorm_min();
    EXPECT_EQ(TypeParam::nearest(-tiny, saturate).bits, TypeParam::kMagnitudeMask + 1);
  }
  for (const Overflow overflow : {Overflow::saturate, Overflow::infinity, Overflow::nan})
    EXPECT_TRUE(std::isnan(round_to(TypeParam::kFormat, kNan, overflow)));
  EXPECT_TRUE(std::signbit(round_to(TypeParam::kFormat, -1e-300)));
}

/// Another way to the value of a code: digit by digit.
double by_digits(unsigned code, int exponent_bits, int mantissa_bits) {
  int exponent = 0;
  for (int bit = 0; bit < exponent_bits; ++bit)
    if ((code >> (mantissa_bits + bit)) & 1U) exponent += 1 << bit;
  double value = exponent == 0 ? 0 : 1;
  for (int bit = 0; bit < mantissa_bits; ++bit)
    if ((code >> bit) & 1U) value += std::pow(2.0, bit - mantissa_bits);
  value *= std::pow(2.0, std::max(exponent, 1) - ((1 << (exponent_bits - 1)) - 1));
  return (code >> (exponent_bits + mantissa_bits)) & 1U ? -value : value;
}

TEST(E4m3Codes, AreTheirDigitsAndOneNanOfEachSign) {
  for (unsigned code = 0; code < 256; ++code) {
    const auto value = static_cast<double>(E4m3{static_cast<std::uint8_t>(code)});
    if (code == 0x7F || code == 0xFF)
      EXPECT_TRUE(std::isnan(value)) << code;
    else
      EXPECT_EQ(value, by_digits(code, 4, 3)) << code;
  }
}

TEST(E5m2Codes, AreTheirDigitsTwoInfinitiesAndNans) {
  for (unsigned code = 0; code < 256; ++code) {
    const auto value = static_cast<double>(E5m2{static_cast<std::uint8_t>(code)});
    if ((code & 0x7FU) < 0x7C)
      EXPECT_EQ(value, by_digits(code, 5, 2)) << code;
    else if ((code & 0x7FU) == 0x7C)
      EXPECT_EQ(value, code == 0x7C ? kInfinity : -kInfinity);
    else
      EXPECT_TRUE(std::isnan(value)) << code;
  }
}

/// Eigen's types as an independent witness: all codes, and every f32 pattern in a coarse sweep
/// whose low bits hit ties, neighbours of ties and everything between.
template <class Narrow, class EigenType>
void expect_as_eigen() {
  for (unsigned code = 0; code <= 0xFFFF; ++code) {
    const auto bits = static_cast<std::uint16_t>(code);
    const auto theirs = static_cast<float>(Eigen::numext::bit_cast<EigenType>(bits));
    const auto ours = static_cast<float>(Narrow{bits});
    ASSERT_TRUE(ours == theirs || (std::isnan(ours) && std::isnan(theirs))) << code;
    for (const std::uint32_t low : {0U, 1U, 0x7FFFU, 0x8000U, 0x8001U, 0xFFFFU, 0x0FFFU, 0x1000U,
                                    0x1001U, 0x2FFFU, 0x3000U, 0x3001U, 0x9000U, 0xB000U}) {
      const auto value = std::bit_cast<float>((code << 16U) | low);
      if (std::isnan(value)) continue;
      const auto rounded = EigenType(value);
      EXPECT_EQ(Narrow::nearest(value, false).bits,
                (Eigen::numext::bit_cast<std::uint16_t>(rounded)))
          << value;
    }
  }
}

TEST(Bf16Codes, AgreeWithEigen) {
  expect_as_eigen<Bf16, Eigen::bfloat16>();
}

TEST(F16Codes, AgreeWithEigen) {
  expect_as_eigen<F16, Eigen::half>();
}

}  // namespace
}  // namespace attest
