// The precision is raised until the enclosure is narrow enough for the bound, and no further.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <utility>

#include "reference/test_cases.hpp"
#include "reference/test_row_facts.hpp"

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
}

}  // namespace
}  // namespace attest::reference
