// Rows of bf16 and f16 as f32, and back.

// One body for each target of Highway.
#if defined(ATTEST_KERNELS_SIMD_CONVERT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_KERNELS_SIMD_CONVERT_INL_H_
#undef ATTEST_KERNELS_SIMD_CONVERT_INL_H_
#else
#define ATTEST_KERNELS_SIMD_CONVERT_INL_H_
#endif

#include <cstdint>

#include "attest/dtype.hpp"
#include "attest/element.hpp"
#include "kernels/simd_blocks-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attest::kernels::HWY_NAMESPACE {

// Highway's own f16 conversion without F16C neither rounds to nearest nor keeps infinities.
inline constexpr bool kConvertsHalf = HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86;

inline bool converts(Dtype dtype) {
  return dtype == Dtype::bf16 || (kConvertsHalf && dtype == Dtype::f16);
}

HWY_INLINE Vec<float> load_half(Dtype dtype, const std::uint16_t* from) {
  const Tag<float> d;
  const hn::Rebind<std::uint16_t, Tag<float>> d16;
  if (kConvertsHalf && dtype == Dtype::f16) {
    const hn::Rebind<hwy::float16_t, Tag<float>> df16;
    return hn::PromoteTo(d, hn::BitCast(df16, hn::LoadU(d16, from)));
  }
  const hn::RebindToUnsigned<Tag<float>> d32;
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(d32, hn::LoadU(d16, from))));
}

/// To nearest, ties to even; a NaN stays one.
HWY_INLINE void store_half(Dtype dtype, Vec<float> values, std::uint16_t* to) {
  const hn::Rebind<std::uint16_t, Tag<float>> d16;
  if (kConvertsHalf && dtype == Dtype::f16) {
    const hn::Rebind<hwy::float16_t, Tag<float>> df16;
    hn::StoreU(hn::BitCast(d16, hn::DemoteTo(df16, values)), d16, to);
    return;
  }
  const hn::RebindToUnsigned<Tag<float>> d32;
  const auto bits = hn::BitCast(d32, values);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(d32, 1));
  const auto rounded = hn::Add(bits, hn::Add(odd, hn::Set(d32, 0x7fff)));
  const auto quiet = hn::Or(bits, hn::Set(d32, 0x400000));
  const auto nan = hn::RebindMask(d32, hn::IsNaN(values));
  const auto high = hn::ShiftRight<16>(hn::IfThenElse(nan, quiet, rounded));
  hn::StoreU(hn::DemoteTo(d16, hn::BitCast(hn::RebindToSigned<Tag<float>>(), high)), d16, to);
}

/// Precondition: converts(dtype).
inline void convert_from(Dtype dtype, const std::uint16_t* from, Index columns, float* to) {
  Index c = 0;
  for (; c + kLanes<float> <= columns; c += kLanes<float>)
    hn::StoreU(load_half(dtype, from + c), Tag<float>(), to + c);
  for (; c < columns; ++c) to[c] = static_cast<float>(load_element(dtype, from + c));
}

/// Precondition: converts(dtype).
inline void convert_to(Dtype dtype, const float* from, Index columns, std::uint16_t* to) {
  Index c = 0;
  for (; c + kLanes<float> <= columns; c += kLanes<float>)
    store_half(dtype, hn::LoadU(Tag<float>(), from + c), to + c);
  for (; c < columns; ++c) store_element(dtype, to + c, static_cast<double>(from[c]));
}

}  // namespace attest::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
