#include "attest/error_statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

namespace attest {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::int64_t in_histogram(const ErrorStatistics& of) {
  return std::accumulate(of.histogram.begin(), of.histogram.end(), std::int64_t{0});
}

TEST(ErrorStatistics, EveryErrorIsInTheBinWhoseEdgesHoldIt) {
  for (const double error :
       {0x1p-60, 0.25, 0.5, std::nextafter(0.5, 1.0), 0.75, 1.0, std::nextafter(1.0, 2.0), 2.0, 3.0,
        4.0, 0x1p36, std::nextafter(0x1p36, kInfinity), 0x1p37, 0x1p300, kInfinity}) {
    const int bin = ErrorStatistics::bin_of(error);
    EXPECT_EQ(bin, ErrorStatistics::bin_of(-error));
    EXPECT_GT(error, ErrorStatistics::lower_edge(bin)) << error;
    EXPECT_LE(error, ErrorStatistics::upper_edge(bin)) << error;
  }
  EXPECT_EQ(ErrorStatistics::bin_of(0), 1);
  EXPECT_EQ(ErrorStatistics::bin_of(0.75), 2);
  EXPECT_EQ(ErrorStatistics::bin_of(std::nan("")), ErrorStatistics::kBins - 1);
  for (int bin = 2; bin < ErrorStatistics::kBins; ++bin)
    EXPECT_EQ(ErrorStatistics::lower_edge(bin), ErrorStatistics::upper_edge(bin - 1)) << bin;
}

TEST(ErrorStatistics, CorrectlyRoundedOnesAreCountedApartButSummed) {
  ErrorStatistics errors;
  errors.add(0.25, true);
  errors.add(-0.5, true);
  errors.add(-1.5);
  EXPECT_EQ(errors.histogram[0], 2);
  EXPECT_EQ(errors.histogram[3], 1);
  EXPECT_EQ(in_histogram(errors), errors.count);
  EXPECT_EQ(errors.sum, -1.75);
  EXPECT_EQ(errors.sum_squares, 0.0625 + 0.25 + 2.25);
  EXPECT_EQ(errors.largest, 1.5);
  EXPECT_EQ(errors.rms(), std::sqrt(2.5625 / 3));
}

TEST(ErrorStatistics, MergingIsAddingEverything) {
  ErrorStatistics left;
  ErrorStatistics right;
  ErrorStatistics both;
  for (int i = 0; i < 40; ++i) {
    const double error = std::ldexp(i % 2 == 0 ? 1.0 : -1.0, i - 5);
    (i < 15 ? left : right).add(error, i == 7);
    both.add(error, i == 7);
    (i < 15 ? left : right).bias.add(error);
    both.bias.add(error);
  }
  right.not_finite = both.not_finite = 3;
  right.missed_zero = both.missed_zero = 2;
  right.subnormal = both.subnormal = 1;
  right.outward.add(0.5);
  both.outward.add(0.5);
  left.add(right);
  EXPECT_EQ(left.histogram, both.histogram);
  EXPECT_EQ(left.count, both.count);
  EXPECT_EQ(left.not_finite, 3);
  EXPECT_EQ(left.missed_zero, 2);
  EXPECT_EQ(left.subnormal, 1);
  EXPECT_EQ(left.sum, both.sum);  // exact: all are powers of two within 53 bits
  EXPECT_EQ(left.largest, both.largest);
  EXPECT_EQ(left.bias.count, both.bias.count);
  EXPECT_EQ(left.bias.sum, both.bias.sum);
  EXPECT_EQ(left.outward.sum, 0.5);
}

TEST(SampleMeans, HaveTheIntervalOfStudent) {
  // Student 1908: by hand, mean 2, variance 1, t(2) = 4.303.
  SampleMeans samples;
  EXPECT_EQ(samples.half_width(), kInfinity);
  samples.add(1);
  EXPECT_EQ(samples.half_width(), kInfinity);
  samples.add(2);
  samples.add(3);
  EXPECT_EQ(samples.mean(), 2);
  EXPECT_EQ(samples.half_width(), 4.303 * std::sqrt(1.0 / 3));
  SampleMeans same;
  for (int i = 0; i < 5; ++i) same.add(7);
  EXPECT_EQ(same.half_width(), 0);
}

TEST(SampleMeans, IntervalsNarrowWithEverySample) {
  // The table of quantiles goes over into the expansion without a step upwards.
  double before = kInfinity;
  SampleMeans samples;
  for (int i = 0; i < 200; ++i) {
    samples.add(i % 2 == 0 ? 1 : -1);
    samples.add(i % 2 == 0 ? -1 : 1);
    const double width = samples.half_width();
    EXPECT_LT(width, before) << samples.count;
    before = width;
  }
  // 1.9659 is the quantile for 399 degrees of freedom (tables), rounded to the last digit.
  EXPECT_EQ(std::round(before / std::sqrt(1.0 / 399) * 1e4), 19659);
}

}  // namespace
}  // namespace attest
