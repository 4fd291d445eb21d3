#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "reference/correctly_rounded.hpp"
#include "reference/interval_classes.hpp"
#include "reference/interval_format.hpp"
#include "reference/interval_row.hpp"
#include "reference/precision.hpp"

namespace attest::reference {
namespace {

bool same(double left, double right) {
  return left == right && std::signbit(left) == std::signbit(right);
}

/// What every point of the interval rounds to, if it is one number.
template <int Bits>
std::optional<double> common_rounding(const Interval<Bits>& interval, const Format& format) {
  const double lower = round_to_format(interval.lower(), format);
  if (same(lower, round_to_format(interval.upper(), format))) return lower;
  return std::nullopt;
}

/// sum / size, rounded once: all comparisons are exact.
double round_quotient(mpfr_srcptr sum, double size, const Format& format) {
  if (mpfr_zero_p(sum) != 0) return 0.0;
  Scratch quotient(128);
  mpfr_div_d(quotient.get(), sum, size, MPFR_RNDN);
  const double near = round_to_format(quotient.get(), format);
  // The quotient is nearer to the truth than a step of the format, which is therefore `near` or the
  // neighbour behind one of its two boundaries.
  Scratch scaled(kValueBits);
  const auto side_of = [&](const Neighbour& neighbour) {
    mpfr_mul_d(scaled.get(), neighbour.boundary.get(), size, MPFR_RNDN);
    return mpfr_cmp(sum, scaled.get());
  };
  const double infinity = std::numeric_limits<double>::infinity();
  if (near != infinity) {
    const Neighbour above = neighbour_above(near, format);
    const int side = side_of(above);
    if (side > 0) return above.value;
    if (side == 0) return round_to_format(above.boundary.get(), format);
  }
  if (near != -infinity) {
    const Neighbour below = neighbour_below(near, format);
    const int side = side_of(below);
    if (side < 0) return below.value;
    if (side == 0) return round_to_format(below.boundary.get(), format);
  }
  return near;
}

/// The sign of o - boundary, as that of sum_C exp(s_C) (S_C - n_C boundary) over the classes, whose
/// exact factors leave nothing to cancel but the classes among each other; 0 when not decided.
template <int Bits>
int side_of_boundary(const std::vector<Interval<Bits>>& scores, const ScoreClasses& classes,
                     const std::vector<Scratch>& sums, mpfr_srcptr boundary) {
  std::vector<Interval<Bits>> rest_scores;
  std::vector<Scratch> rest;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    Scratch difference(kValueBits);
    mpfr_mul_d(difference.get(), boundary, static_cast<double>(classes.members[i].size()),
               MPFR_RNDN);
    mpfr_sub(difference.get(), sums[i].get(), difference.get(), MPFR_RNDN);
    if (mpfr_zero_p(difference.get()) != 0) continue;
    rest_scores.push_back(scores[classes.members[i].front()]);
    rest.push_back(std::move(difference));
  }
  if (rest.empty()) return 0;
  // Relative to the largest of these, whose weight then does not underflow.
  const Interval<Bits> shift = shift_below(largest(rest_scores));
  const Weights<Bits, Outward> weights = weigh(std::move(rest_scores), shift);
  Interval<Bits> sum;
  ProductSum<Bits> products;
  for (std::size_t i = 0; i < rest.size(); ++i) products.add(sum, weights.weight[i], rest[i].get());
  if (mpfr_sgn(sum.lower()) > 0) return 1;
  return mpfr_sgn(sum.upper()) < 0 ? -1 : 0;
}

/// The output over the classes, whose sums of values are exact.
template <int Bits>
std::optional<double> round_by_classes(const std::vector<Interval<Bits>>& scores,
                                       const ScoreClasses& classes,
                                       const std::vector<Scratch>& sums, const Format& format) {
  std::vector<Interval<Bits>> class_scores;
  class_scores.reserve(classes.members.size());
  for (const auto& members : classes.members) class_scores.push_back(scores[members.front()]);
  const Interval<Bits> shift = shift_below(largest(class_scores));
  const Weights<Bits, Outward> weights = weigh(std::move(class_scores), shift);
  Interval<Bits> numerator_sum;
  Interval<Bits> row_sum;
  ProductSum<Bits> products;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    products.add(numerator_sum, weights.weight[i], sums[i].get());
    products.add(row_sum, weights.weight[i], static_cast<double>(classes.members[i].size()));
  }
  const Interval<Bits> output = numerator_sum / row_sum;
  if (const auto common = common_rounding<Bits>(output, format)) return common;
  const double lower = round_to_format(output.lower(), format);
  const double upper = round_to_format(output.upper(), format);
  if (std::isnan(lower) || std::isnan(upper)) return std::nullopt;
  const Neighbour above = neighbour_above(lower, format);
  if (!same(above.value, upper)) return std::nullopt;
  const int side = side_of_boundary<Bits>(scores, classes, sums, above.boundary.get());
  if (side == 0) return std::nullopt;
  return side > 0 ? upper : lower;
}

class RowRounding {
 public:
  RowRounding(const Row& row, const Format& format, std::vector<std::size_t> columns)
      : row_(row), format_(format), columns_(std::move(columns)), results_(columns_.size()) {
    for (RoundedOutput& result : results_) result.value = std::numeric_limits<double>::quiet_NaN();
  }

  std::vector<RoundedOutput> run() {
    free_cache_at_thread_end();
    const bool finite =
        has_finite_terms(row_) && (row_.keys.empty() || (all_finite(row_.q) && all_finite(row_.k)));
    if (!finite) return std::move(results_);
    for (std::size_t i = 0; i < columns_.size(); ++i) decide_equal_values(i);
    if (all_decided() || !try_all_keys()) return std::move(results_);
    if (all_decided()) return std::move(results_);
    classes_ = classify(row_);
    sums_.resize(columns_.size());
    for (std::size_t i = 0; i < columns_.size(); ++i) decide_rational(i);
    for (const int bits : kPrecisionLadder)
      with_precision(bits, [&](auto constant) { try_classes<constant()>(); });
    return std::move(results_);
  }

 private:
  bool all_decided() const {
    return std::all_of(results_.begin(), results_.end(),
                       [](const RoundedOutput& result) { return result.decided; });
  }
  double value(std::size_t key, std::size_t i) const {
    return row_.v[key * static_cast<std::size_t>(row_.head_dim_v) + columns_[i]];
  }
  void decide(std::size_t i, double value, bool exact, int bits) {
    results_[i] = {value, true, exact, bits};
  }

  void decide_equal_values(std::size_t i) {
    const double first = row_.sink || row_.keys.empty() ? 0.0 : value(0, i);
    for (std::size_t key = 0; key < row_.keys.size(); ++key)
      if (value(key, i) != first) return;
    decide(i, first == 0 ? 0.0 : round_to_format(first, format_), true, 0);
  }

  /// False when a score is beyond the doubles.
  bool try_all_keys() {
    constexpr int kBits = kPrecisionLadder.front();
    std::vector<Interval<kBits>> scores = enclose_scores<kBits, Outward>(row_);
    for (const auto& score : scores)
      if (!std::isfinite(mpfr_get_d(score.upper(), MPFR_RNDN))) return false;
    const Interval<kBits> shift = shift_below(largest(scores));
    const Weights<kBits, Outward> weights = weigh(std::move(scores), shift);
    ProductSum<kBits> products;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (results_[i].decided) continue;
      const Interval<kBits> output = weighted_mean(row_, weights, columns_[i], products);
      results_[i].bits = kBits;
      const bool point = mpfr_equal_p(output.lower(), output.upper()) != 0;
      if (const auto common = common_rounding<kBits>(output, format_))
        decide(i, *common, point, kBits);
    }
    return true;
  }

  void decide_rational(std::size_t i) {
    if (results_[i].decided) return;
    sums_[i] = value_sums(classes_, row_, columns_[i]);
    if (!means_agree(classes_, sums_[i])) return;
    const auto size = static_cast<double>(classes_.members.front().size());
    decide(i, round_quotient(sums_[i].front().get(), size, format_), true, results_[i].bits);
  }

  template <int Bits>
  void try_classes() {
    if (all_decided()) return;
    const std::vector<Interval<Bits>> scores = enclose_scores<Bits, Outward>(row_);
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (results_[i].decided) continue;
      results_[i].bits = Bits;
      if (const auto rounded = round_by_classes<Bits>(scores, classes_, sums_[i], format_))
        decide(i, *rounded, false, Bits);
    }
  }

  const Row& row_;
  Format format_;
  std::vector<std::size_t> columns_;
  std::vector<RoundedOutput> results_;
  ScoreClasses classes_;
  std::vector<std::vector<Scratch>> sums_;  ///< per column, empty where it was decided before
};

}  // namespace

std::vector<RoundedOutput> correctly_rounded(const Row& row, const Format& format) {
  std::vector<std::size_t> columns(static_cast<std::size_t>(row.head_dim_v));
  std::iota(columns.begin(), columns.end(), std::size_t{0});
  return RowRounding(row, format, std::move(columns)).run();
}

RoundedOutput correctly_rounded(const Row& row, Index column, const Format& format) {
  return RowRounding(row, format, {static_cast<std::size_t>(column)}).run().front();
}

}  // namespace attest::reference
