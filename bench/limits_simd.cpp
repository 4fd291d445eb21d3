#include "bench/limits.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/limits_simd.cpp"
#include "hwy/foreach_target.h"  // compiles this file once for each target

#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace attest::bench::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Lanes = hn::ScalableTag<float>;

/// Twelve chains: more than latency times ports of the machines at hand, fewer than registers. They
/// start apart at places that no compiler can foresee, or it would keep but one of them.
double fma_loop(long rounds) {
  const Lanes d;
  const volatile float opaque = 1;
  const auto factor = hn::Set(d, 0.9999F * opaque);
  const auto term = hn::Set(d, 0.0001F * opaque);
  const auto start = [&](float number) { return hn::Set(d, number * opaque); };
  auto a = start(1), b = start(2), c = start(3), e = start(4), f = start(5), g = start(6);
  auto h = start(7), i = start(8), j = start(9), k = start(10), l = start(11), m = start(12);
  for (long round = 0; round < rounds; ++round) {
    a = hn::MulAdd(a, factor, term);
    b = hn::MulAdd(b, factor, term);
    c = hn::MulAdd(c, factor, term);
    e = hn::MulAdd(e, factor, term);
    f = hn::MulAdd(f, factor, term);
    g = hn::MulAdd(g, factor, term);
    h = hn::MulAdd(h, factor, term);
    i = hn::MulAdd(i, factor, term);
    j = hn::MulAdd(j, factor, term);
    k = hn::MulAdd(k, factor, term);
    l = hn::MulAdd(l, factor, term);
    m = hn::MulAdd(m, factor, term);
  }
  const auto all = hn::Add(hn::Add(hn::Add(hn::Add(a, b), hn::Add(c, e)), hn::Add(f, g)),
                           hn::Add(hn::Add(hn::Add(h, i), hn::Add(j, k)), hn::Add(l, m)));
  // The sum is used, so that no chain can be left out.
  const volatile float kept = hn::GetLane(hn::SumOfLanes(d, all));
  static_cast<void>(kept);
  return 2.0 * 12.0 * static_cast<double>(hn::Lanes(d)) * static_cast<double>(rounds);
}

/// This target's loop, to be called later whatever is chosen then.
FmaFunction* own_fma_loop() {
  return fma_loop;
}

/// Four places at once, each a little ahead of what the processor fetches by itself: as fast as
/// anything that was tried.
float read_loop(const float* data, std::size_t bytes) {
  constexpr std::size_t streams = 4;
  constexpr std::size_t ahead = 256;
  const Lanes d;
  const std::size_t n = hn::Lanes(d);
  const std::size_t part = bytes / sizeof(float) / streams;
  auto a = hn::Zero(d), b = a, c = a, e = a;
  for (std::size_t i = 0; i < part; i += 4 * n)
    for (std::size_t stream = 0; stream < streams; ++stream) {
      const float* const at = data + stream * part + i;
      for (std::size_t line = 0; line < 4; ++line) hwy::Prefetch(at + ahead + line * n);
      a = hn::Add(a, hn::LoadU(d, at));
      b = hn::Add(b, hn::LoadU(d, at + n));
      c = hn::Add(c, hn::LoadU(d, at + 2 * n));
      e = hn::Add(e, hn::LoadU(d, at + 3 * n));
    }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(a, b), hn::Add(c, e))));
}

}  // namespace attest::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attest::bench {
namespace {

HWY_EXPORT(own_fma_loop);
HWY_EXPORT(read_loop);

}  // namespace

std::vector<FmaLoop> fma_loops() {
  std::vector<FmaLoop> loops;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    loops.push_back({hwy::TargetName(target), HWY_DYNAMIC_DISPATCH(own_fma_loop)()});
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  return loops;
}

float read_all(const float* data, std::size_t bytes) {
  return HWY_DYNAMIC_DISPATCH(read_loop)(data, bytes);
}

}  // namespace attest::bench
#endif  // HWY_ONCE
