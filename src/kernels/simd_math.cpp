#include "kernels/simd_math.hpp"

#include <algorithm>
#include <cstddef>

#include "kernels/simd_dispatch.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd_math.cpp"
#include "hwy/foreach_target.h"  // compiles this file once for each target

#include "hwy/highway.h"
#include "kernels/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attest::kernels::HWY_NAMESPACE {

struct ExpFunction {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return Exp(d, x);
  }
};

struct ExpNonPositiveFunction {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return ExpNonPositive(d, x);
  }
};

struct TanhFunction {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return Tanh(d, x);
  }
};

struct LogFunction {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return Log(d, x);
  }
};

template <class Function, class Real>
void map_array(Function function, const Real* x, Real* y, std::size_t count) {
  const hn::ScalableTag<Real> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(function(d, hn::LoadU(d, x + i)), d, y + i);
  if (i == count) return;
  HWY_ALIGN Real rest[hn::MaxLanes(d)] = {};
  std::copy(x + i, x + count, rest);
  hn::Store(function(d, hn::Load(d, rest)), d, rest);
  std::copy(rest, rest + (count - i), y + i);
}

template <class Real>
void map_function(MathFunction function, const Real* x, Real* y, std::size_t count) {
  switch (function) {
    case MathFunction::exp:
      return map_array(ExpFunction(), x, y, count);
    case MathFunction::exp_non_positive:
      return map_array(ExpNonPositiveFunction(), x, y, count);
    case MathFunction::tanh:
      return map_array(TanhFunction(), x, y, count);
    case MathFunction::log:
      return map_array(LogFunction(), x, y, count);
  }
}

void apply_f32(MathFunction function, const float* x, float* y, std::size_t count) {
  map_function(function, x, y, count);
}

void apply_f64(MathFunction function, const double* x, double* y, std::size_t count) {
  map_function(function, x, y, count);
}

bool is_fused() {
  return HWY_NATIVE_FMA != 0;
}

}  // namespace attest::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attest::kernels {
namespace {

HWY_EXPORT(apply_f32);
HWY_EXPORT(apply_f64);
HWY_EXPORT(is_fused);

Result<std::int64_t> check_arrays(std::string_view target, std::size_t x_size, std::size_t y_size) {
  if (x_size != y_size) return invalid_argument("x and y have different sizes");
  return find_target(target);
}

}  // namespace

Status apply(MathFunction function, std::string_view target, std::span<const float> x,
             std::span<float> y) {
  const Result<std::int64_t> found = check_arrays(target, x.size(), y.size());
  if (!found.ok()) return found.status();
  for_target(HWY_DISPATCH_TABLE(apply_f32), found.value())(function, x.data(), y.data(), x.size());
  return {};
}

Status apply(MathFunction function, std::string_view target, std::span<const double> x,
             std::span<double> y) {
  const Result<std::int64_t> found = check_arrays(target, x.size(), y.size());
  if (!found.ok()) return found.status();
  for_target(HWY_DISPATCH_TABLE(apply_f64), found.value())(function, x.data(), y.data(), x.size());
  return {};
}

Result<bool> has_fused_multiply_add(std::string_view target) {
  const Result<std::int64_t> found = find_target(target);
  if (!found.ok()) return found.status();
  return for_target(HWY_DISPATCH_TABLE(is_fused), found.value())();
}

}  // namespace attest::kernels
#endif  // HWY_ONCE
