// Enclosures of several precisions, and of an evaluation in long double, agree.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "reference/test_cases.hpp"

namespace attest::reference {
namespace {

/// Distance of the points. The differences have few bits where the enclosures are narrow.
long double distance(const Enclosure& left, const Enclosure& right) {
  const auto wide = [](double value) { return static_cast<long double>(value); };
  return std::abs((wide(left.high) - right.high) + (wide(left.low) - right.low));
}

/// The last value changed so that the output is nearly zero: only then do high and low resolve more
/// than the working precision, and a wrong rounding shows.
Case nearly_cancelling(Case drawn) {
  const RowFacts facts = drawn.facts();
  const Index last = drawn.problem.seq_kv - 1;
  for (Index c = 0; c < drawn.problem.head_dim_v; ++c)
    drawn.v.set(0, 0, last, c,
                drawn.v.get(0, 0, last, c) -
                    facts.output[static_cast<std::size_t>(c)].high / facts.probability.back());
  return drawn;
}

/// Whether what two precisions say can both be true, and the higher says at least as much.
void expect_nested(const Enclosure& lower, const Enclosure& higher, int& narrowed) {
  // Both contain the exact number, so the triangle inequality bounds the distance.
  EXPECT_LE(distance(lower, higher), static_cast<long double>(lower.radius) + higher.radius);
  EXPECT_LE(higher.radius, lower.radius);
  narrowed += higher.radius < lower.radius ? 1 : 0;
}

void expect_nested_ladder(const Case& drawn, int& narrowed) {
  std::vector<RowFacts> ladder;
  ladder.reserve(kPrecisionLadder.size());
  for (const int bits : kPrecisionLadder) ladder.push_back(drawn.facts({}, bits));
  for (std::size_t low = 0; low < ladder.size(); ++low)
    for (std::size_t high = low + 1; high < ladder.size(); ++high) {
      for (std::size_t c = 0; c < 2; ++c)
        expect_nested(ladder[low].output[c], ladder[high].output[c], narrowed);
      expect_nested(ladder[low].lse, ladder[high].lse, narrowed);
    }
}

TEST(Oracle, EnclosuresOfRisingPrecisionMeetAndNarrow) {
  int narrowed = 0;
  for_each_random_case([&](const Case& drawn) { expect_nested_ladder(drawn, narrowed); });
  EXPECT_GT(narrowed, 0);
}

TEST(Oracle, EnclosuresOfRisingPrecisionMeetAndNarrowWhereValuesCancel) {
  for (const char* name : {"f32", "f64", "f64 negative scale"}) {
    const auto family = std::find_if(families().begin(), families().end(), [&](const Family& each) {
      return name == std::string(each.name);
    });
    int narrowed = 0;
    for (std::uint64_t seed = 0; seed < 16; ++seed) {
      SCOPED_TRACE(std::string(name) + ", seed " + std::to_string(seed));
      expect_nested_ladder(nearly_cancelling(random_case(*family, seed)), narrowed);
    }
    EXPECT_GT(narrowed, 0);
  }
}

TEST(Oracle, TermsBelowTheWorkingPrecisionAreEnclosed) {
  for (const int bits : kPrecisionLadder)
    for (const double small : {0x1p-200, -0x1p-200}) {
      Problem problem;
      problem.dtype = Dtype::f64;
      problem.seq_kv = 2;
      problem.head_dim = 2;
      problem.scale = {false, 1.0};
      Case drawn(problem);
      fill(drawn.q, {1, small});
      fill(drawn.k, {1, 1, 1, 1});
      fill(drawn.v, {1, small});
      const RowFacts facts = drawn.facts({}, bits);  // scores 1 + small, output (1 + small) / 2
      EXPECT_EQ(facts.score[0], 1);
      EXPECT_GE(facts.score_radius[0], std::abs(small));
      EXPECT_EQ(facts.output[0].high, 0.5);
      EXPECT_LE(std::abs(facts.output[0].low - small / 2), facts.output[0].radius);
    }
}

/// The row in long double, with a bound of its error.
struct LongDoubleRow {
  std::vector<long double> output, output_error;
  long double lse = 0, lse_error = 0;
};

/// Let u = 2^-64, d = head_dim, n keys, y_j = fl(s_j - m), w_j = fl(exp(y_j)), m the largest
/// computed score; glibc's expl and logl are within 4 ulp = 8 u. To first order in u:
///   a score is off by at most (d + 1) u S, S the largest sum of |scale q k|;
///   so w_j = exp(s_j - m + z_j) with |z_j| <= Z = (d + 1) u S + u max |y| + 8 u;
///   products, sums and the quotient add 2 n + 2 roundings to a key's share of the output.
///   |output error| <= max |v| (exp(2 Z + (2 n + 2) u) - 1),
///   |lse error|    <= Z + n u + 8 u ln(sum) + u |lse|.
/// Products and weights that underflow are off by at most 2^-16382 each, and the sum is at least 1.
/// The factor 2 covers the second order (all terms are far below 1) and the rounding of all this.
LongDoubleRow long_double_row(const Case& drawn) {
  const long double u = 0x1p-64L;
  const long double scale = scale_value(drawn.problem);
  const Index n = drawn.problem.seq_kv;
  const Index d = drawn.problem.head_dim;
  std::vector<long double> weights;
  long double magnitude_max = 0;
  for (Index key = 0; key < n; ++key) {
    long double dot = 0;
    long double magnitude = 0;
    for (Index c = 0; c < d; ++c) {
      const long double product =
          static_cast<long double>(drawn.q.get(0, 0, 0, c)) * drawn.k.get(0, 0, key, c);
      dot += product;
      magnitude += std::abs(product);
    }
    weights.push_back(dot * scale);
    magnitude_max = std::max(magnitude_max, magnitude * std::abs(scale));
  }
  const long double score_max = *std::max_element(weights.begin(), weights.end());
  const long double spread = score_max - *std::min_element(weights.begin(), weights.end());
  long double sum = 0;
  for (long double& weight : weights) sum += weight = std::exp(weight - score_max);

  const auto keys = static_cast<long double>(n);
  const long double z = static_cast<long double>(d + 1) * u * magnitude_max + u * spread + 8 * u;
  LongDoubleRow row;
  row.lse = score_max + std::log(sum);
  row.lse_error = 2 * (z + keys * u + 8 * u * std::log(sum) + u * std::abs(row.lse));
  for (Index c = 0; c < drawn.problem.head_dim_v; ++c) {
    long double numerator = 0;
    long double value_max = 0;
    for (Index key = 0; key < n; ++key) {
      const long double value = drawn.v.get(0, 0, key, c);
      numerator += weights[static_cast<std::size_t>(key)] * value;
      value_max = std::max(value_max, std::abs(value));
    }
    row.output.push_back(numerator / sum);
    row.output_error.push_back(2 * (value_max * std::expm1(2 * z + (2 * keys + 2) * u) +
                                    2 * keys * (1 + value_max) * 0x1p-16382L));
  }
  return row;
}

TEST(Oracle, ALongDoubleEvaluationLiesWithinItsOwnErrorOfTheEnclosure) {
  static_assert(std::numeric_limits<long double>::digits == 64);
  for_each_random_case([](const Case& drawn) {
    const LongDoubleRow row = long_double_row(drawn);
    const RowFacts facts = drawn.facts();
    const auto off = [](const Enclosure& enclosure, long double value) {
      return std::abs((value - enclosure.high) - enclosure.low);
    };
    for (std::size_t c = 0; c < 2; ++c)
      EXPECT_LE(off(facts.output[c], row.output[c]), row.output_error[c] + facts.output[c].radius);
    EXPECT_LE(off(facts.lse, row.lse), row.lse_error + facts.lse.radius);
  });
}

}  // namespace
}  // namespace attest::reference
