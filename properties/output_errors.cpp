#include "properties/output_errors.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "attest/element.hpp"
#include "attest/ulp.hpp"

namespace attest::properties {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// high + small as a number of the dtype, rounded once. Of the two doubles around an inexact sum
/// the odd one is taken: no tie of a narrower dtype is odd, so it is rounded as the exact one.
double rounded_sum(Dtype dtype, double high, double small) {
  const double sum = high + small;
  const double rest = small - (sum - high);
  if (dtype == Dtype::f64 || rest == 0) return rounded_to(dtype, sum);
  const bool is_odd = (std::bit_cast<std::uint64_t>(sum) & 1U) != 0;
  return rounded_to(dtype, is_odd ? sum : std::nextafter(sum, rest > 0 ? kInfinity : -kInfinity));
}

bool is_correctly_rounded(Dtype dtype, const Enclosure& exact, double got) {
  return got >= rounded_sum(dtype, exact.high, exact.low - exact.radius) &&
         got <= rounded_sum(dtype, exact.high, exact.low + exact.radius);
}

/// One number; its signed error where that is measured.
std::optional<double> add_element(ErrorStatistics& into, const Enclosure& exact, double got,
                                  Dtype dtype) {
  const double middle = exact.high + exact.low;
  if (!std::isfinite(got)) {
    ++into.count;
    ++into.not_finite;
    return std::nullopt;
  }
  const bool rounded = is_correctly_rounded(dtype, exact, got);
  if (std::abs(middle) <= exact.radius && !rounded) {
    ++into.count;
    ++into.missed_zero;
    return std::nullopt;
  }
  const double error = signed_error(exact, got);
  if (std::abs(middle) < format_of(dtype).min_normal) ++into.subnormal;
  into.add(middle == 0 ? 0 : error / ulp_at(middle, dtype), rounded);
  return error;
}

}  // namespace

double signed_error(const Enclosure& exact, double got) {
  const double error = (got - exact.high) - exact.low;
  return std::abs(error) <= exact.radius ? 0 : error;
}

RowErrors row_errors(std::span<const Enclosure> exact, std::span<const double> got, Dtype dtype) {
  double largest = 0;
  for (const Enclosure& one : exact) largest = std::max(largest, std::abs(one.high));
  const double ulp = ulp_at(largest, dtype);
  RowErrors row;
  for (std::size_t c = 0; c < exact.size(); ++c) {
    const std::optional<double> error = add_element(row.elements, exact[c], got[c], dtype);
    if (!error) continue;
    row.sum += *error;
    row.sum_squares += *error * *error;
    row.sum_in_row_ulp += *error / ulp;
    row.outward_in_row_ulp += (exact[c].high < 0 ? -*error : *error) / ulp;
  }
  return row;
}

void ErrorCollector::close(const Sample& sample, ErrorStatistics& statistics,
                           SampleMeans& absolute) {
  if (sample.count == 0) return;
  const auto count = static_cast<double>(sample.count);
  absolute.add(sample.absolute / count);
  statistics.bias.add(sample.in_row_ulp / count);
  statistics.outward.add(sample.outward / count);
}

void ErrorCollector::add(const Group& group, const RowErrors& row) {
  if (group_ != group) {
    close(sample_, statistics_, absolute_);
    sample_ = {};
    group_ = group;
  }
  statistics_.add(row.elements);
  sum_squares_ += row.sum_squares;
  sample_.count += row.elements.measured();
  sample_.absolute += row.sum;
  sample_.in_row_ulp += row.sum_in_row_ulp;
  sample_.outward += row.outward_in_row_ulp;
}

ErrorStatistics ErrorCollector::statistics() const {
  ErrorStatistics all = statistics_;
  SampleMeans absolute;
  close(sample_, all, absolute);
  return all;
}

SampleMeans ErrorCollector::bias() const {
  ErrorStatistics unused;
  SampleMeans all = absolute_;
  close(sample_, unused, all);
  return all;
}

}  // namespace attest::properties
