// Errors of computed numbers against their enclosures, counted (attest/error_statistics.hpp).
#pragma once

#include <optional>
#include <span>
#include <utility>

#include "attest/dtype.hpp"
#include "attest/enclosure.hpp"
#include "attest/error_statistics.hpp"
#include "attest/status.hpp"

namespace attest::properties {

/// got - exact, of the middle of the enclosure; 0 inside of it, where no error is known. NaN and
/// infinities as they come.
double signed_error(const Enclosure& exact, double got);

/// The numbers of one row.
struct RowErrors {
  ErrorStatistics elements;  ///< without samples of a mean
  double sum = 0;            ///< of got - exact, absolute; over what `elements` has measured
  double sum_squares = 0;
  double sum_in_row_ulp = 0;  ///< the same in ULP at the largest exact magnitude of the row
  double outward_in_row_ulp = 0;
};

/// `got` are numbers of `dtype`, `exact` their enclosures.
RowErrors row_errors(std::span<const Enclosure> exact, std::span<const double> got, Dtype dtype);

/// Adds up rows in the order in which they come. Rows that share keys and values come one after the
/// other: they are one sample of each mean.
class ErrorCollector {
 public:
  using Group = std::pair<Index, Index>;  ///< batch member, kv head

  void add(const Group& group, const RowErrors& row);
  /// The group that is under way is complete, too.
  ErrorStatistics statistics() const;
  double sum_squares() const { return sum_squares_; }  ///< of absolute errors
  SampleMeans bias() const;                            ///< of absolute signed errors

 private:
  struct Sample {
    std::int64_t count = 0;
    double absolute = 0;
    double in_row_ulp = 0;
    double outward = 0;
  };
  static void close(const Sample& sample, ErrorStatistics& statistics, SampleMeans& absolute);

  ErrorStatistics statistics_;
  SampleMeans absolute_;
  double sum_squares_ = 0;
  std::optional<Group> group_;
  Sample sample_;
};

}  // namespace attest::properties
