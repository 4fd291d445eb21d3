#include "kernels/simd_backward.hpp"

#include "kernels/simd_dispatch.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd_backward.cpp"
#include "hwy/foreach_target.h"  // compiles this file once for each target

#include "hwy/highway.h"
#include "kernels/simd_backward-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attest::kernels::HWY_NAMESPACE {

void backward_f32(const SimdBackwardCall& call) {
  backward_pass<float>(call);
}

void backward_f64(const SimdBackwardCall& call) {
  backward_pass<double>(call);
}

}  // namespace attest::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attest::kernels {
namespace {

HWY_EXPORT(backward_f32);
HWY_EXPORT(backward_f64);

}  // namespace

void simd_backward(std::int64_t target, const SimdBackwardCall& call) {
  if (call.problem.compute_dtype() == Dtype::f32)
    return for_target(HWY_DISPATCH_TABLE(backward_f32), target)(call);
  for_target(HWY_DISPATCH_TABLE(backward_f64), target)(call);
}

}  // namespace attest::kernels
#endif  // HWY_ONCE
