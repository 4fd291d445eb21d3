#include <gmp.h>

#include <algorithm>
#include <boost/version.hpp>
#include <cmath>
#include <limits>

#include "reference/interval.hpp"
#include "reference/oracle.hpp"

namespace attest::reference {
namespace {

/// MPFR keeps constants such as ln 2 per thread; a thread that ends gives them back.
struct ThreadCache {
  ThreadCache() = default;
  ThreadCache(const ThreadCache&) = delete;
  ThreadCache& operator=(const ThreadCache&) = delete;
  ~ThreadCache() { mpfr_free_cache(); }
};

/// Upper bound of a sum of `terms` non-negative products that was formed in double: each rounding
/// is a factor of at most 1 + 2^-53, or loses at most the smallest subnormal.
double upper_sum(double sum, std::size_t terms) {
  const auto count = static_cast<double>(terms);
  return sum * (1 + 0x1p-51 * (count + 1)) + 2 * count * std::numeric_limits<double>::denorm_min();
}

template <int Bits>
class RowEvaluation {
 public:
  explicit RowEvaluation(Row row) : row_(std::move(row)), n_(row_.keys.size()) {}

  RowFacts run() {
    facts_ = empty_row_facts(row_);
    facts_.keys = row_.keys;
    score_keys();
    weigh_keys();
    sum_values();
    facts_.value = std::move(row_.v);
    return std::move(facts_);
  }

 private:
  using Number = Interval<Bits>;

  void score_keys() {
    const bool exact = row_.exact_products;
    const auto d = static_cast<std::size_t>(row_.head_dim);
    for (std::size_t j = 0; j < n_; ++j) {
      Number score = 0;
      double magnitude = 0;
      for (std::size_t c = 0; c < d; ++c) {
        const double q = row_.q[c];
        const double k = row_.k[j * d + c];
        if (exact)
          sums_.add_exact(score, q, k);
        else
          sums_.add(score, q, k);
        magnitude += std::abs(q * k);
      }
      magnitude = upper_sum(magnitude, d);
      facts_.dot_magnitude_max = std::max(facts_.dot_magnitude_max, magnitude);
      mpfi_mul_d(raw<Bits>(score), raw<Bits>(score), facts_.scale);
      const Enclosure nearest = to_enclosure<Bits>(score);
      facts_.score.push_back(nearest.high);
      facts_.score_radius.push_back((std::abs(nearest.low) + nearest.radius) * (1 + 0x1p-50));
      facts_.score_magnitude.push_back(upper_sum(magnitude * std::abs(facts_.scale), 1));
      scores_.push_back(std::move(score));
    }
    facts_.score_max = *std::max_element(facts_.score.begin(), facts_.score.end());
  }

  /// exp(score - shift) for a shift near the maximum; any finite shift gives the same quotient.
  void weigh_keys() {
    const Number shift = facts_.score_max;
    for (Number& score : scores_) {
      score -= shift;
      mpfi_exp(raw<Bits>(score), raw<Bits>(score));
      sum_ += score;
    }
    for (const Number& weight : scores_)
      facts_.probability.push_back(upper_double<Bits>(Number(weight / sum_)));
    Number log_sum;
    mpfi_log(raw<Bits>(log_sum), raw<Bits>(sum_));
    facts_.log_sum = std::max(0.0, upper_double<Bits>(log_sum));
    facts_.lse = to_enclosure<Bits>(Number(log_sum + shift));
  }

  void sum_values() {
    const std::size_t columns = facts_.output.size();
    for (std::size_t c = 0; c < columns; ++c) {
      Number numerator = 0;
      for (std::size_t j = 0; j < n_; ++j)
        sums_.add(numerator, scores_[j], row_.v[j * columns + c]);
      facts_.output[c] = to_enclosure<Bits>(Number(numerator / sum_));
    }
  }

  Row row_;
  std::size_t n_;
  RowFacts facts_;
  std::vector<Number> scores_;  ///< later the weights
  Number sum_ = 0;
  ProductSum<Bits> sums_;
};

bool scores_are_finite(const RowFacts& facts) {
  return std::all_of(facts.score_magnitude.begin(), facts.score_magnitude.end(),
                     [](double magnitude) { return std::isfinite(magnitude); });
}

bool is_narrow(const Enclosure& enclosure, double bound) {
  // A pair of doubles cannot say more than its smallest number; no precision narrows that.
  return enclosure.radius <= kWidthShare * bound ||
         enclosure.radius <= std::numeric_limits<double>::denorm_min();
}

bool is_narrow(const CertifiedRow& row) {
  if (!row.bound.proven()) return true;  // no precision helps
  for (std::size_t c = 0; c < row.facts.output.size(); ++c)
    if (!is_narrow(row.facts.output[c], row.bound.output[c])) return false;
  return is_narrow(row.facts.lse, row.bound.lse);
}

}  // namespace

std::optional<RowFacts> enclose_row(const Inputs& inputs, const RowIndex& index, int bits) {
  std::optional<Row> row = read_row(inputs, index);
  if (!row) return std::nullopt;
  return enclose_row(*row, bits);
}

std::optional<RowFacts> enclose_row(const Row& row, int bits) {
  thread_local const ThreadCache cache;
  if (row.empty()) return empty_row_facts(row);
  RowFacts facts = bits <= 128   ? RowEvaluation<128>(row).run()
                   : bits <= 192 ? RowEvaluation<192>(row).run()
                   : bits <= 384 ? RowEvaluation<384>(row).run()
                                 : RowEvaluation<768>(row).run();
  if (!scores_are_finite(facts)) return std::nullopt;
  return facts;
}

std::optional<CertifiedRow> certify_row(const Inputs& inputs, const RowIndex& row,
                                        const BoundRule& rule) {
  CertifiedRow certified;
  for (const int bits : kPrecisionLadder) {
    std::optional<RowFacts> facts = enclose_row(inputs, row, bits);
    if (!facts) return std::nullopt;
    certified.bits = bits;
    certified.facts = std::move(*facts);
    if (certified.facts.keys.empty()) {
      certified.bound.output.assign(certified.facts.output.size(), 0.0);
      certified.narrow = true;
      return certified;
    }
    certified.bound = rule(certified.facts);
    certified.narrow = is_narrow(certified);
    if (certified.narrow) break;
  }
  return certified;
}

std::vector<std::pair<std::string, std::string>> oracle_versions() {
  return {{"mpfr", mpfr_get_version()},
          {"mpfi", mpfi_get_version()},
          {"gmp", gmp_version},
          {"boost", BOOST_LIB_VERSION}};
}

}  // namespace attest::reference
