#include "kernels/simd_dispatch.hpp"

#include <gmock/gmock.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd_dispatch_test.cpp"
#include "hwy/foreach_target.h"  // compiles this file once for each target

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace attest::kernels::HWY_NAMESPACE {

std::int64_t compiled_for() {
  return HWY_TARGET;
}

}  // namespace attest::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attest::kernels {
namespace {

HWY_EXPORT(compiled_for);

TEST(SimdDispatch, CallsTheCodeOfTheNamedTarget) {
  for (const std::string& name : target_names()) {
    const Result<std::int64_t> target = find_target(name);
    ASSERT_TRUE(target.ok()) << name;
    EXPECT_EQ(hwy::TargetName(target.value()), name);
    EXPECT_EQ(for_target(HWY_DISPATCH_TABLE(compiled_for), target.value())(), target.value());
  }
}

TEST(SimdDispatch, TheBestTargetHasNoNameAndTheOneOfTheCompilerFlagsIsLast) {
  const std::vector<std::string> names = target_names();
  EXPECT_EQ(hwy::TargetName(find_target("").value()), names.front());
  EXPECT_EQ(names.back(), hwy::TargetName(HWY_STATIC_TARGET));
}

TEST(SimdDispatch, RefusesATargetThatIsNotHere) {
  const Result<std::int64_t> none = find_target("AVX9");
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.status().message(), testing::HasSubstr("no target 'AVX9'"));
}

}  // namespace
}  // namespace attest::kernels
#endif  // HWY_ONCE
