// Weights and sums of the fast oracle on vectors. Error terms: docs/numerics.md, "Fast oracle".

#if defined(ATTEST_REFERENCE_ORACLE_FAST_SUMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_REFERENCE_ORACLE_FAST_SUMS_INL_H_
#undef ATTEST_REFERENCE_ORACLE_FAST_SUMS_INL_H_
#else
#define ATTEST_REFERENCE_ORACLE_FAST_SUMS_INL_H_
#endif

#include <algorithm>
#include <array>
#include <cmath>

#include "reference/exp_double_double-inl.h"
#include "reference/exp_double_double.hpp"
#include "reference/oracle_fast_row.hpp"
#include "reference/oracle_fast_scores-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attest::reference::HWY_NAMESPACE {

/// exp(s_j - M) and their sum. The sum is a tree of two levels, so that few roundings are in line.
void weigh_keys(FastRow& fast) {
  const Tag d;
  constexpr std::size_t kRun = 16;
  const Vector shift = set(-fast.score_max);
  const Vector lowest = set(kLowestArgument);
  Vector error_max = set(0);
  Vector errors = set(0);
  Double sum{set(0), set(0)};
  const std::size_t padded = fast.score_high.size();
  for (std::size_t run = 0; run < padded; run += kRun * kLanes) {
    Double part{set(0), set(0)};
    for (std::size_t j = run; j < std::min(run + kRun * kLanes, padded); j += kLanes) {
      const Double score{hn::LoadU(d, fast.score_high.data() + j),
                         hn::LoadU(d, fast.score_low.data() + j)};
      const Double x = add(score, shift);
      const Vector distance = hn::Abs(x.high);
      const Vector error =
          fused(distance, 2 * kUnit2 * kRoundUp, hn::LoadU(d, fast.score_error.data() + j));
      const auto dropped = hn::Lt(hn::Add(x.high, error), lowest);
      const Double clamped{hn::Max(x.high, lowest), hn::IfThenZeroElse(dropped, x.low)};
      const Double full = exp(clamped);
      const Double weight{hn::IfThenZeroElse(dropped, full.high),
                          hn::IfThenZeroElse(dropped, full.low)};
      // exp(t) - 1 <= t (1 + t), and t is small.
      const Vector relative =
          fused(hn::Abs(clamped.high), 0x1.1p-105, hn::Add(error, set(0x1p-102)));
      const Vector absolute = hn::IfThenElse(
          dropped, set(kDroppedWeight), hn::Mul(hn::Mul(weight.high, relative), set(kRoundUp)));
      error_max = hn::Max(error_max, hn::IfThenZeroElse(dropped, error));
      errors = hn::Add(errors, absolute);
      hn::StoreU(weight.high, d, fast.weight_high.data() + j);
      hn::StoreU(weight.low, d, fast.weight_low.data() + j);
      hn::StoreU(absolute, d, fast.weight_error.data() + j);
      part = add(part, weight);
    }
    sum = add(sum, part);
  }
  HWY_ALIGN std::array<double, kLanes> high;
  HWY_ALIGN std::array<double, kLanes> low;
  hn::Store(sum.high, d, high.data());
  hn::Store(sum.low, d, low.data());
  Double whole{set(high[0]), set(low[0])};
  for (std::size_t lane = 1; lane < kLanes; ++lane)
    whole = add(whole, Double{set(high[lane]), set(low[lane])});
  fast.sum_high = hn::GetLane(whole.high);
  fast.sum_low = hn::GetLane(whole.low);
  fast.error_max = hn::GetLane(hn::MaxOfLanes(d, error_max));
  const double runs = static_cast<double>(padded / (kRun * kLanes) + 1);
  const double depth = static_cast<double>(kRun + kLanes) + runs;
  fast.sum_error =
      kRoundUp * (hn::GetLane(hn::SumOfLanes(d, errors)) / fast.sum_high + 4 * kUnit2 * depth);
}

// -- values ---------------------------------------------------------------------------------------

/// Keys in one run of plain compensated summation; runs are then added as double-words.
inline constexpr std::size_t kValueRun = 32;

struct ValueSums {
  Vector sum;
  Vector rest;
  Vector error;  ///< sum of the weights' errors times |v|
};

template <std::size_t kCount, class Load>
HWY_INLINE void sum_columns(FastRow& fast, std::size_t first, std::size_t last, std::size_t column,
                            Load load) {
  const Tag d;
  std::array<ValueSums, kCount> sums;
  for (ValueSums& each : sums) each = {set(0), set(0), set(0)};
  const double* v = fast.row.v.data() + first * fast.columns + column;
  for (std::size_t j = first; j < last; ++j, v += fast.columns) {
    const Vector high = set(fast.weight_high[j]);
    const Vector low = set(fast.weight_low[j]);
    const Vector error = set(fast.weight_error[j]);
    for (std::size_t i = 0; i < kCount; ++i) {
      ValueSums& s = sums[i];
      const Vector value = load(v + i * kLanes);
      const Double product = two_product(high, value);
      const Double step = two_sum(s.sum, product.high);
      s.sum = step.high;
      s.rest = hn::Add(s.rest, hn::Add(step.low, hn::MulAdd(low, value, product.low)));
      s.error = hn::MulAdd(error, hn::Abs(value), s.error);
    }
  }
  for (std::size_t i = 0; i < kCount; ++i) {
    const std::size_t at = column + i * kLanes;
    const Double whole = add(Double{hn::LoadU(d, fast.numerator_high.data() + at),
                                    hn::LoadU(d, fast.numerator_low.data() + at)},
                             two_sum(sums[i].sum, sums[i].rest));
    hn::StoreU(whole.high, d, fast.numerator_high.data() + at);
    hn::StoreU(whole.low, d, fast.numerator_low.data() + at);
    double* const error = fast.numerator_error.data() + at;
    hn::StoreU(hn::Add(hn::LoadU(d, error), sums[i].error), d, error);
  }
}

void sum_values(FastRow& fast) {
  const Tag d;
  // (7) of the notes: what a numerator's own roundings add to the share of each weight.
  constexpr double kRun = kValueRun;
  const double runs = static_cast<double>(fast.visible / kValueRun + 1);
  const double share = kRoundUp * kUnit2 * (kRun * kRun / 2 + 4 * kRun + 8 + 4 * runs);
  for (std::size_t j = 0; j < fast.visible; ++j)
    fast.weight_error[j] += share * fast.weight_high[j];
  const auto whole = [](const double* at) HWY_ATTR { return hn::LoadU(Tag(), at); };
  for (std::size_t first = 0; first < fast.visible; first += kValueRun) {
    const std::size_t last = std::min(first + kValueRun, fast.visible);
    std::size_t column = 0;
    for (; column + 2 * kLanes <= fast.columns; column += 2 * kLanes)
      sum_columns<2>(fast, first, last, column, whole);
    for (; column + kLanes <= fast.columns; column += kLanes)
      sum_columns<1>(fast, first, last, column, whole);
    if (column < fast.columns) {
      const auto mask = hn::FirstN(d, fast.columns - column);
      sum_columns<1>(fast, first, last, column,
                     [mask](const double* at) HWY_ATTR { return hn::MaskedLoad(mask, Tag(), at); });
    }
  }
}

}  // namespace attest::reference::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggle of the include guard
