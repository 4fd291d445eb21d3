#include "reference/exp_double_double.hpp"

#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference/exp_double_double.cpp"
#include "hwy/foreach_target.h"  // compiles this file once for each target

#include "hwy/highway.h"
#include "reference/exp_double_double-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attest::reference::HWY_NAMESPACE {

template <class D>
HWY_INLINE void exp_at(D d, const double* high, const double* low, double* result_high,
                       double* result_low) {
  const auto value = exp(Pair<hn::Vec<D>>{hn::LoadU(d, high), hn::LoadU(d, low)});
  hn::StoreU(value.high, d, result_high);
  hn::StoreU(value.low, d, result_low);
}

void exp_of_many(const double* high, const double* low, std::size_t count, double* result_high,
                 double* result_low) {
  const hn::ScalableTag<double> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    exp_at(d, high + i, low + i, result_high + i, result_low + i);
  for (; i < count; ++i)
    exp_at(hn::CappedTag<double, 1>(), high + i, low + i, result_high + i, result_low + i);
}

}  // namespace attest::reference::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attest::reference {

HWY_EXPORT(exp_of_many);

void exp_double_double(const double* high, const double* low, std::size_t count,
                       double* result_high, double* result_low) {
  HWY_DYNAMIC_DISPATCH(exp_of_many)(high, low, count, result_high, result_low);
}

}  // namespace attest::reference
#endif  // HWY_ONCE
