#include "kernels/simd_dispatch.hpp"
#include "kernels/simd_reproducible.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd_canonical.cpp"
#include "hwy/foreach_target.h"  // compiles this file once for each target

#include "hwy/highway.h"
#include "kernels/simd_canonical-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attest::kernels::HWY_NAMESPACE {

Status canonical_f32(const SimdForwardCall& call) {
  return canonical_pass<float>(call);
}

Status canonical_f64(const SimdForwardCall& call) {
  return canonical_pass<double>(call);
}

}  // namespace attest::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attest::kernels {
namespace {

HWY_EXPORT(canonical_f32);
HWY_EXPORT(canonical_f64);

}  // namespace

Status simd_canonical(std::int64_t target, const SimdForwardCall& call) {
  if (call.problem.compute_dtype() == Dtype::f32)
    return for_target(HWY_DISPATCH_TABLE(canonical_f32), target)(call);
  return for_target(HWY_DISPATCH_TABLE(canonical_f64), target)(call);
}

}  // namespace attest::kernels
#endif  // HWY_ONCE
