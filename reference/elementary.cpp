#include "reference/elementary.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "reference/exp_double_double.hpp"

// u = 2^-53. Everything rests on exp_double_double(), whose relative error is below 2^-100 for the
// arguments here (|x| <= 210).
namespace attest::reference {
namespace {

constexpr std::size_t kBlock = 512;

struct Block {
  std::array<double, kBlock> argument{};
  std::array<double, kBlock> zero{};
  std::array<double, kBlock> high{};
  std::array<double, kBlock> low{};

  void exponentiate(std::size_t count) {
    exp_double_double(argument.data(), zero.data(), count, high.data(), low.data());
  }
};

bool all_below(std::span<const float> x, float size) {
  return std::all_of(x.begin(), x.end(), [&](float each) { return std::abs(each) < size; });
}

/// The higher part of a double-word is off by u at most. Below 2^-26, exp(x) = 1 + x + x^2/2 + ...
/// where the rest is below 1.1 u / 2, and the sum is one rounding: below 1.6 u.
void exp_block(std::span<const float> x, double* results, Block& block) {
  if (all_below(x, 0x1p-26F)) {
    std::transform(x.begin(), x.end(), results, [](float each) { return 1.0 + each; });
    return;
  }
  std::copy(x.begin(), x.end(), block.argument.begin());
  block.exponentiate(x.size());
  std::copy(block.high.begin(), block.high.begin() + static_cast<std::ptrdiff_t>(x.size()),
            results);
}

/// tanh(x) = (1 - E) / (1 + E) with E = exp(-2 |x|). From 2^-12 on, 1 - E > 2^-12, so that E's
/// error counts 2^-88; there are three roundings in the numerator (one where 1 - high is exact, by
/// Sterbenz), two in the denominator and one of the quotient: below 6.1 u.
/// Below 2^-12: tanh(x) = x (1 - z/3 + 2 z^2/15 - ...) with z = x^2 < 2^-24. What is left out is
/// below 17/315 z^3 < 2^-76; the roundings count 2^-24 of u but for the last two: below 2.1 u.
void tanh_block(std::span<const float> x, double* results, Block& block) {
  const auto near_zero = [](double value) {
    const double z = value * value;
    return value * (1 - z * (1.0 / 3 - z * (2.0 / 15)));
  };
  if (all_below(x, 0x1p-12F)) {
    std::transform(x.begin(), x.end(), results, near_zero);
    return;
  }
  for (std::size_t i = 0; i < x.size(); ++i)
    block.argument[i] = -2 * static_cast<double>(std::abs(x[i]));
  block.exponentiate(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double size = (1 - block.high[i] - block.low[i]) / (1 + block.high[i] + block.low[i]);
    results[i] = std::abs(x[i]) < 0x1p-12F ? near_zero(x[i])
                                           : std::copysign(size, static_cast<double>(x[i]));
  }
}

/// With any y near log(x): log(x) = y + log(1 + d), d = x exp(-y) - 1. |d| < 2^-40 is checked, so
/// that log(1 + d) = d - d^2/2 up to 2^-80 d. d is off by 2^-99: from exp, and from roundings that
/// are relative to d. The logarithm is 2^-25 at least, so this counts 2^-74; the sum is one
/// rounding: below 1.1 u. Where the check fails the result is NaN, and then nothing is close to it.
void log_block(std::span<const float> x, double* results, Block& block) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    results[i] = std::log(static_cast<double>(x[i]));
    block.argument[i] = -results[i];
  }
  block.exponentiate(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double value = x[i];
    const double d = std::fma(value, block.high[i], -1.0) + value * block.low[i];
    const double y = results[i] + (d - d * d / 2);
    results[i] = std::abs(d) < 0x1p-40 ? y : std::numeric_limits<double>::quiet_NaN();
  }
}

}  // namespace

std::optional<float> known_result(Elementary function, float x) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  if (std::isnan(x)) return kNan;
  switch (function) {
    case Elementary::exp:
      if (x < -104) return 0.0F;
      if (x > 89) return kInfinity;
      if (x == 0) return 1.0F;
      return std::nullopt;
    case Elementary::tanh:
      if (x == 0) return x;
      if (std::abs(x) >= 10) return std::copysign(1.0F, x);
      return std::nullopt;
    case Elementary::log:
      if (x < 0) return kNan;
      if (x == 0) return -kInfinity;
      if (x == 1) return 0.0F;
      if (x == kInfinity) return x;
      return std::nullopt;
  }
  return std::nullopt;
}

ElementaryArguments evaluate(Elementary function, std::span<const float> x) {
  ElementaryArguments sorted;
  for (const float argument : x) {
    if (const std::optional<float> result = known_result(function, argument)) {
      sorted.known.push_back(argument);
      sorted.known_results.push_back(*result);
    } else {
      sorted.measured.push_back(argument);
    }
  }
  sorted.exact.resize(sorted.measured.size());
  Block block;
  for (std::size_t first = 0; first < sorted.measured.size(); first += kBlock) {
    const std::size_t count = std::min(kBlock, sorted.measured.size() - first);
    const std::span<const float> part = std::span(sorted.measured).subspan(first, count);
    double* const results = sorted.exact.data() + first;
    if (function == Elementary::exp) exp_block(part, results, block);
    if (function == Elementary::tanh) tanh_block(part, results, block);
    if (function == Elementary::log) log_block(part, results, block);
  }
  return sorted;
}

}  // namespace attest::reference
