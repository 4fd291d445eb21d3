// The precision is raised until the enclosure is narrow enough for the bound, and no further.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "reference/test_cases.hpp"
#include "reference/test_row_facts.hpp"
#include "reference/test_rows.hpp"

namespace attest::reference {
namespace {

using testing::ElementsAre;

CertifiedRow certify(const Case& drawn, const BoundRule& rule) {
  std::optional<CertifiedRow> certified = certify_row(drawn.inputs(), {}, rule);
  EXPECT_TRUE(certified.has_value());
  return std::move(certified).value_or(CertifiedRow{});
}

/// Values cancel, so that the enclosure of the output has width left at every precision.
Case cancelling() {
  return scored(Dtype::f64, {0.3, 0.3, 1, -0.7}, {0x1p300, -0x1p300, 1, 3});
}

TEST(CertifyRow, TheFirstPrecisionThatIsNarrowEnoughIsTheLast) {
  const Case drawn = cancelling();  // beyond the range of the fast path
  double wider = kInfinity;
  std::ptrdiff_t tried = 0;
  for (const int bits : kPrecisionLadder) {
    ++tried;
    const RowFacts at_bits = drawn.facts({}, bits);
    const double radius = at_bits.output[0].radius;
    ASSERT_GT(radius, 0);
    ASSERT_LT(radius, wider);
    wider = radius;
    const double limit = radius / kWidthShare;  // exact: the share is a power of two
    int calls = 0;
    const auto count_and_bound = [&](const RowFacts& facts) {
      ++calls;
      return uniform_bound(facts, limit, 1);
    };
    const CertifiedRow enough = certify(drawn, count_and_bound);
    EXPECT_TRUE(enough.narrow);
    EXPECT_EQ(enough.bits, bits);
    EXPECT_EQ(calls, tried + 1);  // the fast path asked first and was too wide
    EXPECT_EQ(bits_of(enough.facts), bits_of(at_bits));
    EXPECT_THAT(enough.bound.output, ElementsAre(limit));

    const CertifiedRow below = certify(drawn, [&](const RowFacts& facts) {
      return uniform_bound(facts, std::nextafter(limit, 0.0), 1);
    });
    EXPECT_EQ(below.narrow, bits != kPrecisionLadder.back());
    EXPECT_TRUE(below.bits > bits || !below.narrow);
  }
}

TEST(CertifyRow, ABoundThatNoPrecisionReachesIsReportedAsNotNarrow) {
  const Case drawn = random_case(families()[0], 3);
  for (const auto& [output, lse] : {std::pair(1e-300, 1.0), {1.0, 1e-300}, {kNan, 1.0}}) {
    const CertifiedRow certified =
        certify(drawn, [&](const RowFacts& facts) { return uniform_bound(facts, output, lse); });
    EXPECT_FALSE(certified.narrow);
    EXPECT_EQ(certified.bits, kPrecisionLadder.back());
  }
}

TEST(CertifyRow, AnExactRowIsNarrowAgainstABoundOfZero) {
  const CertifiedRow certified = certify(scored(Dtype::f32, {2}, {5}), [](const RowFacts& facts) {
    return uniform_bound(facts, 0, 0);
  });
  EXPECT_TRUE(certified.narrow);
  EXPECT_EQ(certified.bits, kPrecisionLadder.front());
}

TEST(CertifyRow, ABoundThatIsUnprovenDoesNotRaiseThePrecision) {
  for (const double limit : {kInfinity, 0.0, kNan}) {
    const CertifiedRow certified = certify(cancelling(), [&](const RowFacts&) {
      return RowBound{{limit}, limit, "the reason"};
    });
    EXPECT_EQ(certified.bits, kDoubleDoubleBits);
    EXPECT_EQ(certified.bound.unproven, "the reason");
  }
}

TEST(CertifyRow, ARowWithoutVisibleKeysHasABoundOfZeroAndAsksNoRule) {
  Case drawn = random_case(families()[0], 4);
  drawn.problem.key_lengths = {0};
  const CertifiedRow certified = certify(drawn, [](const RowFacts& facts) {
    ADD_FAILURE() << "the rule was asked";
    return uniform_bound(facts, 1, 1);
  });
  EXPECT_TRUE(certified.narrow);
  EXPECT_THAT(certified.bound.output, ElementsAre(0, 0));
  EXPECT_EQ(certified.bound.lse, 0);
}

TEST(CertifyRow, TheFastPathDecidesOrdinaryRowsAndBothOraclesAgreeWhenAsked) {
  const auto rule = [](const RowFacts& facts) { return uniform_bound(facts, 1e-9, 1e-9); };
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Case drawn = random_case(families()[0], seed);
    const CertifiedRow fast = certify(drawn, rule);
    const OracleCounts before = oracle_counts();
    const BothOracles both;
    const CertifiedRow exact = certify(drawn, rule);
    EXPECT_EQ(exact.arithmetic, Arithmetic::mpfr);
    EXPECT_EQ(oracle_counts().audited, before.audited + 1);
    EXPECT_EQ(oracle_counts().contradictions, 0);
    EXPECT_FALSE(exact.contradiction);
    EXPECT_TRUE(consistent(fast.facts, exact.facts));
  }
}

TEST(CertifyRow, AnAuditSeesEveryElementThatHasNoCommonValue) {
  const RowFacts facts = random_case(families()[0], 7).facts();
  EXPECT_TRUE(consistent(facts, facts));
  const auto moved = [&](auto&& move) {
    RowFacts other = facts;
    move(other);
    return consistent(facts, other);
  };
  for (std::size_t c = 0; c < facts.output.size(); ++c)
    EXPECT_FALSE(moved(
        [&](RowFacts& other) { other.output[c].low += 3 * other.output[c].radius + 0x1p-90; }));
  EXPECT_FALSE(moved([](RowFacts& other) { other.lse.high *= 1 + 0x1p-50; }));
  for (std::size_t j = 0; j < facts.keys.size(); ++j) {
    EXPECT_FALSE(moved([&](RowFacts& other) { other.score[j] += 1e-9; }));
    EXPECT_FALSE(moved([&](RowFacts& other) { other.probability[j] *= 1 + 0x1p-30; }));
  }
  EXPECT_FALSE(moved([](RowFacts& other) { other.keys.back() += 1; }));
  EXPECT_FALSE(moved([](RowFacts& other) { other.log_sum += 0x1p-30; }));
  EXPECT_FALSE(moved([](RowFacts& other) { other.score_max += 0x1p-30; }));
  EXPECT_FALSE(moved([](RowFacts& other) { other.score_magnitude[0] *= 1 + 0x1p-30; }));
  EXPECT_FALSE(moved([](RowFacts& other) { other.dot_magnitude_max *= 1 + 0x1p-30; }));
  EXPECT_FALSE(moved([](RowFacts& other) { other.input_magnitude_max *= 1 + 0x1p-30; }));
  EXPECT_FALSE(moved([](RowFacts& other) { other.value[0] += 1; }));
  EXPECT_FALSE(moved([](RowFacts& other) { other.scale *= 2; }));
  EXPECT_FALSE(moved([](RowFacts& other) { other.softcap += 1; }));
}

TEST(CertifyRow, AnAuditKnowsThatASumIsRelativeToTheMaximum) {
  // The same row with a maximum that is one rounding higher: log_sum is as much lower.
  RowFacts facts = random_case(families()[0], 7).facts();
  const double apart = std::nextafter(facts.score_max, kInfinity) - facts.score_max;
  RowFacts other = facts;
  for (std::size_t j = 0; j < other.keys.size(); ++j)
    if (other.score[j] == facts.score_max) {
      other.score[j] += apart;
      other.score_radius[j] += apart;
    }
  other.score_max += apart;
  other.log_sum -= apart;
  EXPECT_TRUE(consistent(facts, other));
  EXPECT_TRUE(consistent(other, facts));
  for (double& radius : other.score_radius) radius = 0;
  for (double& radius : facts.score_radius) radius = 0;
  EXPECT_FALSE(consistent(facts, other));
}

/// Audits among rows that differ in one number.
template <class Change>
std::int64_t audits_among(Index rows, Change&& change) {
  const std::int64_t before = oracle_counts().audited;
  for (Index i = 0; i < rows; ++i) {
    Row row = scored_row({0, 0, 0}, {1, 2, 4});
    change(row, static_cast<double>(i));
    EXPECT_TRUE(certify_row(row, [](const RowFacts& facts) {
                  return uniform_bound(facts, 1, 1);
                }).has_value());
  }
  return oracle_counts().audited - before;
}

TEST(CertifyRow, EveryNumberOfARowDecidesWhetherItIsAudited) {
  // Scores and outputs are the same in all of these rows. One in kAuditedRows is expected; that
  // none or all of eight times as many are is as likely as exp(-8).
  constexpr auto kRows = static_cast<Index>(8 * kAuditedRows);
  const std::vector<std::int64_t> audits{
      audits_among(kRows, [](Row& row, double i) { row.scale = 1 + i * 0x1p-20; }),
      audits_among(kRows, [](Row& row, double i) { row.softcap = 1 + i * 0x1p-20; }),
      audits_among(kRows,
                   [](Row& row, double i) {
                     row.addends = {{std::vector<double>(3, i)}, {std::vector<double>(3, -i)}};
                   }),
      audits_among(kRows, [](Row& row, double i) { row.sink = -1000 - i; }),
      audits_among(kRows,
                   [](Row& row, double i) {
                     row.v = {2 - i, 1 + i, 4};
                   }),
  };
  for (const std::int64_t audited : audits) {
    EXPECT_GT(audited, 0);
    EXPECT_LT(audited, kRows);
  }
}

/// A textbook kernel of the format: two roundings a score, exp and log within two ulp.
BoundRule textbook(const Format& format) {
  DeclaredAccuracy accuracy;
  accuracy.format = format;
  accuracy.dot_roundings = 2;
  accuracy.exp_relative_error = 4 * format.unit_roundoff;
  accuracy.exp_absolute_error = 2 * format.rounding_underflow;
  accuracy.log_relative_error = 4 * format.unit_roundoff;
  return [accuracy](const RowFacts& facts) {
    const Index n = facts.visible_keys();
    const std::vector<PathCounts> paths(static_cast<std::size_t>(n), PathCounts{n, 0});
    return error_bound(accuracy, facts, paths);
  };
}

TEST(CertifyRow, RowsOfExactOutputsAreNarrowAgainstTheBoundsOfRealKernels) {
  const std::vector<double> scores{0.3F, -1.7F, 0.3F, 5, -1.7F, 5};
  const Row constant = scored_row(scores, {0.1F, 0.1F, 0.1F, 0.1F, 0.1F, 0.1F});
  const Row opposite = scored_row(scores, {7, 0.1F, -7, 1e-30F, -0.1F, -1e-30F});
  const Row one_key = scored_row({0.3F}, {0.1F});
  const Row zero = scored_row(scores, {0, 0, 0, -0.0, 0, 0});
  for (const Format& format : {kF32, kF64})
    for (const Row& row : {constant, opposite, one_key, zero}) {
      SCOPED_TRACE(row.v.front());
      EXPECT_TRUE(certify_row(row, textbook(format))->narrow);
      const BothOracles both;
      const std::optional<CertifiedRow> certified = certify_row(row, textbook(format));
      ASSERT_TRUE(certified.has_value());
      EXPECT_TRUE(certified->bound.proven()) << certified->bound.unproven;
      EXPECT_TRUE(certified->narrow);
      EXPECT_EQ(certified->bits, kPrecisionLadder.front());
    }
}

}  // namespace
}  // namespace attest::reference
