#include "kernels/simd_forward.hpp"

#include "kernels/simd_dispatch.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd_forward.cpp"
#include "hwy/foreach_target.h"  // compiles this file once for each target

#include "hwy/highway.h"
#include "kernels/simd_forward-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attest::kernels::HWY_NAMESPACE {

Status forward_f32(const SimdForwardCall& call) {
  if (call.ran_on != nullptr) *call.ran_on = HWY_TARGET;
  return forward_pass<float>(call);
}

Status forward_f64(const SimdForwardCall& call) {
  if (call.ran_on != nullptr) *call.ran_on = HWY_TARGET;
  return forward_pass<double>(call);
}

}  // namespace attest::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attest::kernels {
namespace {

HWY_EXPORT(forward_f32);
HWY_EXPORT(forward_f64);

}  // namespace

Status simd_forward(std::int64_t target, const SimdForwardCall& call) {
  if (call.problem.compute_dtype() == Dtype::f32)
    return for_target(HWY_DISPATCH_TABLE(forward_f32), target)(call);
  return for_target(HWY_DISPATCH_TABLE(forward_f64), target)(call);
}

}  // namespace attest::kernels
#endif  // HWY_ONCE
