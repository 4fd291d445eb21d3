#include "attest/error_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attest {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The 97.5 % quantile of Student's t, for 1 to 30 degrees of freedom.
constexpr std::array<double, 30> kStudent{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
                                          2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
                                          2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
                                          2.060,  2.056, 2.052, 2.048, 2.045, 2.042};

double student_quantile(std::int64_t freedom) {
  if (freedom <= static_cast<std::int64_t>(kStudent.size()))
    return kStudent[static_cast<std::size_t>(freedom - 1)];
  // Cornish-Fisher expansion about the normal quantile; 2.0395 for 31.
  constexpr double z = 1.959964;
  const double n = static_cast<double>(freedom);
  return z + (z * z * z + z) / (4 * n) +
         (5 * std::pow(z, 5) + 16 * z * z * z + 3 * z) / (96 * n * n);
}

}  // namespace

double SampleMeans::half_width() const {
  if (count < 2) return kInfinity;
  const double n = static_cast<double>(count);
  const double variance = std::max(0.0, (sum_squares - sum * sum / n) / (n - 1));
  return student_quantile(count - 1) * std::sqrt(variance / n);
}

int ErrorStatistics::bin_of(double error) {
  const double size = std::abs(error);
  if (size <= 0.5) return 1;
  if (!(size <= upper_edge(kBins - 2))) return kBins - 1;
  // 2^(e-1) < size <= 2^e; size = f 2^exponent with f in [0.5, 1).
  int exponent = 0;
  const double fraction = std::frexp(size, &exponent);
  const int e = fraction == 0.5 ? exponent - 1 : exponent;
  return e + 2;
}

double ErrorStatistics::lower_edge(int bin) {
  return bin < 2 ? 0 : std::ldexp(1.0, bin - 3);
}

double ErrorStatistics::upper_edge(int bin) {
  if (bin == kBins - 1) return kInfinity;
  return bin < 2 ? 0.5 : std::ldexp(1.0, bin - 2);
}

void ErrorStatistics::add(double signed_ulp, bool correctly_rounded) {
  ++count;
  ++histogram[static_cast<std::size_t>(correctly_rounded ? 0 : bin_of(signed_ulp))];
  sum += signed_ulp;
  sum_squares += signed_ulp * signed_ulp;
  largest = std::max(largest, std::abs(signed_ulp));
}

void ErrorStatistics::add(const ErrorStatistics& other) {
  for (std::size_t bin = 0; bin < histogram.size(); ++bin) histogram[bin] += other.histogram[bin];
  count += other.count;
  not_finite += other.not_finite;
  missed_zero += other.missed_zero;
  subnormal += other.subnormal;
  sum += other.sum;
  sum_squares += other.sum_squares;
  largest = std::max(largest, other.largest);
  bias.add(other.bias);
  outward.add(other.outward);
}

double ErrorStatistics::rms() const {
  return measured() > 0 ? std::sqrt(sum_squares / static_cast<double>(measured())) : 0;
}

}  // namespace attest
