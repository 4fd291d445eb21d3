#include "bench/point_mpfr.hpp"

#include <mpfr.h>

#include <algorithm>
#include <boost/multiprecision/mpfr.hpp>
#include <cstddef>

namespace attest::bench {
namespace {

constexpr int kBits = 256;

/// An MPFR number that knows its memory.
class Number {
 public:
  explicit Number(int bits = kBits) {
    mpfr_init2(value_, bits);
    mpfr_set_zero(value_, 1);
  }
  Number(const Number&) = delete;
  Number& operator=(const Number&) = delete;
  ~Number() { mpfr_clear(value_); }
  mpfr_ptr get() { return value_; }

 private:
  mpfr_t value_;
};

}  // namespace

PointRow point_raw_mpfr_256(const reference::Row& row) {
  const std::size_t n = row.keys.size();
  const auto d = static_cast<std::size_t>(row.head_dim);
  const auto columns = static_cast<std::size_t>(row.head_dim_v);
  std::vector<Number> weights(n);
  std::vector<Number> output(columns);
  std::vector<Number> query(d);
  for (std::size_t c = 0; c < d; ++c) mpfr_set_d(query[c].get(), row.q[c], MPFR_RNDN);
  Number factor(53);
  Number product;
  Number sum;
  Number max;
  for (std::size_t j = 0; j < n; ++j) {
    mpfr_ptr score = weights[j].get();
    for (std::size_t c = 0; c < d; ++c) {
      mpfr_set_d(factor.get(), row.k[j * d + c], MPFR_RNDN);
      mpfr_mul(product.get(), query[c].get(), factor.get(), MPFR_RNDN);
      mpfr_add(score, score, product.get(), MPFR_RNDN);
    }
    mpfr_mul_d(score, score, row.scale, MPFR_RNDN);
    if (j == 0 || mpfr_greater_p(score, max.get()) != 0) mpfr_set(max.get(), score, MPFR_RNDN);
  }
  for (std::size_t j = 0; j < n; ++j) {
    mpfr_ptr weight = weights[j].get();
    mpfr_sub(weight, weight, max.get(), MPFR_RNDN);
    mpfr_exp(weight, weight, MPFR_RNDN);
    mpfr_add(sum.get(), sum.get(), weight, MPFR_RNDN);
    for (std::size_t c = 0; c < columns; ++c) {
      mpfr_set_d(factor.get(), row.v[j * columns + c], MPFR_RNDN);
      mpfr_mul(product.get(), weight, factor.get(), MPFR_RNDN);
      mpfr_add(output[c].get(), output[c].get(), product.get(), MPFR_RNDN);
    }
  }
  PointRow point;
  for (Number& numerator : output) {
    mpfr_div(numerator.get(), numerator.get(), sum.get(), MPFR_RNDN);
    point.output.push_back(mpfr_get_d(numerator.get(), MPFR_RNDN));
  }
  mpfr_log(sum.get(), sum.get(), MPFR_RNDN);
  mpfr_add(sum.get(), sum.get(), max.get(), MPFR_RNDN);
  point.lse = mpfr_get_d(sum.get(), MPFR_RNDN);
  return point;
}

PointRow point_boost_mpfr_256(const reference::Row& row) {
  using Real = boost::multiprecision::number<boost::multiprecision::mpfr_float_backend<77>,
                                             boost::multiprecision::et_off>;
  const std::size_t n = row.keys.size();
  const auto d = static_cast<std::size_t>(row.head_dim);
  const auto columns = static_cast<std::size_t>(row.head_dim_v);
  std::vector<Real> weights;
  for (std::size_t j = 0; j < n; ++j) {
    Real score = 0;
    for (std::size_t c = 0; c < d; ++c) score += Real(row.q[c]) * Real(row.k[j * d + c]);
    weights.push_back(score * row.scale);
  }
  const Real max = *std::max_element(weights.begin(), weights.end());
  Real sum = 0;
  std::vector<Real> output(columns, Real(0));
  for (std::size_t j = 0; j < n; ++j) {
    const Real weight = exp(weights[j] - max);
    sum += weight;
    for (std::size_t c = 0; c < columns; ++c) output[c] += weight * Real(row.v[j * columns + c]);
  }
  PointRow point;
  for (const Real& numerator : output)
    point.output.push_back(static_cast<double>(Real(numerator / sum)));
  point.lse = static_cast<double>(Real(max + log(sum)));
  return point;
}

}  // namespace attest::bench
