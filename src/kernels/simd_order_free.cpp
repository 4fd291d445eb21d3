#include "kernels/simd_dispatch.hpp"
#include "kernels/simd_reproducible.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd_order_free.cpp"
#include "hwy/foreach_target.h"  // compiles this file once for each target

#include "hwy/highway.h"
#include "kernels/simd_order_free-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attest::kernels::HWY_NAMESPACE {

Status order_free(const SimdForwardCall& call) {
  return order_free_pass(call);
}

}  // namespace attest::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attest::kernels {
namespace {

HWY_EXPORT(order_free);

}  // namespace

Status simd_order_free(std::int64_t target, const SimdForwardCall& call) {
  return for_target(HWY_DISPATCH_TABLE(order_free), target)(call);
}

}  // namespace attest::kernels
#endif  // HWY_ONCE
