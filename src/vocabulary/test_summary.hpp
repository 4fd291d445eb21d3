// Summaries of known, random and poisoned keys, in both element types.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "attest/random.hpp"
#include "attest/summary.hpp"
#include "test_real_types.hpp"

namespace attest {

template <class Real>
class SummaryOf : public ::testing::Test {
 protected:
  using Bits = std::conditional_t<std::is_same_v<Real, float>, std::uint32_t, std::uint64_t>;

  static constexpr Real kInfinity = std::numeric_limits<Real>::infinity();
  static constexpr Real kNan = std::numeric_limits<Real>::quiet_NaN();

  static std::vector<Bits> bits_of(Real first, const std::vector<Real>& others) {
    std::vector<Bits> bits{std::bit_cast<Bits>(first)};
    for (const Real other : others) bits.push_back(std::bit_cast<Bits>(other));
    return bits;
  }
  static std::vector<Bits> bits_of(const RowSummary<Real>& summary) {
    std::vector<Bits> bits = bits_of(summary.row_max, summary.numerator);
    bits.push_back(std::bit_cast<Bits>(summary.row_sum));
    return bits;
  }
  static std::vector<Bits> bits_of(const NormalisedRow<Real>& row) {
    return bits_of(row.lse, row.output);
  }

  struct Key {
    Real score;
    std::vector<Real> value;
  };

  static RowSummary<Real> summary_of(const std::vector<Key>& keys, Index columns) {
    auto summary = RowSummary<Real>::identity(columns);
    for (const Key& key : keys) absorb(summary, key.score, std::span<const Real>(key.value));
    return summary;
  }

  static std::vector<Real> output_of(const RowSummary<Real>& summary) {
    std::vector<Real> output(summary.numerator.size(), Real(-1));
    finalize(summary, std::span<Real>(output));
    return output;
  }

  static bool is_all_nan(const RowSummary<Real>& summary) {
    bool all = std::isnan(summary.row_sum) && std::isnan(lse(summary));
    for (const Real element : summary.numerator) all = all && std::isnan(element);
    for (const Real element : output_of(summary)) all = all && std::isnan(element);
    return all;
  }

  /// In [-1, 1).
  static Real random_unit(SplitMix64& random) {
    return std::ldexp(static_cast<Real>(random.below(1U << 24)), -23) - 1;
  }
  /// Scores of very different sizes, values of both signs, zero to seven keys.
  static RowSummary<Real> random_summary(SplitMix64& random, Index columns) {
    std::vector<Key> keys(random.below(8));
    const int size = static_cast<int>(random.below(12)) - 4;
    for (Key& key : keys) {
      key.score = std::ldexp(random_unit(random), size);
      for (Index column = 0; column < columns; ++column) key.value.push_back(random_unit(random));
    }
    return summary_of(keys, columns);
  }
};

TYPED_TEST_SUITE(SummaryOf, RealTypes, RealName);

}  // namespace attest
