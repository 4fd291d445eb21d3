// A second opinion on the oracle: the definition of reference/row.hpp written down with the numbers
// of Boost.Multiprecision (MPFR, 400 bits), which share no line with the intervals of the oracle.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/multiprecision/mpfr.hpp>
#include <optional>
#include <vector>

#include "reference/oracle.hpp"
#include "reference/oracle_fast.hpp"
#include "test_rows.hpp"

namespace attest::reference {
namespace {

using Real = boost::multiprecision::number<boost::multiprecision::mpfr_float_backend<120>,
                                           boost::multiprecision::et_off>;

/// The points have an error of their own, below 2^-390 for the small rows here; far less than any
/// radius that the two oracles can claim.
const Real kPointError = boost::multiprecision::ldexp(Real(1), -300);

struct Point {
  std::vector<Real> output;
  Real lse;
};

Point evaluate(const Row& row) {
  const std::size_t n = row.keys.size();
  const auto d = static_cast<std::size_t>(row.head_dim);
  const auto columns = static_cast<std::size_t>(row.head_dim_v);
  std::vector<Real> scores;
  for (std::size_t j = 0; j < n; ++j) {
    Real score = 0;
    for (std::size_t c = 0; c < d; ++c) score += Real(row.q[c]) * Real(row.k[j * d + c]);
    score *= row.scale;
    for (const ScoreAddend& addend : row.addends)
      if (addend.before_softcap) score += addend.value[j];
    if (row.softcap != 0) score = Real(row.softcap) * tanh(score / Real(row.softcap));
    for (const ScoreAddend& addend : row.addends)
      if (!addend.before_softcap) score += addend.value[j];
    scores.push_back(score);
  }
  Real max = row.sink ? Real(*row.sink) : scores.front();
  for (const Real& score : scores) max = std::max(max, score);
  Real sum = row.sink ? exp(Real(*row.sink) - max) : Real(0);
  Point point{std::vector<Real>(columns, Real(0)), 0};
  for (std::size_t j = 0; j < n; ++j) {
    const Real weight = exp(scores[j] - max);
    sum += weight;
    for (std::size_t c = 0; c < columns; ++c) point.output[c] += weight * row.v[j * columns + c];
  }
  for (Real& output : point.output) output /= sum;
  point.lse = max + log(sum);
  return point;
}

void expect_inside(const Enclosure& enclosure, const Real& point) {
  const Real apart = abs(point - Real(enclosure.high) - Real(enclosure.low));
  const Real allowed = Real(enclosure.radius) + kPointError * (1 + abs(point));
  EXPECT_LE(apart, allowed) << enclosure.high << " + " << enclosure.low << " +- "
                            << enclosure.radius << ", Boost says " << point;
}

void expect_inside(const RowFacts& facts, const Point& point) {
  ASSERT_EQ(facts.output.size(), point.output.size());
  for (std::size_t c = 0; c < facts.output.size(); ++c)
    expect_inside(facts.output[c], point.output[c]);
  expect_inside(facts.lse, point.lse);
}

TEST(SecondOpinion, BoostMultiprecisionLiesInsideOfBothOraclesOnRandomRows) {
  int fast = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    const Row row = random_row(seed);
    const Point point = evaluate(row);
    const std::optional<RowFacts> exact = enclose_row(row, kPrecisionLadder.front());
    ASSERT_TRUE(exact);
    expect_inside(*exact, point);
    if (const std::optional<RowFacts> quick = enclose_row_fast(row)) {
      ++fast;
      expect_inside(*quick, point);
    }
  }
  EXPECT_GT(fast, 400);
}

}  // namespace
}  // namespace attest::reference
