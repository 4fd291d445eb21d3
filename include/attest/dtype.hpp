// Element types and the constants of their arithmetic.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <type_traits>

namespace attest {

/// Storage types of tensors. Arithmetic is done in f32 or f64: see compute_dtype.
enum class Dtype { f32, f64, bf16, f16, e4m3, e5m2 };

inline constexpr std::array kDtypes{Dtype::f32, Dtype::f64,  Dtype::bf16,
                                    Dtype::f16, Dtype::e4m3, Dtype::e5m2};

constexpr std::string_view to_string(Dtype dtype) {
  switch (dtype) {
    case Dtype::f32:
      return "f32";
    case Dtype::f64:
      return "f64";
    case Dtype::bf16:
      return "bf16";
    case Dtype::f16:
      return "f16";
    case Dtype::e4m3:
      return "e4m3";
    case Dtype::e5m2:
      break;
  }
  return "e5m2";
}

/// Bytes of an element.
constexpr std::size_t size_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::f32:
      return 4;
    case Dtype::f64:
      return 8;
    case Dtype::bf16:
    case Dtype::f16:
      return 2;
    case Dtype::e4m3:
    case Dtype::e5m2:
      break;
  }
  return 1;
}

/// Types with descales, which are no output type.
constexpr bool is_fp8(Dtype dtype) {
  return dtype == Dtype::e4m3 || dtype == Dtype::e5m2;
}

/// The type of the arithmetic on elements of this type: f64 for f64, else f32.
constexpr Dtype compute_dtype(Dtype storage) {
  return storage == Dtype::f64 ? Dtype::f64 : Dtype::f32;
}

constexpr std::optional<Dtype> dtype_from_string(std::string_view text) {
  for (const Dtype dtype : kDtypes)
    if (text == to_string(dtype)) return dtype;
  return std::nullopt;
}

template <class Real>
constexpr Dtype dtype_of() {
  static_assert(std::is_same_v<Real, float> || std::is_same_v<Real, double>);
  return std::is_same_v<Real, float> ? Dtype::f32 : Dtype::f64;
}

/// Calls `body` with a value of the C++ type of compute_dtype(dtype): body(float{}) or
/// body(double{}).
template <class Body>
decltype(auto) with_real_type(Dtype dtype, Body&& body) {
  return compute_dtype(dtype) == Dtype::f32 ? body(float{}) : body(double{});
}

/// Constants of round-to-nearest arithmetic in a format (IEEE 754-2019, table 3.5; OCP 8-bit
/// floating point, 2023, for e4m3 and e5m2).
struct Format {
  double unit_roundoff;  ///< u: half an ulp of 1 (2^-24 for f32)
  double min_normal;     ///< smallest positive normal number
  double
      rounding_underflow;  ///< om: half the smallest subnormal, the absolute error below min_normal
  double max_finite;

  friend bool operator==(const Format&, const Format&) = default;
};

inline constexpr Format kF32{0x1p-24, 0x1p-126, 0x1p-150, 0x1.fffffep127};
/// om of f64 is 2^-1075, which no double holds; 2^-1074 is the next double above it.
inline constexpr Format kF64{0x1p-53, 0x1p-1022, 0x1p-1074, 0x1.fffffffffffffp1023};
inline constexpr Format kBf16{0x1p-8, 0x1p-126, 0x1p-134, 0x1.fep127};
inline constexpr Format kF16{0x1p-11, 0x1p-14, 0x1p-25, 65504};
inline constexpr Format kE4m3{0x1p-4, 0x1p-6, 0x1p-10, 448};  ///< no infinities ("fn")
inline constexpr Format kE5m2{0x1p-3, 0x1p-14, 0x1p-17, 57344};

constexpr Format format_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::f32:
      return kF32;
    case Dtype::f64:
      return kF64;
    case Dtype::bf16:
      return kBf16;
    case Dtype::f16:
      return kF16;
    case Dtype::e4m3:
      return kE4m3;
    case Dtype::e5m2:
      break;
  }
  return kE5m2;
}

}  // namespace attest
