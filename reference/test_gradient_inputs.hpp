// Inputs of backward passes: hand-made, and drawn at random to be hard.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

#include "attest/gradient_bound.hpp"
#include "reference/gradients.hpp"

namespace attest::reference {

inline GradientFacts gradient_facts(const GradientInputs& inputs, int bits = 128) {
  std::optional<GradientFacts> facts = enclose_gradients(inputs, bits);
  EXPECT_TRUE(facts.has_value());
  return std::move(facts).value_or(GradientFacts{});
}

/// One row over keys of exact scores: head_dim 1, q = 1, one value column.
inline GradientInputs scored_gradients(std::vector<double> scores, std::vector<double> values,
                                       double output_gradient, double lse_gradient) {
  GradientInputs inputs;
  inputs.keys = static_cast<Index>(scores.size());
  inputs.k = std::move(scores);
  inputs.v = std::move(values);
  GradientRow row;
  row.q = {1};
  row.output_gradient = {output_gradient};
  row.lse_gradient = lse_gradient;
  for (Index j = 0; j < inputs.keys; ++j) row.keys.push_back(j);
  inputs.rows = {row};
  return inputs;
}

/// Draws inputs whose numbers are all exact in Real.
template <class Real>
class GradientDraw {
 public:
  explicit GradientDraw(std::uint64_t seed) : random_(seed) {}

  GradientInputs next() {
    const Index keys = between(1, 8);
    return of_shape(keys, between(1, 4), between(1, 4), between(1, 5));
  }
  GradientInputs long_rows() { return of_shape(between(50, 150), between(8, 24), 5, 8); }

  bool one_in(std::uint64_t chances) { return random_() % chances == 0; }
  /// In (-1, 1).
  double unit() { return std::ldexp(static_cast<double>(random_() >> 11U), -52) - 1; }
  static double stored(double x) { return static_cast<double>(static_cast<Real>(x)); }

 private:
  static constexpr int kDepth = std::is_same_v<Real, float> ? 140 : 1060;
  static constexpr int kLargest = std::is_same_v<Real, float> ? 127 : 1023;

  GradientInputs of_shape(Index keys, Index head_dim, Index head_dim_v, Index rows) {
    GradientInputs inputs;
    inputs.keys = keys;
    inputs.head_dim = head_dim;
    inputs.head_dim_v = head_dim_v;
    // Exact scores or values leave nothing for other errors to hide behind.
    exact_scores_ = one_in(6);
    exact_values_ = one_in(6);
    tiny_products_ = !exact_scores_ && !exact_values_ && one_in(8);
    inputs.scale = one_in(2) ? 1 / std::sqrt(static_cast<double>(inputs.head_dim))
                             : std::ldexp(unit(), static_cast<int>(between(-2, 2)));
    if (exact_scores_) inputs.scale = std::ldexp(1, static_cast<int>(between(-4, 0)));
    // k subnormal and q large, or both of the size of a root.
    tiny_k_ = one_in(2) ? -kLargest : -kLargest / 2;
    large_q_ = tiny_k_ == -kLargest ? 6 : 0;
    if (tiny_products_) inputs.scale = std::ldexp(1.5, kLargest - large_q_);
    inputs.scale = stored(inputs.scale);
    if (one_in(3))
      inputs.softcap =
          stored(std::ldexp(1 + std::abs(unit()), one_in(3) ? kLargest - 2 : between_int(-1, 5)));
    inputs.bias_before_softcap = one_in(2);
    draw_keys(inputs);
    draw_values(inputs);
    int gradient_size = one_in(6) ? between_int(-kDepth, 20) : 0;
    if (tiny_products_) gradient_size = -30;  // the scale would let dq and dk overflow
    for (Index i = 0; i < rows; ++i) inputs.rows.push_back(row(inputs, gradient_size));
    return inputs;
  }

  Index between(Index low, Index high) {
    return low + static_cast<Index>(random_() % static_cast<std::uint64_t>(high - low + 1));
  }
  int between_int(Index low, Index high) { return static_cast<int>(between(low, high)); }
  double integer() { return static_cast<double>(between(-8, 8)); }
  double sized(int exponent) { return stored(std::ldexp(unit(), exponent)); }

  void draw_keys(GradientInputs& inputs) {
    const auto count = static_cast<std::size_t>(inputs.keys * inputs.head_dim);
    const double offset = one_in(6) ? 64 : 0;
    const bool ascending = one_in(5);
    if (exact_scores_ || tiny_products_) {
      for (std::size_t at = 0; at < count; ++at)
        inputs.k.push_back(exact_scores_ ? integer() : sized(tiny_k_ + 1));
      return;
    }
    const int size = one_in(8) ? between_int(-kDepth, 0) : between_int(-2, 3);
    for (std::size_t at = 0; at < count; ++at)
      inputs.k.push_back(
          stored(sized(size) + offset + (ascending ? static_cast<double>(at / 2) : 0)));
  }

  void draw_values(GradientInputs& inputs) {
    const auto count = static_cast<std::size_t>(inputs.keys * inputs.head_dim_v);
    const std::uint64_t family = exact_values_ ? 6 : tiny_products_ ? 5 : random_() % 6;
    const int huge = between_int(10, 60);
    const int tiny = -between_int(20, kDepth);
    for (std::size_t at = 0; at < count; ++at) {
      if (family == 0) inputs.v.push_back(sized(huge));
      if (family == 1) inputs.v.push_back(sized(tiny));
      if (family == 2) inputs.v.push_back(sized(one_in(2) ? huge / 2 : -kDepth / 2));
      if (family == 3) inputs.v.push_back(stored(1000 + sized(0)));  // dP and D cancel
      if (family == 6) inputs.v.push_back(integer());
      if (family == 4 || family == 5) inputs.v.push_back(sized(1));
    }
  }

  GradientRow row(const GradientInputs& inputs, int gradient_size) {
    GradientRow row;
    const int size = between_int(-3, 4);
    for (Index c = 0; c < inputs.head_dim; ++c)
      row.q.push_back(exact_scores_    ? integer()
                      : tiny_products_ ? sized(large_q_ - kLargest - tiny_k_)
                                       : sized(size));
    const bool alternating = one_in(4);  // dout . o cancels where o is nearly constant
    for (Index c = 0; c < inputs.head_dim_v; ++c)
      row.output_gradient.push_back(exact_values_ ? integer()
                                    : alternating ? std::ldexp(c % 2 == 0 ? 1 : -1, gradient_size)
                                                  : sized(gradient_size));
    if (one_in(2)) row.lse_gradient = sized(one_in(4) && !tiny_products_ ? 20 : gradient_size);
    const bool all = one_in(2);
    for (Index j = 0; j < inputs.keys; ++j)
      if (all || one_in(2)) row.keys.push_back(j);
    const int bias_size = one_in(3) ? 8 : 2;
    for (int addend = 0; addend < 3 && one_in(2); ++addend) {
      row.addends.emplace_back().before_softcap = one_in(2);
      for (std::size_t j = 0; j < row.keys.size(); ++j)
        row.addends.back().value.push_back(sized(bias_size));
    }
    if (one_in(3)) row.sink = sized(3);
    return row;
  }

  std::mt19937_64 random_;
  // Of the problem at hand.
  bool exact_scores_ = false, exact_values_ = false, tiny_products_ = false;
  int tiny_k_ = 0;
  int large_q_ = 0;
};

}  // namespace attest::reference
