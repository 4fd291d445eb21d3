// Constants of simd_math-inl.h. The polynomials are the best ones with coefficients of the lane
// type, by fpminimax of Sollya 8 (simd_math_fit.sollya). u = 2^-24 for float, 2^-53 for double.
#pragma once

#include <array>

namespace attest::kernels {

/// log2(e); ln(2) = high + low, where the product of high and a whole number of the size of an
/// exponent is exact; a number that turns the bits of its sum with n into those of n.
template <class Real>
struct ExponentConstants;

template <>
struct ExponentConstants<float> {
  static constexpr float log2_e = 0x1.715476p+0F;
  static constexpr float ln2_high = 0x1.62e4p-1F;  // 15 bits
  static constexpr float ln2_low = 0x1.7f7d1cp-20F;
  static constexpr float round_to_whole = 0x1.8p23F;
  static constexpr float bias = 127;
  static constexpr int mantissa_bits = 23;
};

template <>
struct ExponentConstants<double> {
  static constexpr double log2_e = 0x1.71547652b82fep+0;
  static constexpr double ln2_high = 0x1.62e42fefa4p-1;  // 39 bits
  static constexpr double ln2_low = -0x1.8432a1b0e2634p-43;
  static constexpr double round_to_whole = 0x1.8p52;
  static constexpr double bias = 1023;
  static constexpr int mantissa_bits = 52;
};

/// e^r = 1 + r + r^2 (c0 + c1 r + ...), |r| <= 0.3468; `zero_below`: smaller arguments give 0, and
/// `all_below` as well, without slow arithmetic on subnormal numbers; `infinite_above` gives +inf.
template <class Real>
struct ExpConstants;

/// Degree 6. Relative error 0.056 u; degree 5 would have 1.8 u.
template <>
struct ExpConstants<float> {
  static constexpr std::array<float, 5> c = {0x1.fffffap-2F, 0x1.555492p-3F, 0x1.555a28p-5F,
                                             0x1.12398ep-7F, 0x1.694ac4p-10F};
  static constexpr float zero_below = -104;  // < -150 ln(2)
  static constexpr float all_below = -139;
  static constexpr float infinite_above = 89.5F;  // > 128 ln(2)
};

/// Degree 11. Relative error 0.035 u; degree 10 would have 2.7 u.
template <>
struct ExpConstants<double> {
  static constexpr std::array<double, 10> c = {
      0x1.000000000000ap-1,  0x1.55555555554fdp-3,  0x1.55555555506a4p-5,  0x1.1111111126ecbp-7,
      0x1.6c16c1847f533p-10, 0x1.a01a012edb89ap-13, 0x1.a0199942cbe04p-16, 0x1.71df1b087452ap-19,
      0x1.28ae1ad674e04p-22, 0x1.ad900f724987bp-26};
  static constexpr double zero_below = -746;  // < -1075 ln(2)
  static constexpr double all_below = -832;
  static constexpr double infinite_above = 710.5;  // > 1024 ln(2)
};

/// tanh rounds to 1 from `one_above` on.
template <class Real>
struct TanhConstants;

template <>
struct TanhConstants<float> {
  static constexpr float one_above = 10;
};

template <>
struct TanhConstants<double> {
  static constexpr double one_above = 20;
};

/// log((1 + s) / (1 - s)) = 2 s + s z (c0 + c1 z + ...), z = s^2 <= 0.02947.
template <class Real>
struct LogConstants;

/// Relative error of the logarithm 0.014 u.
template <>
struct LogConstants<float> {
  static constexpr std::array<float, 3> c = {0x1.55557ap-1F, 0x1.995edp-2F, 0x1.31e1a8p-2F};
  static constexpr float to_normal = 0x1p25F;
  static constexpr float exponent_of_that = 25;
};

/// Relative error of the logarithm 0.012 u.
template <>
struct LogConstants<double> {
  static constexpr std::array<double, 7> c = {
      0x1.5555555555593p-1, 0x1.999999997fa96p-2, 0x1.249249421c5fap-2, 0x1.c71c51e5ff976p-3,
      0x1.746646530205ap-3, 0x1.39a0f5a94bc02p-3, 0x1.2f0d672b6d25dp-3};
  static constexpr double to_normal = 0x1p54;
  static constexpr double exponent_of_that = 54;
};

}  // namespace attest::kernels
