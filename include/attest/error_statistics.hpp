// How far outputs are from the truth, counted: a histogram of |got - exact| and means of
// got - exact, in units in the last place (ULP).
//
// The ULP is the spacing of the numbers of the output's dtype at the exact value (ulp_at in
// attest/ulp.hpp): below the normal range it is the spacing of the subnormals. `exact` is the
// middle of the enclosure; an output inside of it has error 0. An exact value of 0 has no last
// place: an output that hits it counts as correctly rounded, one that misses it is in `missed_zero`
// and in no sum. An output that is NaN or infinite, though the exact value is neither, is in
// `not_finite` and in no sum. Nothing is dropped: count = histogram + missed_zero + not_finite.
//
// Element errors are no independent samples: the columns of a row share its weights, and the rows
// of a head share keys and values. Hence the interval of the bias does not come from `sum` and
// `sum_squares`, but from SampleMeans, where one sample is the mean over all outputs that share
// keys and values: one batch member's kv head of one case. Two samples then share no data. In a
// sample the unit is the ULP at the largest exact magnitude of the row, not at the element: the
// mean of errors in ULP of the element is that of a few outputs that cancelled to almost 0, and has
// no variance that an interval could be made of.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace attest {

/// Independent samples of one number.
struct SampleMeans {
  std::int64_t count = 0;
  double sum = 0;
  double sum_squares = 0;

  void add(double sample) {
    ++count;
    sum += sample;
    sum_squares += sample * sample;
  }
  void add(const SampleMeans& other) {
    count += other.count;
    sum += other.sum;
    sum_squares += other.sum_squares;
  }
  double mean() const { return count > 0 ? sum / static_cast<double>(count) : 0; }
  /// Half the width of the 95 % confidence interval of the mean by Student's t with count - 1
  /// degrees of freedom; infinite for fewer than two samples.
  double half_width() const;
};

struct ErrorStatistics {
  static constexpr int kBins = 40;

  /// Bin 0: correctly rounded: the enclosure holds no value of which another number of the dtype is
  /// the nearest. The others are not: bin 1: |error| <= 0.5 (ties to the wrong side); bin k from 2
  /// on: 2^(k-3) < |error| <= 2^(k-2), so 2: up to 1, 3: up to 2; the last one has no upper edge.
  std::array<std::int64_t, kBins> histogram{};
  std::int64_t count = 0;        ///< all outputs
  std::int64_t not_finite = 0;   ///< NaN or infinite outputs
  std::int64_t missed_zero = 0;  ///< outputs other than 0 where 0 is exact
  std::int64_t subnormal = 0;    ///< of those in the histogram: exact value below the normal range
  double sum = 0;                ///< of the signed errors got - exact, in ULP
  double sum_squares = 0;
  double largest = 0;  ///< |error|, in ULP
  /// Mean of got - exact in ULP of the row: see above. Its interval is the bias.
  SampleMeans bias;
  /// The same of errors away from 0: (got - exact) * sign(exact). Truncation shows here, where the
  /// signs of outputs are mixed.
  SampleMeans outward;

  /// Bins of an error that is not correctly rounded; a NaN is in the last one.
  static int bin_of(double error);
  /// The errors of a bin are above the lower and up to the upper edge. Bin 0 is [0, 0.5].
  static double lower_edge(int bin);
  static double upper_edge(int bin);  ///< infinite for the last one

  void add(double signed_ulp, bool correctly_rounded = false);
  /// Merging shards is adding. The sums depend on the order, so callers add in a fixed one.
  void add(const ErrorStatistics& other);

  /// Outputs in the histogram.
  std::int64_t measured() const { return count - not_finite - missed_zero; }
  double rms() const;
};

}  // namespace attest
