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

double element(const ConstTensorRef& tensor, Index b, Index h, Index row, Index column) {
  if (tensor.dtype == Dtype::f32)
    return static_cast<double>(tensor.as<const float>()(b, h, row, column));
  return tensor.as<const double>()(b, h, row, column);
}

/// A row's visible inputs, read once, exact as doubles.
struct ReadRow {
  std::vector<Index> keys;
  std::vector<double> q;
  std::vector<double> k;  ///< visible keys x head_dim
  std::vector<double> v;  ///< visible keys x head_dim_v
  bool finite = true;
};

ReadRow read_row(const Inputs& inputs, const RowIndex& row) {
  const Problem& problem = *inputs.problem;
  const Index group_size = problem.heads_q / problem.heads_kv;
  const Index kv_head = row.head / group_size;
  ReadRow read;
  read.keys = visible_keys(problem, row.batch, row.query);
  const auto append = [&](std::vector<double>& list, double value) {
    read.finite = read.finite && std::isfinite(value);
    list.push_back(value);
  };
  if (read.keys.empty()) return read;
  for (Index c = 0; c < problem.head_dim; ++c)
    append(read.q, element(inputs.q, row.batch, row.head, row.query, c));
  for (const Index key : read.keys) {
    for (Index c = 0; c < problem.head_dim; ++c)
      append(read.k, element(inputs.k, row.batch, kv_head, key, c));
    for (Index c = 0; c < problem.head_dim_v; ++c)
      append(read.v, element(inputs.v, row.batch, kv_head, key, c));
  }
  return read;
}

RowFacts empty_facts(const Problem& problem) {
  RowFacts facts;
  facts.output.assign(static_cast<std::size_t>(problem.head_dim_v), Enclosure{});
  facts.lse = {-std::numeric_limits<double>::infinity(), 0, 0};
  facts.scale = scale_value(problem);
  facts.head_dim = problem.head_dim;
  return facts;
}

/// Upper bound of a sum of `terms` non-negative products that was formed in double: each rounding
/// is a factor of at most 1 + 2^-53, or loses at most the smallest subnormal.
double upper_sum(double sum, std::size_t terms) {
  const auto count = static_cast<double>(terms);
  return sum * (1 + 0x1p-51 * (count + 1)) + 2 * count * std::numeric_limits<double>::denorm_min();
}

template <int Bits>
class RowEvaluation {
 public:
  RowEvaluation(const Problem& problem, ReadRow read)
      : problem_(problem), read_(std::move(read)), n_(read_.keys.size()) {}

  RowFacts run() {
    facts_ = empty_facts(problem_);
    facts_.keys = read_.keys;
    score_keys();
    weigh_keys();
    sum_values();
    facts_.value = std::move(read_.v);
    return std::move(facts_);
  }

 private:
  using Number = Interval<Bits>;

  void score_keys() {
    const bool exact = problem_.dtype == Dtype::f32;
    const auto d = static_cast<std::size_t>(problem_.head_dim);
    for (std::size_t j = 0; j < n_; ++j) {
      Number score = 0;
      double magnitude = 0;
      for (std::size_t c = 0; c < d; ++c) {
        const double q = read_.q[c];
        const double k = read_.k[j * d + c];
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
        sums_.add(numerator, scores_[j], read_.v[j * columns + c]);
      facts_.output[c] = to_enclosure<Bits>(Number(numerator / sum_));
    }
  }

  const Problem& problem_;
  ReadRow read_;
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

std::optional<RowFacts> enclose_row(const Inputs& inputs, const RowIndex& row, int bits) {
  thread_local const ThreadCache cache;
  ReadRow read = read_row(inputs, row);
  if (!read.finite) return std::nullopt;
  if (read.keys.empty()) return empty_facts(*inputs.problem);
  const Problem& problem = *inputs.problem;
  RowFacts facts = bits <= 128   ? RowEvaluation<128>(problem, std::move(read)).run()
                   : bits <= 192 ? RowEvaluation<192>(problem, std::move(read)).run()
                   : bits <= 384 ? RowEvaluation<384>(problem, std::move(read)).run()
                                 : RowEvaluation<768>(problem, std::move(read)).run();
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
