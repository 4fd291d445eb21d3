// What the stages of the fast oracle share: a row as plain arrays, and its intermediate results.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "reference/row.hpp"

namespace attest::reference {

/// Half an ulp of 1, the u of every error term.
inline constexpr double kUnit = 0x1p-53;
inline constexpr double kUnit2 = kUnit * kUnit;
/// Error terms are summed in double: every sum here has fewer than 2^40 roundings, each a factor
/// below 1 + 2^-52, so that this factor outweighs them all.
inline constexpr double kRoundUp = 1 + 0x1p-10;
/// The smallest double, which bounds what an underflow loses.
inline constexpr double kTiny = 0x1p-1074;

/// Weights whose argument s_j - M is below this are not formed, only bounded: exp(-600) < 2^-865.
inline constexpr double kLowestArgument = -600;
inline constexpr double kDroppedWeight = 0x1p-865;
/// Beyond this the error of a score is not small, and the row is left to MPFR.
inline constexpr double kLargestScoreError = 0x1p-50;

/// Per-key arrays have room for whole vectors: their size is a multiple of this.
inline constexpr std::size_t kKeyPadding = 8;

/// The state of one evaluation. Arrays over keys hold the visible keys, then the sink, if there is
/// one, then padding of weight zero.
struct FastRow {
  explicit FastRow(const Row& asked);

  const Row& row;
  std::size_t visible;  ///< visible keys
  std::size_t keys;     ///< with the sink
  std::size_t dim;      ///< head_dim
  std::size_t columns;  ///< head_dim_v

  std::vector<double> score_high, score_low;  ///< double-words
  std::vector<double> score_error;            ///< |high + low - exact|
  std::vector<double> score_magnitude;        ///< |scale| sum |q k|, upper bound
  double score_max = 0;                       ///< largest score_high
  double dot_magnitude_max = 0;               ///< upper bound
  double key_size_max = 0;                    ///< largest sum |k|, upper bound
  bool finite = true;                         ///< all of the above

  std::vector<double> weight_high, weight_low;  ///< exp(score - score_max); 0: dropped
  std::vector<double> weight_error;             ///< |weight - exact|
  double error_max = 0;              ///< largest error of an argument that is not dropped
  double sum_high = 0, sum_low = 0;  ///< of the weights
  double sum_error = 0;              ///< relative to the computed sum

  std::vector<double> numerator_high, numerator_low;  ///< per column, padded
  std::vector<double> numerator_error;                ///< |numerator - exact|, padded
};

}  // namespace attest::reference
