// The building blocks of double_double-inl.h against MPFR, on every instruction set.
#include <cstddef>

#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference/oracle_fast_blocks_mpfr_test.cpp"
#include "hwy/foreach_target.h"  // compiles this file once for each target

#include "hwy/highway.h"
#include "reference/double_double-inl.h"

#ifndef ATTEST_REFERENCE_BLOCKS_TEST_ONCE
#define ATTEST_REFERENCE_BLOCKS_TEST_ONCE
namespace attest::reference {

enum class Block { two_sum, two_product, add_double, add, multiply_double, multiply, divide };

/// Operands x = high + low and y likewise, and what a block makes of them; eight at a time.
struct Batch {
  static constexpr std::size_t kSize = 8;
  double x_high[kSize], x_low[kSize], y_high[kSize], y_low[kSize], high[kSize], low[kSize];
};

}  // namespace attest::reference
#endif

HWY_BEFORE_NAMESPACE();
namespace attest::reference::HWY_NAMESPACE {

template <class V>
HWY_INLINE Pair<V> apply_one(Block block, Pair<V> x, Pair<V> y) {
  switch (block) {
    case Block::two_sum:
      return two_sum(x.high, y.high);
    case Block::two_product:
      return two_product(x.high, y.high);
    case Block::add_double:
      return add(x, y.high);
    case Block::add:
      return add(x, y);
    case Block::multiply_double:
      return multiply(x, y.high);
    case Block::multiply:
      return multiply(x, y);
    case Block::divide:
      return divide(x, y);
  }
  return x;
}

void apply(Block block, Batch& batch) {
  const hn::CappedTag<double, Batch::kSize> d;
  for (std::size_t i = 0; i < Batch::kSize; i += hn::Lanes(d)) {
    const auto result = apply_one(
        block,
        Pair<hn::Vec<decltype(d)>>{hn::LoadU(d, batch.x_high + i), hn::LoadU(d, batch.x_low + i)},
        Pair<hn::Vec<decltype(d)>>{hn::LoadU(d, batch.y_high + i), hn::LoadU(d, batch.y_low + i)});
    hn::StoreU(result.high, d, batch.high + i);
    hn::StoreU(result.low, d, batch.low + i);
  }
}

}  // namespace attest::reference::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <gtest/gtest.h>
#include <mpfr.h>

#include <cmath>
#include <random>

#include "reference/oracle_fast_targets.hpp"

namespace attest::reference {

HWY_EXPORT(apply);

namespace {

/// A double-word near 2^exponent.
void draw(std::mt19937_64& random, int exponent, double& high, double& low) {
  std::uniform_real_distribution<double> unit(1, 2);
  const double sign = random() % 2 == 0 ? 1 : -1;
  high = sign * std::ldexp(unit(random), exponent);
  // Often the largest low part that there is, or one far below.
  const double size =
      random() % 3 == 0 ? 1 : std::ldexp(unit(random) - 1, -static_cast<int>(random() % 40));
  low = (random() % 2 == 0 ? 1 : -1) * std::ldexp(size, exponent - 53);
  const double sum = high + low;
  low = high - sum + low;
  high = sum;
}

/// |high + low - exact| / |exact|, where exact is the operation on the operands of `i`.
class Exact {
 public:
  Exact() {
    for (mpfr_ptr each : {x_, y_, result_}) mpfr_init2(each, 4000);
  }
  Exact(const Exact&) = delete;
  Exact& operator=(const Exact&) = delete;
  ~Exact() { mpfr_clears(x_, y_, result_, static_cast<mpfr_ptr>(nullptr)); }

  double relative_error(Block block, const Batch& batch, std::size_t i) {
    const bool singles = block == Block::two_sum || block == Block::two_product;
    const bool double_y = singles || block == Block::add_double || block == Block::multiply_double;
    set(x_, batch.x_high[i], singles ? 0 : batch.x_low[i]);
    set(y_, batch.y_high[i], double_y ? 0 : batch.y_low[i]);
    if (block == Block::divide)
      mpfr_div(result_, x_, y_, MPFR_RNDN);
    else if (block == Block::two_sum || block == Block::add_double || block == Block::add)
      mpfr_add(result_, x_, y_, MPFR_RNDN);
    else
      mpfr_mul(result_, x_, y_, MPFR_RNDN);
    set(x_, batch.high[i], batch.low[i]);
    mpfr_sub(x_, x_, result_, MPFR_RNDN);
    if (mpfr_zero_p(x_) != 0) return 0;
    mpfr_div(x_, x_, result_, MPFR_RNDN);
    return std::abs(mpfr_get_d(x_, MPFR_RNDA));
  }

 private:
  static void set(mpfr_ptr number, double high, double low) {
    mpfr_set_d(number, high, MPFR_RNDN);
    mpfr_add_d(number, number, low, MPFR_RNDN);
  }

  mpfr_t x_;
  mpfr_t y_;
  mpfr_t result_;
};

double worst_error(Block block) {
  std::mt19937_64 random(static_cast<std::uint64_t>(block));
  Exact exact;
  double worst = 0;
  Batch batch{};
  for (int repeat = 0; repeat < 500; ++repeat) {
    for (std::size_t i = 0; i < Batch::kSize; ++i) {
      const int exponent = static_cast<int>(random() % 60) - 30;
      draw(random, exponent, batch.x_high[i], batch.x_low[i]);
      draw(random, exponent - static_cast<int>(random() % 60), batch.y_high[i], batch.y_low[i]);
      // Sums that cancel nearly, down to the low parts: there a sloppy addition has no bound.
      const auto cancelling = random() % 8;
      if (cancelling > 2) continue;
      batch.y_high[i] = -batch.x_high[i] * (1 + static_cast<double>(cancelling) * 0x1p-51);
      batch.y_low[i] = batch.x_low[i] * (cancelling == 1 ? -0.75 : 0.5);
    }
    HWY_DYNAMIC_DISPATCH(apply)(block, batch);
    for (std::size_t i = 0; i < Batch::kSize; ++i) {
      const double error = exact.relative_error(block, batch, i);
      if (!(error <= worst)) worst = error;
    }
  }
  return worst;
}

TEST(DoubleDouble, EveryBlockIsWithinItsTheoremOnEveryTarget) {
  constexpr double kSquare = 0x1p-106;
  const std::pair<Block, double> theorems[] = {{Block::two_sum, 0},
                                               {Block::two_product, 0},
                                               {Block::add_double, 2},
                                               {Block::add, 3 + 13 * 0x1p-53},
                                               {Block::multiply_double, 1.5 + 4 * 0x1p-53},
                                               {Block::multiply, 7},
                                               {Block::divide, 15 + 56 * 0x1p-53}};
  for_each_target([&](const char* target) {
    for (const auto& [block, bound] : theorems) {
      SCOPED_TRACE(std::string(target) + ", block " + std::to_string(static_cast<int>(block)));
      const double worst = worst_error(block);
      EXPECT_LE(worst, bound * kSquare);
      // Or else no rounding at all was seen.
      EXPECT_GE(worst, bound == 0 ? 0 : 0.2 * kSquare);
    }
  });
}

}  // namespace
}  // namespace attest::reference

#endif  // HWY_ONCE
