// The fast path contains the truth at 384 bits on every instruction set, or says that it cannot.
#include "reference/oracle_fast.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "reference/oracle.hpp"
#include "reference/oracle_fast_targets.hpp"
#include "reference/test_fast_rows.hpp"
#include "reference/test_row_facts.hpp"
#include "reference/test_rows.hpp"

namespace attest::reference {
namespace {

using testing::IsEmpty;

constexpr std::uint64_t kSeeds = 12;
constexpr int kTruthBits = 384;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

class FastOracle : public testing::TestWithParam<std::size_t> {
 protected:
  const RowShape& shape() const { return row_shapes()[GetParam()]; }

  /// Row, its truth, and a text that tells which one it is.
  template <class Body>
  void for_each_row(Body&& body) const {
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      const Row row = draw_row(shape(), seed);
      const std::optional<RowFacts> truth = enclose_row(row, kTruthBits);
      ASSERT_TRUE(truth.has_value());
      SCOPED_TRACE(std::string(shape().name) + ", seed " + std::to_string(seed) + ", keys " +
                   std::to_string(row.keys.size()) + ", head_dim " + std::to_string(row.head_dim));
      body(row, *truth);
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Shapes, FastOracle, testing::Range<std::size_t>(0, row_shapes().size()));

TEST_P(FastOracle, ContainsTheTruthOnEveryTarget) {
  for_each_row([](const Row& row, const RowFacts& truth) {
    for_each_target([&](const char* target) {
      SCOPED_TRACE(target);
      const std::optional<RowFacts> facts = enclose_row_fast(row);
      ASSERT_TRUE(facts.has_value());
      EXPECT_THAT(weaknesses(*facts, truth, row), IsEmpty());
    });
  });
}

/// Largest sum_j p_j |v_jc| + |o_c|, what a radius is compared with.
double magnitude_of(const RowFacts& truth, std::size_t c) {
  double sum = std::abs(truth.output[c].high);
  for (std::size_t j = 0; j < truth.probability.size(); ++j)
    sum += truth.probability[j] * std::abs(truth.value[j * truth.output.size() + c]);
  return sum;
}

TEST_P(FastOracle, RadiiAreAsSmallAsPromised) {
  for_each_row([](const Row& row, const RowFacts& truth) {
    const std::optional<RowFacts> facts = enclose_row_fast(row);
    ASSERT_TRUE(facts.has_value());
    const double scores =
        1 + std::abs(row.softcap) + std::abs(truth.score_max) +
        *std::max_element(truth.score_magnitude.begin(), truth.score_magnitude.end());
    for (std::size_t c = 0; c < truth.output.size(); ++c)
      EXPECT_LE(facts->output[c].radius, 0x1p-93 * scores * magnitude_of(truth, c) + 0x1p-1050);
    EXPECT_LE(facts->lse.radius, 0x1p-93 * scores);
  });
}

/// Radii that are too small must be seen: had error terms been forgotten, the test above would
/// fail. A row whose sums are exact has no error to show, so not every row must tell.
TEST(FastOraclePlanted, RadiiOfAMillionthContradictTheTruth) {
  int contradictions = 0;
  int outputs = 0;
  int rows = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Row row = draw_row(row_shapes().front(), seed);
    const std::optional<RowFacts> truth = enclose_row(row, kTruthBits);
    std::optional<RowFacts> facts = enclose_row_fast(row);
    ASSERT_TRUE(truth.has_value() && facts.has_value());
    for (std::size_t c = 0; c < facts->output.size(); ++c, ++outputs) {
      facts->output[c].radius *= 0x1p-20;
      contradictions += contradict(facts->output[c], truth->output[c]) ? 1 : 0;
    }
    rows += weaknesses(*facts, *truth, row).empty() ? 0 : 1;
  }
  EXPECT_GT(contradictions, outputs / 2);
  EXPECT_GT(rows, 10);
}

TEST(FastOraclePlanted, EveryGuaranteeThatIsBrokenIsNamed) {
  const Row row = draw_row(row_shapes().front(), 3);
  const std::optional<RowFacts> truth = enclose_row(row, kTruthBits);
  const std::optional<RowFacts> facts = enclose_row_fast(row);
  ASSERT_TRUE(truth.has_value() && facts.has_value());
  const auto found = [&](auto&& breaks) {
    RowFacts broken = *facts;
    breaks(broken);
    return weaknesses(broken, *truth, row).size();
  };
  EXPECT_EQ(found([](RowFacts&) {}), 0U);
  EXPECT_EQ(found([](RowFacts& f) { f.lse.radius *= 0x1p-20; }), 1U);
  EXPECT_EQ(found([](RowFacts& f) { f.output[0].high *= 1 + 0x1p-50; }), 1U);
  EXPECT_EQ(found([](RowFacts& f) { f.score_radius[0] *= 0.5; }), 1U);
  EXPECT_EQ(found([](RowFacts& f) { f.probability[0] *= 1 - 0x1p-40; }), 1U);
  EXPECT_EQ(found([](RowFacts& f) { f.probability[0] *= 1 + 0x1p-38; }), 1U);
  EXPECT_EQ(found([](RowFacts& f) { f.score_magnitude[0] *= 1 - 0x1p-40; }), 1U);
  EXPECT_EQ(found([](RowFacts& f) { f.dot_magnitude_max *= 1 - 0x1p-40; }), 1U);
  EXPECT_EQ(found([](RowFacts& f) { f.input_magnitude_max *= 1 - 0x1p-40; }), 1U);
  EXPECT_EQ(found([](RowFacts& f) { f.log_sum -= 0x1p-40; }), 1U);
  EXPECT_EQ(found([](RowFacts& f) { f.score_max += 1; }), 1U);
}

TEST(FastOracleValues, AnEmptyRowIsExact) {
  Row row;
  row.head_dim_v = 3;
  const std::optional<RowFacts> facts = enclose_row_fast(row);
  ASSERT_TRUE(facts.has_value());
  EXPECT_THAT(facts->output, testing::Each(IsExactly(0.0)));
  EXPECT_THAT(facts->lse, IsExactly(-kInfinity));
}

/// Scores 0 and 1, values 1 and 2, of doubles.
Row small_row() {
  Row row;
  row.keys = {0, 1};
  row.q = {1};
  row.k = {0, 1};
  row.v = {1, 2};
  return row;
}

/// What a change does to a row that the fast path decides, on every target.
template <class Change>
void expect_undecided(Change&& change) {
  Row row = small_row();
  EXPECT_TRUE(enclose_row_fast(row).has_value());
  change(row);
  for_each_target([&](const char* target) {
    SCOPED_TRACE(target);
    EXPECT_FALSE(enclose_row_fast(row).has_value());
  });
}

/// The output comes from a weight that is bounded and not formed: the enclosure is wide, not wrong.
TEST(FastOracleValues, ADroppedWeightMayDecideTheOutput) {
  for (const double score : {-600.5, -650.25, -744.0, -800.0}) {
    Row row = small_row();
    row.k = {0, score};
    row.v = {0, 0x1p900};
    const std::optional<RowFacts> truth = enclose_row(row, kTruthBits);
    ASSERT_TRUE(truth.has_value());
    for_each_target([&](const char* target) {
      SCOPED_TRACE(target);
      const std::optional<RowFacts> facts = enclose_row_fast(row);
      ASSERT_TRUE(facts.has_value());
      EXPECT_THAT(weaknesses(*facts, *truth, row), IsEmpty());
      EXPECT_GT(facts->output[0].radius, truth->output[0].high);
    });
  }
}

TEST(FastOracleRefuses, NumbersThatAreNotFinite) {
  for (const double wrong : {kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN()}) {
    expect_undecided([&](Row& row) { row.q[0] = wrong; });
    expect_undecided([&](Row& row) { row.k[1] = wrong; });
    expect_undecided([&](Row& row) { row.v[1] = wrong; });
    expect_undecided([&](Row& row) { row.scale = wrong; });
    expect_undecided([&](Row& row) { row.addends = {added({0, wrong})}; });
    expect_undecided([&](Row& row) { row.addends = {added_before({wrong, 0})}; });
    expect_undecided([&](Row& row) { row.sink = wrong; });
  }
}

TEST(FastOracleRefuses, Overflow) {
  expect_undecided([](Row& row) { row.q[0] = row.k[1] = 1e200; });
  expect_undecided([](Row& row) { row.scale = row.k[1] = 1e200; });
  expect_undecided([](Row& row) { row.k = {-1.7e308, 1.7e308}; });
  expect_undecided([](Row& row) {
    row.k[0] = 1;
    row.v = {1.7e308, 1.7e308};
  });
  expect_undecided([](Row& row) {
    row.addends = {added({1e308, 1e308})};
    row.k[1] = 1.7e308;
  });
}

TEST(FastOracleRefuses, ScoresWhoseErrorIsNotSmall) {
  expect_undecided([](Row& row) { row.k = {1e20 / 3, 1e20 / 3}; });
  expect_undecided([](Row& row) { row.softcap = 1e25; });
}

TEST(FastOracleRefuses, NumeratorsThatMayUnderflow) {
  expect_undecided([](Row& row) { row.v = {0x1p-1000, 0x1p-1000}; });
  expect_undecided([](Row& row) { row.v = {0x1p-1060, -0x1p-1070}; });
}

TEST(FastOracleRefuses, ARowOfNothingButASink) {
  expect_undecided([](Row& row) {
    row.keys.clear();
    row.k.clear();
    row.v.clear();
    row.sink = 1;
  });
}

}  // namespace
}  // namespace attest::reference
