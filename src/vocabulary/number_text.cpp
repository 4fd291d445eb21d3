#include <array>
#include <charconv>
#include <cmath>

#include "attest/element.hpp"
#include "attest/problem_text.hpp"

namespace attest {
namespace {

template <class Real>
std::string shortest(Real value) {
  std::array<char, 64> buffer{};
  return {buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr};
}

/// A finite number as digits * 10^exponent, with the nearest `count` digits.
struct Decimal {
  std::int64_t digits = 0;
  int exponent = 0;
};

Decimal nearest_decimal(double magnitude, int count) {
  std::array<char, 64> buffer{};
  char* const begin = buffer.data();
  const auto written = std::to_chars(begin, begin + buffer.size(), magnitude,
                                     std::chars_format::scientific, count - 1);
  Decimal decimal;
  const char* at = begin;
  for (; *at != 'e'; ++at)
    if (*at != '.') decimal.digits = decimal.digits * 10 + (*at - '0');
  at += at[1] == '+' ? 2 : 1;
  std::from_chars(at, written.ptr, decimal.exponent);
  decimal.exponent -= count - 1;
  return decimal;
}

double to_double(const Decimal& decimal) {
  const std::string text = std::to_string(decimal.digits) + "e" + std::to_string(decimal.exponent);
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// The decimal of fewest digits that rounds to `magnitude`. Beside a power of two the nearest one
/// may round away to the narrower side while a neighbour does not, so that the neighbours count.
double shortest_decimal(double magnitude, Dtype dtype) {
  constexpr int kMostDigits = 9;  // enough for f32, so for every narrower type
  for (int count = 1; count < kMostDigits; ++count) {
    const Decimal nearest = nearest_decimal(magnitude, count);
    for (const std::int64_t step : {0, 1, -1}) {
      const double candidate = to_double({nearest.digits + step, nearest.exponent});
      if (rounded_to(dtype, candidate) == magnitude) return candidate;
    }
  }
  return magnitude;
}

}  // namespace

std::string number_text(double value, Dtype dtype) {
  if (dtype == Dtype::f64 || !std::isfinite(value) || value == 0) return shortest(value);
  if (dtype == Dtype::f32) return shortest(static_cast<float>(value));
  const std::string exact = shortest(value);
  std::string rounded = shortest(std::copysign(shortest_decimal(std::abs(value), dtype), value));
  return rounded.size() < exact.size() ? rounded : exact;
}

}  // namespace attest
