// The elementary functions of the SIMD kernels on a sample of their arguments, on every target:
// what `attest bench --exhaustive` does with all floats. Double has only this sample.
#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include "cli/exhaustive_run.hpp"
#include "cli/exhaustive_state.hpp"
#include "kernels/simd_dispatch.hpp"

namespace attest::cli {
namespace {

using kernels::MathFunction;
using reference::ElementaryArguments;
using reference::ElementaryError;
using reference::ElementaryTally;

constexpr const char* kNames[] = {"exp", "exp_non_positive", "tanh", "log"};

/// All exponents with both signs, the ends of their binades and a random sample within; zeros,
/// infinities and NaN are among them.
template <class Real, class Bits>
std::vector<Real> sample(MathFunction function, int within) {
  constexpr int kMantissa = std::numeric_limits<Real>::digits - 1;
  constexpr Bits kMask = (Bits{1} << kMantissa) - 1;
  std::mt19937_64 random(1);
  std::vector<Real> x;
  const auto add = [&](Bits bits) {
    const auto argument = std::bit_cast<Real>(bits);
    if (function != MathFunction::exp_non_positive || !(argument > 0)) x.push_back(argument);
  };
  for (Bits top = 0; top <= std::numeric_limits<Bits>::max() >> kMantissa; ++top) {
    for (const Bits rest : {Bits{0}, Bits{1}, kMask}) add((top << kMantissa) + rest);
    for (int i = 0; i < within; ++i)
      add((top << kMantissa) + (static_cast<Bits>(random()) & kMask));
  }
  return x;
}

/// Where exp and tanh move: evenly in x.
template <class Real>
void add_even_sample(MathFunction function, int count, std::vector<Real>& x) {
  std::mt19937_64 random(2);
  std::uniform_real_distribution<Real> of_exp(-110, 90);
  std::uniform_real_distribution<Real> of_tanh(-10, 10);
  std::uniform_real_distribution<Real> of_log(Real(0.5), 4);
  for (int i = 0; i < count; ++i) {
    if (function == MathFunction::tanh)
      x.push_back(of_tanh(random));
    else if (function == MathFunction::log)
      x.push_back(of_log(random));
    else if (function == MathFunction::exp)
      x.push_back(of_exp(random));
    else
      x.push_back(-std::abs(of_exp(random)));
  }
}

template <class Real>
std::vector<Real> results_of(const NamedFunction& function, const std::string& target,
                             const std::vector<Real>& x) {
  std::vector<Real> y(x.size());
  EXPECT_TRUE(kernels::apply(function.function, target, x, std::span<Real>(y)).ok());
  return y;
}

TEST(SimdMathErrors, FloatsOfEverySizeOnEveryTarget) {
  for (const char* const name : kNames) {
    const NamedFunction function = find_function(name).value();
    std::vector<float> x = sample<float, std::uint32_t>(function.function, 300);
    add_even_sample(function.function, 150'000, x);
    const ElementaryArguments arguments = reference::evaluate(function.exact, x);
    for (const std::string& target : kernels::target_names()) {
      SCOPED_TRACE(std::string(name) + " " + target);
      const ElementaryTally found =
          reference::judge(function.exact, arguments, results_of(function, target, arguments.known),
                           results_of(function, target, arguments.measured));
      EXPECT_TRUE(declared_holds(function, target, found))
          << found.wrong << " wrong, first " << found.first_wrong.value_or(0) << "; relative "
          << found.relative.error << " at " << found.relative.x << "; subnormal "
          << found.subnormal.error << " at " << found.subnormal.x;
      EXPECT_GT(found.ulp.error, 0.5) << "nothing was looked at";
    }
  }
}

/// A double whose exact result is a finite number that is not 0.
bool is_measured(const NamedFunction& function, double x) {
  if (!std::isfinite(x) || x == 0) return false;
  if (function.function == MathFunction::log) return x > 0 && x != 1;
  if (function.function == MathFunction::tanh) return true;
  return x >= -746 && x <= 0x1.62e42fefa39efp+9;  // ln(2^1024)
}

TEST(SimdMathErrors, DoublesOfEverySizeOnEveryTarget) {
  for (const char* const name : kNames) {
    const NamedFunction function = find_function(name).value();
    std::vector<double> x = sample<double, std::uint64_t>(function.function, 0);
    add_even_sample(function.function, 6'000, x);
    std::erase_if(x, [&](double each) { return !is_measured(function, each); });
    for (const std::string& target : kernels::target_names()) {
      SCOPED_TRACE(std::string(name) + " " + target);
      const bool fused = kernels::has_fused_multiply_add(target).value();
      const kernels::MathError declared = kernels::declared_error<double>(function.function, fused);
      const std::vector<double> y = results_of(function, target, x);
      double worst = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        ASSERT_FALSE(std::isnan(y[i])) << x[i];
        const ElementaryError error = reference::exact_error(function.exact, x[i], y[i]);
        if (!error.subnormal) worst = std::max(worst, error.relative);
        EXPECT_LE(error.subnormal ? error.ulp : error.relative,
                  error.subnormal ? declared.subnormal : declared.relative)
            << x[i];
      }
      EXPECT_GT(worst, 0.5) << "nothing was looked at";
      RecordProperty(std::string(name) + "_" + target, std::to_string(worst));
    }
  }
}

TEST(SimdMathErrors, WhatIsBeyondTheDeclarationShows) {
  for (const std::string& target : kernels::target_names())
    for (const char* const name : kNames) {
      const NamedFunction function = find_function(name).value();
      const kernels::MathError declared = declared_of(function, target);
      ElementaryTally found;
      found.relative.error = declared.relative;
      found.subnormal.error = declared.subnormal;
      EXPECT_TRUE(declared_holds(function, target, found));
      ElementaryTally worse = found;
      worse.relative.error = std::nextafter(declared.relative, 10.0);
      EXPECT_FALSE(declared_holds(function, target, worse));
      worse = found;
      worse.subnormal.error = std::nextafter(declared.subnormal, 10.0);
      EXPECT_FALSE(declared_holds(function, target, worse));
      worse = found;
      worse.wrong = 1;
      EXPECT_FALSE(declared_holds(function, target, worse));
    }
}

void expect_same(const ElementaryTally& left, const ElementaryTally& right) {
  EXPECT_EQ(left.arguments, right.arguments);
  EXPECT_EQ(left.not_rounded, right.not_rounded);
  EXPECT_EQ(left.wrong, right.wrong);
  EXPECT_EQ(left.first_wrong, right.first_wrong);
  EXPECT_EQ(left.ulp, right.ulp);
  EXPECT_EQ(left.relative, right.relative);
  EXPECT_EQ(left.subnormal, right.subnormal);
}

TEST(ExhaustiveRun, ThreadsDoNotChangeWhatIsFound) {
  const NamedFunction function = find_function("exp").value();
  const std::vector<std::string> targets{kernels::target_names().front()};
  const Index first = Index{0xc2ae0000} / kBlockArguments;  // near -87, results become subnormal
  const auto alone = judge_blocks(function, targets, first, first + 3, 1);
  const auto together = judge_blocks(function, targets, first, first + 3, 3);
  for (std::size_t i = 0; i < 3; ++i) expect_same(alone[i][0], together[i][0]);
  EXPECT_EQ(alone[0][0].arguments, kBlockArguments);
}

TEST(ExhaustiveState, ComesBackAsItWas) {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("attest-exhaustive-" + std::to_string(getpid()));
  ExhaustiveState state{"log", 17, 2.5, {{"AVX2", {}}, {"SSE4", {}}}};
  state.targets[0].found = {100, 3, 1, -0.0F, {0.75, 0x1.1p-149F}, {1.5, 0.1F}, {0.25, 0}};
  ASSERT_TRUE(save_exhaustive(path, state).ok());
  const Result<ExhaustiveState> loaded = load_exhaustive(path);
  std::filesystem::remove(path);
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  EXPECT_EQ(loaded.value().function, "log");
  EXPECT_EQ(loaded.value().blocks_done, 17);
  EXPECT_EQ(loaded.value().seconds, 2.5);
  ASSERT_EQ(loaded.value().targets.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(loaded.value().targets[i].name, state.targets[i].name);
    expect_same(loaded.value().targets[i].found, state.targets[i].found);
  }
  EXPECT_FALSE(load_exhaustive(path).ok()) << "the file is gone";
}

}  // namespace
}  // namespace attest::cli
