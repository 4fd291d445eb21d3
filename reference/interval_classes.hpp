// The keys of a row by exact score. Where all classes have the same mean value, the output is it.
#pragma once

#include <cstddef>
#include <vector>

#include "reference/interval_rounding.hpp"
#include "reference/row.hpp"

namespace attest::reference {

/// Holds every score of finite doubles exactly: 2^-2148 divides the products, which are below
/// 2^2048; scale and addends make that 2^-3222 and 2^3072, and 2^53 terms add 53 bits.
inline constexpr int kScoreBits = 6400;
/// Holds every sum of at most 2^53 values less as many times a boundary of a format: 2^-1075
/// divides it, and it is below 2^1078.
inline constexpr int kValueBits = 2304;

struct ScoreClasses {
  /// The keys of each class, none empty; the number of keys stands for the sink.
  std::vector<std::vector<std::size_t>> members;
};

/// Precondition: every number of the row is finite, and the row is not empty.
ScoreClasses classify(const Row& row);

/// The sum of v in this column, per class, exact.
std::vector<Scratch> value_sums(const ScoreClasses& classes, const Row& row, std::size_t column);

/// Whether all classes have the same mean, given their value_sums.
bool means_agree(const ScoreClasses& classes, const std::vector<Scratch>& sums);

}  // namespace attest::reference
