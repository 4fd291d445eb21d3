#include "reference/oracle_fast.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

// Vectors of a size that is not known at compile time cannot be members.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference/oracle_fast.cpp"
#include "hwy/foreach_target.h"  // compiles this file once for each target

#include "hwy/highway.h"
#include "reference/oracle_fast_sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attest::reference::HWY_NAMESPACE {

void score_row(FastRow& fast) {
  if (fast.row.exact_products)
    score_visible_keys<true>(fast);
  else
    score_visible_keys<false>(fast);
}

void weigh_row(FastRow& fast) {
  weigh_keys(fast);
  sum_values(fast);
}

/// log(sum of the weights) = result + at most `error`, given any approximation `near`:
/// log L = near + log(1 + z) with z = L exp(-near) - 1, which is tiny when `near` is a logarithm.
bool log_of_sum(const FastRow& fast, double near, Enclosure& result) {
  if (!(std::abs(near) <= kExpDomain)) return false;
  const hn::CappedTag<double, 1> d;
  using One = Pair<hn::Vec<decltype(d)>>;
  const One sum{hn::Set(d, fast.sum_high), hn::Set(d, fast.sum_low)};
  const One inverse = exp(One{hn::Set(d, -near), hn::Zero(d)});
  const One z = add(multiply(sum, inverse), hn::Set(d, -1));
  const double rest = hn::GetLane(z.high);
  if (!(std::abs(rest) <= 0x1p-40)) return false;
  // log(1 + z) = z - z^2 / 2 up to z^3 / 3 < 2^-121.
  const One log_rest = fast_two_sum(z.high, hn::Sub(z.low, hn::Set(d, rest * rest / 2)));
  const One log_sum = add(log_rest, hn::Set(d, near));
  result.high = hn::GetLane(log_sum.high);
  result.low = hn::GetLane(log_sum.low);
  result.radius = kRoundUp * (fast.sum_error + exp_relative_error(near) + 8 * kUnit2 + 0x1p-115 +
                              3 * kUnit2 * (1 + std::abs(near)));
  return true;
}

Enclosure add_shift(const Enclosure& log_sum, double shift) {
  const hn::CappedTag<double, 1> d;
  using One = Pair<hn::Vec<decltype(d)>>;
  const One lse = add(One{hn::Set(d, log_sum.high), hn::Set(d, log_sum.low)}, hn::Set(d, shift));
  Enclosure result{hn::GetLane(lse.high), hn::GetLane(lse.low), 0};
  result.radius = kRoundUp * (log_sum.radius + 2 * kUnit2 * std::abs(result.high));
  return result;
}

void divide_columns(const FastRow& fast, double* high, double* low) {
  const Tag d;
  const Double sum{set(fast.sum_high), set(fast.sum_low)};
  for (std::size_t c = 0; c < fast.numerator_high.size(); c += kLanes) {
    const Double quotient = divide(Double{hn::LoadU(d, fast.numerator_high.data() + c),
                                          hn::LoadU(d, fast.numerator_low.data() + c)},
                                   sum);
    hn::StoreU(quotient.high, d, high + c);
    hn::StoreU(quotient.low, d, low + c);
  }
}

}  // namespace attest::reference::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attest::reference {

HWY_EXPORT(score_row);
HWY_EXPORT(weigh_row);
HWY_EXPORT(log_of_sum);
HWY_EXPORT(add_shift);
HWY_EXPORT(divide_columns);

namespace {

std::size_t padded(std::size_t size) {
  return (size + kKeyPadding - 1) / kKeyPadding * kKeyPadding;
}

/// Numerators below this could lose bits to underflow in the division.
constexpr double kSmallestNumerator = 0x1p-800;
/// What underflows add to a numerator: a few of 2^-1074 for each key, with room.
constexpr double kLostPerKey = 32 * kTiny;

class FastEvaluation {
 public:
  explicit FastEvaluation(const Row& row) : row_(row), fast_(row) {}

  bool run(RowFacts& facts) {
    HWY_DYNAMIC_DISPATCH(score_row)(fast_);
    if (!fast_.finite || !std::isfinite(row_.sink.value_or(0))) return false;
    place_sink_and_padding();
    HWY_DYNAMIC_DISPATCH(weigh_row)(fast_);
    if (!(fast_.error_max <= kLargestScoreError && fast_.sum_error <= kLargestScoreError))
      return false;
    facts = empty_row_facts(row_);
    return fill_sums(facts) && fill_output(facts) && fill_keys(facts);
  }

 private:
  void place_sink_and_padding() {
    if (row_.sink) {
      fast_.score_high[fast_.visible] = *row_.sink;
      fast_.score_error[fast_.visible] = 0;
    }
    const auto begin = fast_.score_high.begin();
    fast_.score_max = *std::max_element(begin, begin + static_cast<Index>(fast_.keys));
    for (std::size_t j = fast_.keys; j < fast_.score_high.size(); ++j) {
      fast_.score_high[j] = -2 * std::abs(fast_.score_max) - 2000;
      fast_.score_low[j] = fast_.score_error[j] = 0;
    }
    if (row_.sink) fast_.score_low[fast_.visible] = 0;
  }

  bool fill_sums(RowFacts& facts) {
    Enclosure log_sum;
    if (!HWY_DYNAMIC_DISPATCH(log_of_sum)(fast_, std::log(fast_.sum_high), log_sum)) return false;
    const double above = log_sum.high + (std::abs(log_sum.low) + log_sum.radius) * kRoundUp;
    facts.log_sum = std::max(0.0, std::nextafter(above, 1e300));
    facts.lse = HWY_DYNAMIC_DISPATCH(add_shift)(log_sum, fast_.score_max);
    return std::isfinite(facts.lse.high) && std::isfinite(facts.lse.radius);
  }

  /// The error of a numerator and of the sum, divided; |o| (L error) for the latter.
  bool fill_output(RowFacts& facts) {
    std::vector<double> high(fast_.numerator_high.size());
    std::vector<double> low(high.size());
    HWY_DYNAMIC_DISPATCH(divide_columns)(fast_, high.data(), low.data());
    const double lost = kLostPerKey * static_cast<double>(fast_.visible + 1);
    for (std::size_t c = 0; c < fast_.columns; ++c) {
      Enclosure& output = facts.output[c];
      const double numerator = std::abs(fast_.numerator_high[c]);
      if (numerator != 0 && !(numerator >= kSmallestNumerator)) return false;
      output.high = high[c];
      output.low = low[c];
      if (fast_.numerator_error[c] == 0 && column_is_zero(c)) continue;
      output.radius = kRoundUp * (kRoundUp * fast_.numerator_error[c] / fast_.sum_high +
                                  std::abs(output.high) * (fast_.sum_error + 16 * kUnit2)) +
                      lost;
      if (!std::isfinite(output.high + output.low) || !std::isfinite(output.radius)) return false;
    }
    return true;
  }

  bool column_is_zero(std::size_t c) const {
    for (std::size_t j = 0; j < fast_.visible; ++j)
      if (row_.v[j * fast_.columns + c] != 0) return false;
    return true;
  }

  bool fill_keys(RowFacts& facts) {
    facts.keys = row_.keys;
    facts.addends = addends_with_sink(row_);
    if (row_.sink) facts.keys.push_back(RowFacts::kSinkKey);
    facts.score_radius.resize(fast_.keys);
    facts.probability.resize(fast_.keys);
    const double inverse = (1 + 0x1p-46) / fast_.sum_high;
    for (std::size_t j = 0; j < fast_.keys; ++j) {
      facts.score_radius[j] = (std::abs(fast_.score_low[j]) + fast_.score_error[j]) * (1 + 0x1p-50);
      facts.probability[j] = fast_.weight_high[j] * inverse;
      if (fast_.weight_high[j] == 0 && !tiny_probability(j, inverse, facts.probability[j]))
        return false;
    }
    fast_.score_high.resize(fast_.keys);
    fast_.score_magnitude.resize(fast_.keys);
    if (row_.sink) fast_.score_magnitude.back() = 0;
    facts.score = std::move(fast_.score_high);
    facts.score_magnitude = std::move(fast_.score_magnitude);
    facts.score_max = fast_.score_max;
    facts.dot_magnitude_max = fast_.dot_magnitude_max;
    double query_size = 0;
    for (const double q : row_.q) query_size += std::abs(q);
    facts.input_magnitude_max =
        (query_size * (1 + 0x1p-52 * static_cast<double>(fast_.dim + 1)) + fast_.key_size_max) *
        (1 + 0x1p-51);
    return std::isfinite(facts.input_magnitude_max);
  }

  bool tiny_probability(std::size_t j, double inverse, double& probability) const;

  const Row& row_;
  FastRow fast_;
};

/// Upper bound of a probability whose weight was dropped: exp(x / 2)^2, scaled so that it is
/// rounded to the subnormal range only once, and upward. False when x is not known well enough.
bool FastEvaluation::tiny_probability(std::size_t j, double inverse, double& probability) const {
  constexpr double kSmallest = std::numeric_limits<double>::denorm_min();
  // The argument as a double-word (TwoSum, then FastTwoSum); nothing in this library is contracted.
  const double difference = fast_.score_high[j] - fast_.score_max;
  const double part = difference - fast_.score_high[j];
  const double lost = (fast_.score_high[j] - (difference - part)) + (-fast_.score_max - part);
  const double rest = lost + fast_.score_low[j];
  const double high = difference + rest;
  const double error = fast_.score_error[j];
  probability = kSmallest;
  // exp(-746) < 2^-1076, and the sum of the weights is at least 1/2.
  if (high + error < -746.5) return true;
  if (!(error <= kLargestScoreError && std::abs(high) <= 2 * kExpDomain)) return false;
  const double half_high = high / 2;
  const double half_low = (rest - (high - difference)) / 2;
  double root_high = 0;
  double root_low = 0;
  exp_double_double(&half_high, &half_low, 1, &root_high, &root_low);
  // root_low, the score's error and every rounding here are shares below 2^-45 together.
  constexpr double kScale = 0x1p200;
  const double scaled = root_high * kScale * root_high * inverse * (1 + 0x1p-42);
  probability = scaled / kScale;
  if (probability * kScale < scaled) probability += kSmallest;
  return true;
}

}  // namespace

FastRow::FastRow(const Row& asked)
    : row(asked),
      visible(asked.keys.size()),
      keys(visible + (asked.sink ? 1 : 0)),
      dim(static_cast<std::size_t>(asked.head_dim)),
      columns(static_cast<std::size_t>(asked.head_dim_v)) {
  for (auto* list : {&score_high, &score_low, &score_error, &score_magnitude, &weight_high,
                     &weight_low, &weight_error})
    list->resize(padded(keys));
  for (auto* list : {&numerator_high, &numerator_low, &numerator_error})
    list->resize(padded(columns));
}

std::optional<RowFacts> enclose_row_fast(const Row& row) {
  if (row.empty()) return empty_row_facts(row);
  if (row.keys.empty()) return std::nullopt;
  std::optional<RowFacts> facts(std::in_place);
  if (!FastEvaluation(row).run(*facts)) return std::nullopt;
  facts->value.reserve(facts->keys.size() * facts->output.size());
  facts->value = row.v;
  facts->value.resize(facts->keys.size() * facts->output.size());
  return facts;
}

}  // namespace attest::reference
#endif  // HWY_ONCE
