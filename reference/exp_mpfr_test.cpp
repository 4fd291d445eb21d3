// The exponential of the fast oracle against MPFR at 128 bits, which is 2^-26 of its error bound.
#include <gtest/gtest.h>
#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <thread>
#include <vector>

#include "reference/exp_double_double.hpp"
#include "reference/exp_table.hpp"
#include "reference/oracle_fast_targets.hpp"

namespace attest::reference {
namespace {

/// Arguments as double-words.
struct Arguments {
  std::vector<double> high, low;

  /// Precondition: |rest| is within half an ulp of the argument.
  void add(double argument, double rest) {
    const double sum = argument + rest;
    high.push_back(sum);
    low.push_back(argument - sum + rest);
  }
  /// a + b exactly (Knuth's TwoSum).
  void add_sum(double a, double b) {
    const double sum = a + b;
    const double b_part = sum - a;
    high.push_back(sum);
    low.push_back((a - (sum - b_part)) + (b - b_part));
  }
};

/// An MPFR number that knows its memory.
class Number {
 public:
  Number() { mpfr_init2(value_, 128); }
  Number(const Number&) = delete;
  Number& operator=(const Number&) = delete;
  ~Number() { mpfr_clear(value_); }
  mpfr_ptr get() { return value_; }

 private:
  mpfr_t value_;
};

void set_exp(Number& result, double x_high, double x_low) {
  mpfr_set_d(result.get(), x_high, MPFR_RNDN);
  mpfr_add_d(result.get(), result.get(), x_low, MPFR_RNDN);
  mpfr_exp(result.get(), result.get(), MPFR_RNDN);
}

/// |high + low - exact| / (exact bound(x)); the roundings here are shares of 2^-26.
double share_of_bound(Number& exact, double x, double high, double low) {
  static thread_local Number off;
  mpfr_sub_d(off.get(), exact.get(), high, MPFR_RNDN);
  mpfr_sub_d(off.get(), off.get(), low, MPFR_RNDN);
  return std::abs(mpfr_get_d(off.get(), MPFR_RNDA)) / mpfr_get_d(exact.get(), MPFR_RNDN) /
         exp_relative_error(x);
}

/// NaN must show.
void raise(double& worst, double share) {
  if (!(share <= worst)) worst = share;
}

double worst_share(const Arguments& arguments) {
  const std::size_t count = arguments.high.size();
  std::vector<double> high(count);
  std::vector<double> low(count);
  exp_double_double(arguments.high.data(), arguments.low.data(), count, high.data(), low.data());
  Number exact;
  double worst = 0;
  for (std::size_t i = 0; i < count; ++i) {
    set_exp(exact, arguments.high[i], arguments.low[i]);
    raise(worst, share_of_bound(exact, arguments.high[i], high[i], low[i]));
  }
  return worst;
}

/// A share of the bound is below 1; MPFR's own roundings are 2^-26 of it, argument included.
constexpr double kAllowed = 1 - 0x1p-16;

/// A quarter each: all of the domain, where softmax weights are, near 0, of any small size.
Arguments random_arguments(std::uint64_t seed, std::size_t count) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> unit(-1, 1);
  Arguments arguments;
  for (std::size_t i = 0; i < count; ++i) {
    double x = unit(random);
    if (i % 4 == 0) x *= kExpDomain * (1 - 0x1p-30);
    if (i % 4 == 1) x = 16 * (x - 1);
    if (i % 4 == 3) x = std::ldexp(x, -static_cast<int>(random() % 120));
    arguments.add(x, x * 0x1p-53 * unit(random));
  }
  return arguments;
}

/// All sums of `side` coarse and `side` fine numbers, whose exponentials MPFR multiplies: one exp
/// for many arguments. A coarse number has at most 42 bits, the fine one reaches below its ulp.
class SumGrid {
 public:
  static constexpr std::size_t kSide = 100;

  explicit SumGrid(std::uint64_t seed) : coarse_exp_(kSide), fine_exp_(kSide) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> unit(-1, 1);
    for (std::size_t i = 0; i < kSide; ++i) {
      // All of the domain, or where the weights of softmax are.
      const double range = seed % 2 == 0 ? kExpDomain - 1 : 16;
      coarse_.push_back(std::ldexp(std::round(std::ldexp(unit(random) * range, 30)), -30));
      fine_.push_back(std::ldexp(unit(random), -static_cast<int>(random() % 30)));
      set_exp(coarse_exp_[i], coarse_[i], 0);
      set_exp(fine_exp_[i], fine_[i], 0);
    }
  }

  double worst_share() {
    Arguments arguments;
    for (const double coarse : coarse_)
      for (const double fine : fine_) arguments.add_sum(coarse, fine);
    const std::size_t count = arguments.high.size();
    std::vector<double> high(count);
    std::vector<double> low(count);
    exp_double_double(arguments.high.data(), arguments.low.data(), count, high.data(), low.data());
    Number exact;
    double worst = 0;
    for (std::size_t i = 0; i < count; ++i) {
      mpfr_mul(exact.get(), coarse_exp_[i / kSide].get(), fine_exp_[i % kSide].get(), MPFR_RNDN);
      raise(worst, share_of_bound(exact, arguments.high[i], high[i], low[i]));
    }
    return worst;
  }

 private:
  std::vector<double> coarse_, fine_;
  std::vector<Number> coarse_exp_, fine_exp_;
};

TEST(ExpDoubleDouble, TenMillionArgumentsAreWithinTheBound) {
  constexpr std::size_t kGrids = 10'000'000 / (SumGrid::kSide * SumGrid::kSide);
  constexpr std::size_t kThreads = 2;
  std::vector<double> worst(kThreads);
  std::vector<std::thread> threads;
  for (std::size_t thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([&worst, thread] {
      for (std::size_t grid = thread; grid < kGrids; grid += kThreads)
        raise(worst[thread], SumGrid(grid).worst_share());
      mpfr_free_cache();
    });
  for (std::thread& thread : threads) thread.join();
  double share = 0;
  for (const double each : worst) raise(share, each);
  RecordProperty("largest_share_of_bound", std::to_string(share));
  EXPECT_LE(share, kAllowed);
  EXPECT_GT(share, 0.05) << "the bound says nothing, or the test does not look";
}

TEST(ExpDoubleDouble, ArgumentsOfEverySizeAreWithinTheBound) {
  EXPECT_LE(worst_share(random_arguments(1, 200'000)), kAllowed);
}

/// k steps of ln(2)/4096 and half a step more, where another table entry is taken, with the nearest
/// arguments on both sides.
Arguments around_steps(std::int64_t first, std::int64_t last, std::int64_t stride) {
  const auto step = [](long double k) {
    return k * (static_cast<long double>(kExpStepHead) + kExpStepMiddle);
  };
  Arguments arguments;
  for (std::int64_t k = first; k <= last; k += stride)
    for (const long double half : {0.0L, 0.5L}) {
      const long double at = step(static_cast<long double>(k) + half);
      const auto high = static_cast<double>(at);
      const auto low = static_cast<double>(at - high);
      arguments.add(high, low);
      for (const double side : {-kExpDomain, kExpDomain}) {
        arguments.add(std::nextafter(high, side), 0);
        arguments.add(std::nextafter(high, side), -low);
        arguments.add(high, std::nextafter(low, side));
      }
    }
  return arguments;
}

TEST(ExpDoubleDouble, EveryKnotAndBoundaryOfTheTablesOnEveryTarget) {
  for_each_target([](const char* target) {
    SCOPED_TRACE(target);
    // Each of the 64 x 64 pairs of entries, for both signs.
    EXPECT_LE(worst_share(around_steps(-4096, 4096, 1)), kAllowed);
  });
}

TEST(ExpDoubleDouble, BoundariesOfTheReductionOverTheWholeDomain) {
  const auto last = static_cast<std::int64_t>(kExpDomain * kExpStepInverse) - 1;
  EXPECT_LE(worst_share(around_steps(-last, last, 251)), kAllowed);
}

TEST(ExpDoubleDouble, RandomArgumentsOnEveryTarget) {
  for_each_target([](const char* target) {
    SCOPED_TRACE(target);
    EXPECT_LE(worst_share(random_arguments(99, 40'000)), kAllowed);
  });
}

TEST(ExpDoubleDouble, TheEndsOfTheDomainAndZero) {
  Arguments arguments;
  for (const double end : {-kExpDomain, kExpDomain}) {
    arguments.add(end, 0);
    arguments.add(std::nextafter(end, 0), 0);
  }
  for (const double small : {0x1p-1074, 0x1p-1022, 0x1p-54, 0x1p-53})
    for (const double sign : {-1.0, 1.0}) arguments.add(sign * small, 0);
  EXPECT_LE(worst_share(arguments), kAllowed);

  const double zero = 0;
  double high = 0;
  double low = 1;
  exp_double_double(&zero, &zero, 1, &high, &low);
  EXPECT_EQ(high, 1);
  EXPECT_EQ(low, 0);
}

/// Had a table entry or the polynomial been wrong by little, the tests above would see it: results
/// that are moved by 2^-100 leave the bound.
TEST(ExpDoubleDouble, ResultsThatAreSlightlyWrongAreOutsideTheBound) {
  Number exact;
  for (const double x : {-0.3, -5.0, 2.0, 1e-9}) {
    const double zero = 0;
    double high = 0;
    double low = 0;
    exp_double_double(&x, &zero, 1, &high, &low);
    set_exp(exact, x, 0);
    EXPECT_LE(share_of_bound(exact, x, high, low), kAllowed);
    EXPECT_GT(share_of_bound(exact, x, high, low + high * 0x1p-100), 1);
  }
}

/// Distance of high + low from 2^(numerator / 4096), relative.
double table_error(double high, double low, std::int64_t numerator) {
  mpfr_t exact;
  mpfr_init2(exact, 200);
  mpfr_set_si_2exp(exact, numerator, -12, MPFR_RNDN);
  mpfr_exp2(exact, exact, MPFR_RNDN);
  mpfr_sub_d(exact, exact, high, MPFR_RNDN);
  mpfr_sub_d(exact, exact, low, MPFR_RNDN);
  const double off = std::abs(mpfr_get_d(exact, MPFR_RNDA));
  mpfr_clear(exact);
  return off / high;
}

TEST(ExpDoubleDouble, TableEntriesAreTheNearestPairs) {
  for (std::size_t i = 0; i < kExpTableSize; ++i) {
    const auto index = static_cast<std::int64_t>(i);
    EXPECT_LE(table_error(kExpFineHigh[i], kExpFineLow[i], index), 0x1p-107) << i;
    EXPECT_LE(table_error(kExpCoarseHigh[i], kExpCoarseLow[i], 64 * index), 0x1p-107) << i;
  }
}

TEST(ExpDoubleDouble, ConstantsAreThoseOfTheReduction) {
  mpfr_t rest;
  mpfr_init2(rest, 400);
  mpfr_const_log2(rest, MPFR_RNDN);
  mpfr_div_2ui(rest, rest, 12, MPFR_RNDN);
  EXPECT_LE(std::abs(kExpStepInverse * mpfr_get_d(rest, MPFR_RNDN) - 1), 0x1p-51);
  for (const double part : {kExpStepHead, kExpStepMiddle, kExpStepTail})
    mpfr_sub_d(rest, rest, part, MPFR_RNDN);
  EXPECT_LE(std::abs(mpfr_get_d(rest, MPFR_RNDA)), 0x1p-149);
  // 30 bits, for the exact product.
  EXPECT_EQ(std::ldexp(kExpStepHead, 42), std::floor(std::ldexp(kExpStepHead, 42)));
  mpfr_set_ui(rest, 1, MPFR_RNDN);
  mpfr_div_ui(rest, rest, 6, MPFR_RNDN);
  mpfr_sub_d(rest, rest, kSixthHigh, MPFR_RNDN);
  mpfr_sub_d(rest, rest, kSixthLow, MPFR_RNDN);
  EXPECT_LE(std::abs(mpfr_get_d(rest, MPFR_RNDA)), 0x1p-109);
  mpfr_clear(rest);
}

}  // namespace
}  // namespace attest::reference
