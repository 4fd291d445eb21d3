// The values that judge exp, tanh and log, and the filter before MPFR, against MPFR alone.
#include <gtest/gtest.h>
#include <mpfr.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "reference/elementary_error.hpp"
#include "reference/interval_rounding.hpp"

namespace attest::reference {
namespace {

constexpr Elementary kFunctions[] = {Elementary::exp, Elementary::tanh, Elementary::log};
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kSmallest = std::numeric_limits<float>::denorm_min();

void set_function(Scratch& value, Elementary function, double x) {
  mpfr_set_d(value.get(), x, MPFR_RNDN);
  if (function == Elementary::exp) mpfr_exp(value.get(), value.get(), MPFR_RNDN);
  if (function == Elementary::tanh) mpfr_tanh(value.get(), value.get(), MPFR_RNDN);
  if (function == Elementary::log) mpfr_log(value.get(), value.get(), MPFR_RNDN);
}

/// Floats of every sign and exponent: the ends of the binade and some within.
std::vector<float> arguments_of_every_size(std::uint64_t seed, int within) {
  std::mt19937_64 random(seed);
  std::vector<float> x;
  for (std::uint32_t top = 0; top < 512; ++top) {
    const std::uint32_t first = top << 23U;
    for (const std::uint32_t rest : {0U, 1U, 2U, 0x7ffffeU, 0x7fffffU})
      x.push_back(std::bit_cast<float>(first + rest));
    for (int i = 0; i < within; ++i)
      x.push_back(std::bit_cast<float>(first + static_cast<std::uint32_t>(random() & 0x7fffffU)));
  }
  // Near 1, where the logarithm is small.
  for (int i = 1; i < 30; ++i)
    for (const float sign : {-1.0F, 1.0F}) x.push_back(1 + sign * std::ldexp(1.0F, -i));
  return x;
}

TEST(Elementary, ValuesAreWithinTheirProvenError) {
  Scratch exact(128);
  Scratch off(128);
  for (const Elementary function : kFunctions) {
    const ElementaryArguments found = evaluate(function, arguments_of_every_size(1, 60));
    EXPECT_GT(found.measured.size(), 10'000U);
    double worst = 0;
    for (std::size_t i = 0; i < found.measured.size(); ++i) {
      set_function(exact, function, found.measured[i]);
      mpfr_d_sub(off.get(), found.exact[i], exact.get(), MPFR_RNDN);
      mpfr_div(off.get(), off.get(), exact.get(), MPFR_RNDN);
      const double error = std::abs(mpfr_get_d(off.get(), MPFR_RNDA));
      if (!(error <= worst)) worst = error;
    }
    EXPECT_LT(worst, kElementaryError) << static_cast<int>(function);
    EXPECT_GT(worst, 0) << "nothing was looked at";
  }
}

TEST(Elementary, KnownResultsAreTheCorrectlyRoundedOnes) {
  for (const float x : {-104.00001F, -200.0F, -1e30F, 89.00001F, 700.0F, 1e5F}) {
    ASSERT_TRUE(known_result(Elementary::exp, x)) << x;
    EXPECT_TRUE(exact_error(Elementary::exp, x, *known_result(Elementary::exp, x)).rounded) << x;
  }
  for (const float x : {10.0F, -10.0F, 40.0F, -1e30F}) {
    ASSERT_TRUE(known_result(Elementary::tanh, x)) << x;
    EXPECT_TRUE(exact_error(Elementary::tanh, x, *known_result(Elementary::tanh, x)).rounded) << x;
  }
}

TEST(Elementary, ExactResultsAreKnown) {
  EXPECT_EQ(known_result(Elementary::exp, 0.0F), 1.0F);
  EXPECT_EQ(known_result(Elementary::exp, -kInfinity), 0.0F);
  EXPECT_EQ(known_result(Elementary::exp, kInfinity), kInfinity);
  EXPECT_TRUE(std::signbit(*known_result(Elementary::tanh, -0.0F)));
  EXPECT_EQ(known_result(Elementary::tanh, -kInfinity), -1.0F);
  EXPECT_EQ(known_result(Elementary::log, 1.0F), 0.0F);
  EXPECT_EQ(known_result(Elementary::log, -0.0F), -kInfinity);
  EXPECT_EQ(known_result(Elementary::log, kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(*known_result(Elementary::log, -kSmallest)));
  for (const Elementary function : kFunctions)
    EXPECT_TRUE(std::isnan(*known_result(function, std::nanf("")))) << static_cast<int>(function);
  EXPECT_FALSE(known_result(Elementary::exp, kSmallest));
  EXPECT_FALSE(known_result(Elementary::tanh, 9.99F));
  EXPECT_FALSE(known_result(Elementary::log, kSmallest));
}

TEST(ElementaryError, CountsTheDistanceInUlpOfTheExactResult) {
  // log(2) = 0x0.b17217f7d1cf7...: behind the 24 bits b17217 stands f7d1cf7..., rounded up.
  const float best = 0x1.62e43p-1F;
  const ElementaryError nearest = exact_error(Elementary::log, 2.0F, best);
  EXPECT_TRUE(nearest.rounded);
  EXPECT_FALSE(nearest.subnormal);
  EXPECT_EQ(std::floor(nearest.ulp * 0x1p16), 0x1p16 - 0xf7d2);  // 1 - 0x0.f7d1cf7...
  const ElementaryError below = exact_error(Elementary::log, 2.0F, std::nextafter(best, 0.0F));
  EXPECT_FALSE(below.rounded);
  EXPECT_EQ(std::floor(below.ulp * 0x1p16), 0xf7d1);
  // log(2) lies in [1/2, 1), where an ulp is 2^-24.
  EXPECT_NEAR(below.relative, below.ulp / std::log(2.0), 0x1p-50 * below.relative);
}

TEST(ElementaryError, CountsTheDistanceInUlpOfADouble) {
  // log(2) = 0x1.62e42fefa39ef35793c...p-1: behind the 53 bits stands 35793c..., rounded down.
  const double best = 0x1.62e42fefa39efp-1;
  const ElementaryError nearest = exact_error(Elementary::log, 2.0, best);
  EXPECT_TRUE(nearest.rounded);
  EXPECT_EQ(std::floor(nearest.ulp * 0x1p16), 0x3579);
  const ElementaryError above = exact_error(Elementary::log, 2.0, std::nextafter(best, 1.0));
  EXPECT_FALSE(above.rounded);
  EXPECT_EQ(std::floor(above.ulp * 0x1p16), 0x10000 - 0x357a);
}

TEST(ElementaryError, KnowsSubnormalNumbersAndInfinity) {
  const ElementaryError zero = exact_error(Elementary::exp, -103.9F, 0.0F);
  EXPECT_TRUE(zero.subnormal);
  EXPECT_FALSE(zero.rounded);
  EXPECT_TRUE(exact_error(Elementary::exp, -103.9F, kSmallest).rounded);
  EXPECT_FALSE(exact_error(Elementary::exp, -104.0F, -0.0F).rounded) << "the wrong sign";
  const float last = 0x1.62e42ep+6F;  // exp is finite there, and rounds to infinity behind it
  EXPECT_TRUE(exact_error(Elementary::exp, std::nextafter(last, 100.0F), kInfinity).rounded);
  EXPECT_EQ(exact_error(Elementary::exp, 88.9F, kInfinity).ulp, 0);
  EXPECT_GT(exact_error(Elementary::exp, last, kInfinity).ulp, 1);
  // The next argument is 2^-17 away: 2^-17 of the result, which has 2^24 ulp at most.
  EXPECT_LT(exact_error(Elementary::exp, last, kInfinity).ulp, 0x1p7);
}

/// Results that are off by a few ulp, or correctly rounded, with a seed.
std::vector<float> sloppy_results(Elementary function, const ElementaryArguments& arguments) {
  std::mt19937_64 random(7);
  std::vector<float> results;
  for (const double exact : arguments.exact) {
    auto result = static_cast<float>(exact);
    for (std::uint64_t steps = random() % 4; steps > 0; --steps)
      result = std::nextafter(result, function == Elementary::log ? -kInfinity : kInfinity);
    results.push_back(result);
  }
  return results;
}

/// An error that was really found, and none is larger by more than the resolution.
void expect_close(const LargestError& found, const LargestError& largest) {
  EXPECT_LE(found.error, largest.error);
  EXPECT_LE(largest.error, found.error + kErrorResolution);
}

TEST(ElementaryTally, IsWhatMpfrAloneFinds) {
  for (const Elementary function : kFunctions) {
    const ElementaryArguments arguments = evaluate(function, arguments_of_every_size(3, 20));
    const std::vector<float> results = sloppy_results(function, arguments);
    ElementaryTally expected;
    for (std::size_t i = 0; i < results.size(); ++i) {
      const float x = arguments.measured[i];
      const ElementaryError error = exact_error(function, x, results[i]);
      if (!error.rounded) ++expected.not_rounded;
      if (error.ulp > expected.ulp.error) expected.ulp = {error.ulp, x};
      LargestError& part = error.subnormal ? expected.subnormal : expected.relative;
      const double size = error.subnormal ? error.ulp : error.relative;
      if (size > part.error) part = {size, x};
    }
    const ElementaryTally found = judge(function, arguments, arguments.known_results, results);
    EXPECT_EQ(found.arguments, static_cast<std::int64_t>(arguments.known.size() + results.size()));
    EXPECT_EQ(found.wrong, 0);
    EXPECT_EQ(found.not_rounded, expected.not_rounded);
    EXPECT_GT(found.not_rounded, 0);
    expect_close(found.ulp, expected.ulp);
    expect_close(found.relative, expected.relative);
    expect_close(found.subnormal, expected.subnormal);
  }
}

TEST(ElementaryTally, CountsWrongSpecialValuesAndNan) {
  const std::vector<float> x{-kInfinity, 0.0F, 0.5F};
  const ElementaryArguments arguments = evaluate(Elementary::tanh, x);
  const std::vector<float> measured{0x1.d9354ep-2F};
  EXPECT_EQ(judge(Elementary::tanh, arguments, std::vector<float>{-1.0F, 0.0F}, measured).wrong, 0);
  const ElementaryTally sign =
      judge(Elementary::tanh, arguments, std::vector<float>{-1.0F, -0.0F}, measured);
  EXPECT_EQ(sign.wrong, 1);
  EXPECT_EQ(sign.first_wrong, 0.0F);
  const ElementaryTally nan = judge(Elementary::tanh, arguments, arguments.known_results,
                                    std::vector<float>{std::nanf("")});
  EXPECT_EQ(nan.wrong, 1);
  EXPECT_EQ(nan.first_wrong, 0.5F);
}

TEST(ElementaryTally, PartsAddUpToTheWhole) {
  const std::vector<float> x = arguments_of_every_size(5, 10);
  const auto tally_of = [](std::span<const float> part) {
    const ElementaryArguments arguments = evaluate(Elementary::log, part);
    std::vector<float> results;
    for (const float each : arguments.measured) results.push_back(std::log(each) * (1 + 0x1p-22F));
    return judge(Elementary::log, arguments, arguments.known_results, results);
  };
  const ElementaryTally whole = tally_of(x);
  ElementaryTally sum = tally_of(std::span(x).first(1000));
  sum.append(tally_of(std::span(x).subspan(1000)));
  EXPECT_EQ(sum.arguments, whole.arguments);
  EXPECT_EQ(sum.not_rounded, whole.not_rounded);
  EXPECT_NEAR(sum.ulp.error, whole.ulp.error, kErrorResolution);
  EXPECT_NEAR(sum.relative.error, whole.relative.error, kErrorResolution);
}

}  // namespace
}  // namespace attest::reference
