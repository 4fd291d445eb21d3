// The filter before MPFR: errors in doubles, with an upper and a lower bound of each.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "reference/elementary_error.hpp"

namespace attest::reference {
namespace {

/// Errors of the filter, in ulp and in u. The value's relative error of 2^-50 is at most 2^-26 ulp,
/// or 2^-26 u, of a float; the difference is rounded to 2^-53 of itself, and errors above 2^24 are
/// none that one would want to see exactly.
constexpr double kSlack = 0x1p-25;

/// A little beyond the exact value on either side.
constexpr double kOutward = 1 + 0x1p-49;
constexpr double kInward = 1 - 0x1p-49;

constexpr double kBehindLargest = 0x1p128;
constexpr double kSmallestNormal = 0x1p-126;

/// 1 / ulp where a number of this size lies.
double per_ulp(double size) {
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(std::max(size, kSmallestNormal));
  const std::uint64_t exponent = bits >> 52U;  // of 2^(exponent - 1023)
  return std::bit_cast<double>((std::uint64_t{1023 + 1023 + 23} - exponent) << 52U);
}

/// Bounds of one result's errors.
struct Bounds {
  double ulp_lower, ulp_upper;
  double relative_lower, relative_upper;    ///< in u; 0 where the exact result may be subnormal
  double subnormal_lower, subnormal_upper;  ///< in ulp; 0 where it cannot be
};

Bounds bounds_of(double exact, float result) {
  const double size = std::abs(exact);
  const double number = std::isinf(result) ? std::copysign(kBehindLargest, result) : result;
  const bool saturated =
      std::isinf(result) && size >= kBehindLargest && (exact > 0) == (result > 0);
  const double off = saturated ? 0 : std::abs(number - exact);
  Bounds bounds{};
  bounds.ulp_lower = off * per_ulp(size * kOutward) - kSlack;
  bounds.ulp_upper = off * per_ulp(size * kInward) + kSlack;
  const double relative = off / size * 0x1p24;
  if (size * kOutward >= kSmallestNormal) bounds.relative_upper = relative * kOutward + kSlack;
  if (size * kInward >= kSmallestNormal) bounds.relative_lower = relative * kInward - kSlack;
  if (size * kInward < kSmallestNormal) bounds.subnormal_upper = bounds.ulp_upper;
  if (size * kOutward < kSmallestNormal) bounds.subnormal_lower = bounds.ulp_lower;
  return bounds;
}

bool same_bits(float left, float right) {
  return std::bit_cast<std::uint32_t>(left) == std::bit_cast<std::uint32_t>(right);
}

void raise(LargestError& largest, double error, float x) {
  if (error > largest.error) largest = {error, x};
}

void record_wrong(ElementaryTally& tally, float x) {
  if (tally.wrong++ == 0) tally.first_wrong = x;
}

void judge_known(const ElementaryArguments& arguments, std::span<const float> results,
                 ElementaryTally& tally) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    const float expected = arguments.known_results[i];
    const bool right =
        std::isnan(expected) ? std::isnan(results[i]) : same_bits(results[i], expected);
    if (!right) record_wrong(tally, arguments.known[i]);
  }
}

bool is_rounded(Elementary function, float x, double exact, float result) {
  const auto lower = static_cast<float>(exact * kInward);
  const auto upper = static_cast<float>(exact * kOutward);
  if (lower == upper) return same_bits(result, lower);
  return exact_error(function, x, result).rounded;
}

/// The three errors that are searched for: upper bounds of theirs, or what they are at least.
struct Errors {
  double ulp = 0;
  double relative = 0;
  double subnormal = 0;

  void raise(double other_ulp, double other_relative, double other_subnormal) {
    ulp = std::max(ulp, other_ulp);
    relative = std::max(relative, other_relative);
    subnormal = std::max(subnormal, other_subnormal);
  }
  bool below(const Errors& other) const {
    return ulp < other.ulp && relative < other.relative && subnormal < other.subnormal;
  }
};

class MeasuredResults {
 public:
  MeasuredResults(Elementary function, const ElementaryArguments& arguments,
                  std::span<const float> results)
      : function_(function), arguments_(arguments), results_(results) {}

  /// In short runs: most have no error that is as large as one that was found before.
  void judge(ElementaryTally& tally) const {
    constexpr std::size_t kRun = 4096;
    for (std::size_t first = 0; first < results_.size(); first += kRun)
      judge_run(first, std::min(results_.size(), first + kRun), tally);
  }

 private:
  void judge_run(std::size_t first, std::size_t last, ElementaryTally& tally) const {
    Errors at_most;
    Errors at_least{tally.ulp.error, tally.relative.error, tally.subnormal.error};
    for (std::size_t i = first; i < last; ++i) {
      const float x = arguments_.measured[i];
      const double exact = arguments_.exact[i];
      if (std::isnan(results_[i]) || std::isnan(exact)) {
        record_wrong(tally, x);
        continue;
      }
      if (!is_rounded(function_, x, exact, results_[i])) ++tally.not_rounded;
      const Bounds bounds = bounds_of(exact, results_[i]);
      at_most.raise(bounds.ulp_upper, bounds.relative_upper, bounds.subnormal_upper);
      at_least.raise(bounds.ulp_lower, bounds.relative_lower, bounds.subnormal_lower);
    }
    if (at_most.below(at_least)) return;
    for (std::size_t i = first; i < last; ++i) look_closer(i, at_least, tally);
  }

  void look_closer(std::size_t i, const Errors& at_least, ElementaryTally& tally) const {
    const float x = arguments_.measured[i];
    if (std::isnan(results_[i]) || std::isnan(arguments_.exact[i])) return;
    const Bounds bounds = bounds_of(arguments_.exact[i], results_[i]);
    const Errors at_most{bounds.ulp_upper, bounds.relative_upper, bounds.subnormal_upper};
    if (at_most.below(at_least)) return;
    const ElementaryError error = exact_error(function_, x, results_[i]);
    raise(tally.ulp, error.ulp, x);
    raise(error.subnormal ? tally.subnormal : tally.relative,
          error.subnormal ? error.ulp : error.relative, x);
  }

  Elementary function_;
  const ElementaryArguments& arguments_;
  std::span<const float> results_;
};

}  // namespace

void ElementaryTally::append(const ElementaryTally& later) {
  arguments += later.arguments;
  not_rounded += later.not_rounded;
  wrong += later.wrong;
  if (!first_wrong) first_wrong = later.first_wrong;
  raise(ulp, later.ulp.error, later.ulp.x);
  raise(relative, later.relative.error, later.relative.x);
  raise(subnormal, later.subnormal.error, later.subnormal.x);
}

ElementaryTally judge(Elementary function, const ElementaryArguments& arguments,
                      std::span<const float> known, std::span<const float> measured) {
  ElementaryTally tally;
  tally.arguments = static_cast<std::int64_t>(known.size() + measured.size());
  judge_known(arguments, known, tally);
  MeasuredResults(function, arguments, measured).judge(tally);
  return tally;
}

}  // namespace attest::reference
