#include "properties/tally.hpp"

#include <bit>
#include <cmath>
#include <limits>

namespace attest::properties {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double ratio_of(double error, double bound) {
  if (error == 0) return 0;
  return bound > 0 ? error / bound : kInfinity;
}

bool equal_bits(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

}  // namespace

void Tally::record(const Place& place, double got, const Enclosure& want, double error,
                   double bound, bool violated, std::string_view reason) {
  const double ratio = ratio_of(error, bound);
  row_failed_ = row_failed_ || violated;
  // A violation outranks every pass; among equals the larger ratio is kept.
  const bool outranks = violated && !failed_;
  if (violated) failed_ = true;
  if (!outranks && (failed_ != violated || (verdict_.witness && ratio <= verdict_.worst_ratio)))
    return;
  verdict_.worst_ratio = ratio;
  verdict_.reason = std::string(reason);
  verdict_.witness =
      Witness{std::string(place.tensor), place.row, place.column, got, want, error, bound};
}

void Tally::within(const Place& place, double got, const Enclosure& want, double bound,
                   bool informative) {
  ++compared_;
  if (informative) ++informative_;
  double upper = want.distance_upper(got);
  double lower = want.distance_lower(got);
  if (std::isnan(upper)) upper = lower = kInfinity;  // NaN, or another infinity than wanted
  if (upper > bound && lower <= bound) {
    undecided("the enclosure is too wide to decide");
    return;
  }
  record(place, got, want, upper, bound, upper > bound, {});
}

void Tally::agree(const Place& place, double a, double b, double bound, bool informative) {
  ++compared_;
  if (informative) ++informative_;
  if (equal_bits(a, b)) {
    record(place, a, {b, 0, 0}, 0, bound, false, {});
    return;
  }
  const double difference = std::abs(a - b);
  // NaN is no agreement, however wide the bound.
  const bool violated = !(difference <= bound);
  record(place, a, {b, 0, 0}, std::isnan(difference) ? kInfinity : difference, bound, violated, {});
}

void Tally::same_bits(const Place& place, double got, double want, std::string_view reason) {
  holds(equal_bits(got, want), place, got, want, reason);
}

void Tally::holds(bool statement, const Place& place, double got, double want,
                  std::string_view reason) {
  ++compared_;
  ++informative_;
  if (!statement) record(place, got, {want, 0, 0}, kInfinity, 0, true, reason);
}

void Tally::end_row() {
  ++verdict_.rows_checked;
  if (row_failed_) ++verdict_.rows_wrong;
  row_failed_ = false;
}

void Tally::undecided(std::string reason) {
  if (undecided_.empty()) undecided_ = std::move(reason);
}

Verdict Tally::verdict() const {
  Verdict verdict = verdict_;
  verdict.values_compared = compared_;
  if (failed_) {
    verdict.outcome = Outcome::fail;
  } else if (!undecided_.empty()) {
    verdict.outcome = Outcome::unproven;
    verdict.reason = undecided_;
  } else if (compared_ == 0) {
    verdict.outcome = Outcome::weak;
    verdict.reason = "there was nothing to compare";
  } else if (informative_ == 0) {
    verdict.outcome = Outcome::unproven;
    verdict.reason = "no bound is smaller than the values it limits";
  }
  return verdict;
}

}  // namespace attest::properties
