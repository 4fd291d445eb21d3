// What the elementary functions of every target give exactly. How large their errors are is the
// business of the exhaustive check.
#include "kernels/simd_math.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "kernels/simd_dispatch.hpp"

namespace attest::kernels {
namespace {

template <class Real>
class SimdMath : public testing::Test {
 protected:
  using Limits = std::numeric_limits<Real>;
  static constexpr Real infinity = Limits::infinity();
  static constexpr Real nan = Limits::quiet_NaN();
  static constexpr Real smallest = Limits::denorm_min();

  static std::vector<Real> values(MathFunction function, const std::string& target,
                                  const std::vector<Real>& x) {
    std::vector<Real> y(x.size());
    const Status status = apply(function, target, x, std::span<Real>(y));
    EXPECT_TRUE(status.ok()) << status.message();
    return y;
  }

  /// Same number and sign, or both NaN.
  static void expect_same(MathFunction function, const std::vector<Real>& x,
                          const std::vector<Real>& expected) {
    for (const std::string& target : target_names()) {
      const std::vector<Real> y = values(function, target, x);
      for (std::size_t i = 0; i < x.size(); ++i) {
        EXPECT_EQ(std::isnan(y[i]), std::isnan(expected[i])) << target << " at " << x[i];
        if (std::isnan(expected[i])) continue;
        EXPECT_EQ(y[i], expected[i]) << target << " at " << x[i];
        EXPECT_EQ(std::signbit(y[i]), std::signbit(expected[i])) << target << " at " << x[i];
      }
    }
  }
};

using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(SimdMath, Reals);

TYPED_TEST(SimdMath, ExpOfSpecialValues) {
  using Self = SimdMath<TypeParam>;
  const TypeParam none = sizeof(TypeParam) == 4 ? TypeParam(-104) : TypeParam(-746);
  const std::vector<TypeParam> x = {
      0,        -TypeParam(0),    -Self::smallest,        -Self::infinity, none,
      none * 2, TypeParam(-1e30), Self::Limits::lowest(), Self::nan,       -Self::nan};
  const std::vector<TypeParam> y = {1, 1, 1, 0, 0, 0, 0, 0, Self::nan, Self::nan};
  Self::expect_same(MathFunction::exp_non_positive, x, y);
  Self::expect_same(MathFunction::exp, x, y);
  const TypeParam too_large = sizeof(TypeParam) == 4 ? TypeParam(88.8) : TypeParam(709.8);
  Self::expect_same(
      MathFunction::exp,
      {Self::smallest, too_large, TypeParam(1e30), Self::Limits::max(), Self::infinity},
      {1, Self::infinity, Self::infinity, Self::infinity, Self::infinity});
}

TYPED_TEST(SimdMath, ExpUnderflowsGradually) {
  using Self = SimdMath<TypeParam>;
  // Halfway between 0 and the smallest number lies exp((min_exponent - digits) ln 2).
  const double exponent = Self::Limits::min_exponent - Self::Limits::digits - 1;
  const double middle = exponent * std::log(2.0);
  const auto x = {TypeParam(middle - 0.001), TypeParam(middle + 0.001),
                  TypeParam(middle + std::log(3) - 0.001), TypeParam(middle + std::log(3) + 0.001)};
  Self::expect_same(MathFunction::exp_non_positive, x,
                    {0, Self::smallest, Self::smallest, 2 * Self::smallest});
}

TYPED_TEST(SimdMath, TanhOfSpecialValues) {
  using Self = SimdMath<TypeParam>;
  const TypeParam tiny = std::ldexp(TypeParam(1.25), -Self::Limits::digits);
  Self::expect_same(
      MathFunction::tanh,
      {0, -TypeParam(0), Self::smallest, -3 * Self::smallest, Self::Limits::min(), tiny, -tiny, 20,
       -20, Self::Limits::max(), -Self::infinity, Self::nan, -Self::nan},
      {0, -TypeParam(0), Self::smallest, -3 * Self::smallest, Self::Limits::min(), tiny, -tiny, 1,
       -1, 1, -1, Self::nan, Self::nan});
}

TYPED_TEST(SimdMath, LogOfSpecialValues) {
  using Self = SimdMath<TypeParam>;
  Self::expect_same(MathFunction::log,
                    {1, 0, -TypeParam(0), Self::infinity, -Self::infinity, -1, -Self::smallest,
                     Self::nan, -Self::nan},
                    {0, -Self::infinity, -Self::infinity, Self::infinity, Self::nan, Self::nan,
                     Self::nan, Self::nan, Self::nan});
}

TYPED_TEST(SimdMath, AResultDoesNotDependOnItsPlace) {
  using Self = SimdMath<TypeParam>;
  std::vector<TypeParam> x;
  for (int i = 0; i < 67; ++i) x.push_back(TypeParam(0.37) * static_cast<TypeParam>(i - 50));
  for (const std::string& target : target_names()) {
    for (const MathFunction function : {MathFunction::exp, MathFunction::tanh, MathFunction::log}) {
      const std::vector<TypeParam> together = Self::values(function, target, x);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const TypeParam alone = Self::values(function, target, {x[i]}).front();
        EXPECT_EQ(std::isnan(alone), std::isnan(together[i])) << target << " at " << x[i];
        if (std::isnan(alone)) continue;
        EXPECT_EQ(alone, together[i]) << target << " at " << x[i];
      }
    }
  }
}

TYPED_TEST(SimdMath, RefusesArraysOfDifferentSizesAndUnknownTargets) {
  const std::vector<TypeParam> x(3);
  std::vector<TypeParam> y(2);
  EXPECT_EQ(apply(MathFunction::exp, "", x, std::span<TypeParam>(y)).code(),
            StatusCode::invalid_argument);
  y.resize(3);
  EXPECT_EQ(apply(MathFunction::exp, "AVX9", x, std::span<TypeParam>(y)).code(),
            StatusCode::invalid_argument);
}

}  // namespace
}  // namespace attest::kernels
