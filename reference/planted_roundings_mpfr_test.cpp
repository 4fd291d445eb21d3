// One outward rounding at a time is turned inward; the enclosures must then miss the truth.
#include <gtest/gtest.h>
#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "reference/interval_row.hpp"
#include "reference/test_rows.hpp"

namespace attest::reference {
namespace {

/// Inward at one site, chosen at run time: the tests go through all that there are.
struct Planted {
  static inline Site site = Site::count;  // none
  static bool inward(Site asked) { return asked == site; }
};

template <int Bits>
using PlantedInterval = Interval<Bits, Planted>;
using Truth = Interval<768>;

bool meet(mpfr_srcptr lower, mpfr_srcptr upper, const Truth& truth) {
  return mpfr_lessequal_p(lower, truth.upper()) != 0 && mpfr_lessequal_p(truth.lower(), upper) != 0;
}
template <int Bits>
bool encloses(const PlantedInterval<Bits>& interval, const Truth& truth) {
  return meet(interval.lower(), interval.upper(), truth);
}
bool encloses(const Enclosure& enclosure, const Truth& truth) {
  Scratch lower(2300);  // holds sums of three doubles
  Scratch upper(2300);
  mpfr_set_d(lower.get(), enclosure.high, MPFR_RNDN);
  mpfr_add_d(lower.get(), lower.get(), enclosure.low, MPFR_RNDN);
  mpfr_add_d(upper.get(), lower.get(), enclosure.radius, MPFR_RNDN);
  mpfr_sub_d(lower.get(), lower.get(), enclosure.radius, MPFR_RNDN);
  return meet(lower.get(), upper.get(), truth);
}
bool reaches(double bound, const Truth& truth) {
  return mpfr_cmp_d(truth.lower(), bound) <= 0;
}

/// The intervals of every step against those of 768 bits.
template <int Bits>
bool steps_enclose(const Row& row, double shift) {
  const auto scores = enclose_scores<Bits, Planted>(row);
  const auto exact_scores = enclose_scores<768, Outward>(row);
  for (std::size_t j = 0; j < scores.size(); ++j)
    if (!encloses<Bits>(scores[j], exact_scores[j])) return false;
  const auto weights = weigh<Bits, Planted>(scores, shift);
  const auto exact = weigh<768, Outward>(exact_scores, shift);
  for (std::size_t j = 0; j < scores.size(); ++j)
    if (!encloses<Bits>(weights.weight[j], exact.weight[j]) ||
        !encloses<Bits>(weights.weight[j] / weights.sum, exact.weight[j] / exact.sum))
      return false;
  const PlantedInterval<Bits> lse = log(weights.sum) + PlantedInterval<Bits>(shift);
  if (!encloses<Bits>(weights.sum, exact.sum) ||
      !encloses<Bits>(lse, log(exact.sum) + Truth(shift)))
    return false;
  ProductSum<Bits, Planted> sums;
  ProductSum<768> exact_sums;
  for (std::size_t c = 0; c < static_cast<std::size_t>(row.head_dim_v); ++c) {
    const auto sum = numerator<Bits, Planted>(row, weights, c, sums);
    const auto exact_sum = numerator<768, Outward>(row, exact, c, exact_sums);
    if (!encloses<Bits>(sum, exact_sum) ||
        !encloses<Bits>(sum / weights.sum, exact_sum / exact.sum))
      return false;
  }
  return true;
}

/// The magnitudes against sums of exact terms.
bool magnitudes_reach(const Row& row, const RowFacts& facts) {
  const auto d = static_cast<std::size_t>(row.head_dim);
  for (std::size_t j = 0; j < row.keys.size(); ++j) {
    Truth dot;
    Truth input;
    for (std::size_t c = 0; c < d; ++c) {
      const double q = std::abs(row.q[c]);
      const double k = std::abs(row.k[j * d + c]);
      dot += Truth(q) * Truth(k);
      input += Truth(q) + Truth(k);
    }
    if (!reaches(facts.dot_magnitude_max, dot) || !reaches(facts.input_magnitude_max, input) ||
        !reaches(facts.score_magnitude[j], dot * Truth(std::abs(row.scale))))
      return false;
  }
  return true;
}

/// What the row says against 768 bits.
template <int Bits>
bool facts_enclose(const Row& row, const RowFacts& facts) {
  const auto scores = enclose_scores<768, Outward>(row);
  for (std::size_t j = 0; j < scores.size(); ++j)
    if (!encloses(Enclosure{facts.score[j], 0, facts.score_radius[j]}, scores[j])) return false;
  const auto weights = weigh<768, Outward>(scores, facts.score_max);
  for (std::size_t j = 0; j < scores.size(); ++j)
    if (!reaches(facts.probability[j], weights.weight[j] / weights.sum)) return false;
  const Truth log_sum = log(weights.sum);
  if (!reaches(facts.log_sum, log_sum) || !encloses(facts.lse, log_sum + Truth(facts.score_max)))
    return false;
  ProductSum<768> sums;
  for (std::size_t c = 0; c < facts.output.size(); ++c)
    if (!encloses(facts.output[c], numerator<768, Outward>(row, weights, c, sums) / weights.sum))
      return false;
  return magnitudes_reach(row, facts);
}

template <int Bits>
bool row_is_enclosed(const Row& row) {
  const std::optional<RowFacts> facts = evaluate_row<Bits, Planted>(row);
  return facts && facts_enclose<Bits>(row, *facts) && steps_enclose<Bits>(row, facts->score_max);
}

/// Rows in which most steps are exact, so that one inward rounding is not hidden by others.
std::vector<Row> rows_of_few_roundings() {
  std::mt19937_64 random(7);
  std::vector<Row> rows;
  // A score of 350 bits: exact at 384 bits, while no pair of doubles holds it.
  for (int draw = 0; draw < 8; ++draw) {
    std::vector<double> q;
    for (int c = 0; c < 6; ++c) q.push_back(random_double(random, -60 * c));
    rows.push_back(row_of(q, std::vector<double>(6, 1.0), {1}));
  }
  // Scores below the doubles: exact, and only their radius can say so.
  for (const double sign : {1.0, -1.0})
    rows.push_back(row_of({sign * 0x1.8p-600}, {0x1p-500}, {1}));
  // Weights 1 and an inexact one; their sum; a value of one bit.
  for (int draw = 0; draw < 8; ++draw)
    rows.push_back(scored_row({0, -std::abs(random_double(random, -3))}, {0, 1}));
  return rows;
}

bool all_rows_are_enclosed(int random_rows) {
  for (const Row& row : rows_of_few_roundings())
    if (!row_is_enclosed<128>(row) || !row_is_enclosed<384>(row)) return false;
  for (int seed = 0; seed < random_rows; ++seed)
    if (!row_is_enclosed<128>(random_row(static_cast<std::uint64_t>(seed)))) return false;
  return true;
}

/// Every operation on intervals of both signs, against exact results at their ends.
bool all_operations_enclose() {
  constexpr int kBits = 53;  // one rounding of an operation on doubles shows
  using Narrow = PlantedInterval<kBits>;
  std::mt19937_64 random(8);
  const auto draw = [&] { return random_double(random, static_cast<int>(random() % 4) - 2); };
  for (int round = 0; round < 50; ++round) {
    double a[2] = {draw(), draw()};
    double b[2] = {draw(), draw()};
    for (auto* ends : {a, b}) std::sort(ends, ends + 2);
    Narrow left;
    Narrow right;
    mpfr_set_d(left.lower(), a[0], MPFR_RNDN);
    mpfr_set_d(left.upper(), a[1], MPFR_RNDN);
    mpfr_set_d(right.lower(), b[0], MPFR_RNDN);
    mpfr_set_d(right.upper(), b[1], MPFR_RNDN);
    for (const double x : a) {
      const Truth point = x;
      if (!encloses<kBits>(exp(left), exp(point)) || !encloses<kBits>(tanh(left), tanh(point)) ||
          !encloses<kBits>(-left, -point) || (a[0] > 0 && !encloses<kBits>(log(left), log(point))))
        return false;
      for (const double y : b)
        if (!encloses<kBits>(left + right, point + y) ||
            !encloses<kBits>(left - right, point - y) ||
            !encloses<kBits>(left * right, point * y) || !encloses<kBits>(left / right, point / y))
          return false;
    }
  }
  return true;
}

bool is_of_operations(Site site) {
  return site <= Site::tanh_upper;
}

class PlantedRoundings : public testing::Test {
 protected:
  ~PlantedRoundings() override { Planted::site = Site::count; }
};

TEST_F(PlantedRoundings, WithoutOneEverythingIsEnclosed) {
  Planted::site = Site::count;
  EXPECT_TRUE(all_rows_are_enclosed(400));
  EXPECT_TRUE(all_operations_enclose());
}

TEST_F(PlantedRoundings, EverySiteTurnedInwardMissesTheTruthOfARow) {
  for (int site = 0; site < static_cast<int>(Site::count); ++site) {
    Planted::site = static_cast<Site>(site);
    EXPECT_FALSE(all_rows_are_enclosed(400)) << "site " << site;
  }
}

TEST_F(PlantedRoundings, EverySiteOfAnOperationTurnedInwardMissesTheTruthOfTheOperation) {
  for (int site = 0; is_of_operations(static_cast<Site>(site)); ++site) {
    Planted::site = static_cast<Site>(site);
    EXPECT_FALSE(all_operations_enclose()) << "site " << site;
  }
}

TEST(Interval, ADivisorThatHoldsZeroGivesEveryNumber) {
  Interval<128> divisor = 1;
  mpfr_set_d(divisor.lower(), 0, MPFR_RNDN);
  const Interval<128> quotient = Interval<128>(1) / divisor;
  EXPECT_EQ(mpfr_get_d(quotient.lower(), MPFR_RNDN), -HUGE_VAL);
  EXPECT_EQ(mpfr_get_d(quotient.upper(), MPFR_RNDN), HUGE_VAL);
  EXPECT_FALSE(std::isfinite(to_enclosure<128>(quotient).radius));
}

TEST(Interval, AnUndefinedProductIsKeptAsNotANumber) {
  Interval<128> wide = 1;
  mpfr_set_inf(wide.upper(), 1);
  for (const Interval<128>& product : {wide * 0.0, Interval<128>(0) * wide})
    EXPECT_FALSE(std::isfinite(to_enclosure<128>(product).radius));
}

}  // namespace
}  // namespace attest::reference
