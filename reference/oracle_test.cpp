#include "reference/oracle.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <thread>

#include "attest/tensor.hpp"

namespace attest::reference {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::Eq;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// A problem with its tensors, all zero at first.
struct Case {
  explicit Case(Problem asked)
      : problem(std::move(asked)),
        q(problem.dtype, problem.q_extents()),
        k(problem.dtype, problem.k_extents()),
        v(problem.dtype, problem.v_extents()) {
    const Status status = validate(problem);
    EXPECT_TRUE(status.ok()) << status.message();
  }
  Inputs inputs() const { return {&problem, q.ref(), k.ref(), v.ref()}; }
  std::optional<RowFacts> enclose(const RowIndex& row = {}, int bits = 128) const {
    return enclose_row(inputs(), row, bits);
  }
  RowFacts facts(const RowIndex& row = {}, int bits = 128) const {
    std::optional<RowFacts> facts = enclose(row, bits);
    EXPECT_TRUE(facts.has_value());
    return std::move(facts).value_or(RowFacts{});
  }

  Problem problem;
  Tensor q, k, v;
};

/// Sets all elements, in the order batch, head, row, column.
void fill(Tensor& tensor, const std::vector<double>& values) {
  auto next = values.begin();
  for_each_index(tensor.extents(), [&](Index b, Index h, Index row, Index column) {
    tensor.set(b, h, row, column, next == values.end() ? kNan : *next++);
  });
  EXPECT_EQ(next, values.end());
}

/// One query over keys of the given scores, which are exact: head_dim 1, q = 1, scale 1.
Case scored(Dtype dtype, const std::vector<double>& scores, const std::vector<double>& values) {
  Problem problem;
  problem.dtype = dtype;
  problem.scale = {false, 1.0};
  problem.seq_kv = static_cast<Index>(scores.size());
  problem.head_dim_v = static_cast<Index>(values.size() / scores.size());
  Case scored(problem);
  fill(scored.q, {1.0});
  fill(scored.k, scores);
  fill(scored.v, values);
  return scored;
}

/// Signs and significands at random, binary exponents uniform in [lowest, highest].
struct Magnitudes {
  int lowest = -2;
  int highest = 1;
};

void fill_random(Tensor& tensor, Magnitudes magnitudes, std::mt19937_64& random) {
  const auto choices = 1 + static_cast<std::uint64_t>(magnitudes.highest - magnitudes.lowest);
  for_each_index(tensor.extents(), [&](Index b, Index h, Index row, Index column) {
    const double significand = 1 + std::ldexp(static_cast<double>(random() >> 12U), -52);
    const int exponent = magnitudes.lowest + static_cast<int>(random() % choices);
    const double sign = random() % 2 == 0 ? 1 : -1;
    tensor.set(b, h, row, column, sign * std::ldexp(significand, exponent));
  });
}

/// A family of random rows.
struct Family {
  const char* name;
  Dtype dtype;
  Index head_dim;
  Magnitudes q, k, v;
  Scale scale;
};

const std::vector<Family>& families() {
  static const std::vector<Family> all{
      {"f32", Dtype::f32, 4, {}, {}, {}, {}},
      {"f32 spread", Dtype::f32, 3, {0, 12}, {0, 12}, {-20, 20}, {}},
      {"f32 subnormal", Dtype::f32, 2, {-149, -126}, {-149, -126}, {-149, -140}, {false, 1e38}},
      {"f32 huge", Dtype::f32, 2, {58, 60}, {58, 60}, {120, 126}, {false, 0x1.8p-118}},
      {"f64", Dtype::f64, 5, {}, {}, {}, {}},
      {"f64 spread", Dtype::f64, 3, {0, 24}, {0, 24}, {-60, 60}, {false, 0.7}},
      {"f64 subnormal", Dtype::f64, 2, {-1074, -1000}, {1000, 1020}, {-1074, -1060}, {}},
      {"f64 huge", Dtype::f64, 2, {498, 500}, {498, 500}, {1000, 1022}, {false, 0x1.4p-998}},
      {"f64 negative scale", Dtype::f64, 1, {}, {}, {}, {false, -3.1}},
      {"f64 scale zero", Dtype::f64, 4, {}, {}, {}, {false, 0}}};
  return all;
}

Case random_case(const Family& family, std::uint64_t seed) {
  Problem problem;
  problem.dtype = family.dtype;
  problem.scale = family.scale;
  problem.seq_kv = 9;
  problem.head_dim = family.head_dim;
  problem.head_dim_v = 2;
  Case drawn(problem);
  std::mt19937_64 random(seed);
  fill_random(drawn.q, family.q, random);
  fill_random(drawn.k, family.k, random);
  fill_random(drawn.v, family.v, random);
  return drawn;
}

template <class Body>
void for_each_random_case(Body&& body) {
  for (const Family& family : families())
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      SCOPED_TRACE(std::string(family.name) + ", seed " + std::to_string(seed));
      body(random_case(family, seed));
    }
}

MATCHER_P(IsExactly, value, "") {
  return arg.high == value && arg.low == 0 && arg.radius == 0;
}
/// An upper bound of a float that is nearer to it than to any other float.
MATCHER_P(IsJustAbove, value, "") {
  return arg >= value && static_cast<float>(arg) == value;
}
MATCHER_P(Contains, value, "") {
  return arg.distance_lower(value) == 0;
}

/// Everything that a row says, as bits.
std::vector<std::uint64_t> bits_of(const RowFacts& facts) {
  std::vector<std::uint64_t> bits;
  const auto append = [&](double value) { bits.push_back(std::bit_cast<std::uint64_t>(value)); };
  const auto append_enclosure = [&](const Enclosure& enclosure) {
    for (const double value : {enclosure.high, enclosure.low, enclosure.radius}) append(value);
  };
  for (const Index key : facts.keys) append(static_cast<double>(key));
  for (const auto* list : {&facts.score, &facts.score_radius, &facts.score_magnitude,
                           &facts.probability, &facts.value})
    std::for_each(list->begin(), list->end(), append);
  std::for_each(facts.output.begin(), facts.output.end(), append_enclosure);
  append_enclosure(facts.lse);
  for (const double value : {facts.score_max, facts.log_sum, facts.dot_magnitude_max, facts.scale,
                             static_cast<double>(facts.head_dim)})
    append(value);
  return bits;
}

// ---- Closed forms -------------------------------------------------------------------------------

TEST(Oracle, OneKeyGivesItsValueAndItsScore) {
  const RowFacts facts = scored(Dtype::f32, {-0.75}, {3.5, -0x1p-149, 0x1.fffffep127}).facts();
  EXPECT_THAT(facts.output,
              ElementsAre(IsExactly(3.5), IsExactly(-0x1p-149), IsExactly(0x1.fffffep127)));
  EXPECT_THAT(facts.lse, IsExactly(-0.75));
}

TEST(Oracle, OneKeyOfAScoreThatNoDoubleHoldsStillGivesItsValue) {
  for_each_random_case([](Case drawn) {
    drawn.problem.key_lengths = {1};
    const RowFacts facts = drawn.facts();
    ASSERT_EQ(facts.visible_keys(), 1);
    for (Index c = 0; c < 2; ++c) {
      const Enclosure& output = facts.output[static_cast<std::size_t>(c)];
      EXPECT_THAT(output, Contains(drawn.v.get(0, 0, 0, c)));
      EXPECT_EQ(output.high, drawn.v.get(0, 0, 0, c));
    }
    EXPECT_LE(facts.lse.distance_lower(facts.score[0]), facts.score_radius[0]);
  });
}

TEST(Oracle, EqualScoresGiveTheMeanOfTheValues) {
  for (const int n : {2, 3, 5, 7, 10}) {
    std::vector<double> values(static_cast<std::size_t>(n), 2.0);
    values[0] = -1;
    const double sum = 2.0 * n - 3;
    const RowFacts facts =
        scored(Dtype::f64, std::vector<double>(values.size(), 0.3), values).facts();
    const Enclosure& mean = facts.output[0];
    // n high - sum has at most log2(n) bits, and the last sum 53 + log2(n): both are exact.
    const double rest = std::fma(n, mean.high, -sum);
    const long double off = rest + static_cast<long double>(n) * mean.low;
    EXPECT_LE(std::abs(off), static_cast<long double>(n) * mean.radius) << n;
    EXPECT_EQ(mean.high, sum / n);
  }
}

TEST(Oracle, EqualScoresGiveTheScorePlusTheLogarithmOfTheirNumber) {
  for (const double score : {0.0, -2.5, 40.0})
    for (const int n : {2, 3, 5, 7, 10}) {
      const std::vector<double> scores(static_cast<std::size_t>(n), score);
      const Enclosure lse = scored(Dtype::f32, scores, scores).facts().lse;
      // glibc's logl is off by less than one ulp for these n. The differences are exact: the
      // first has few bits, and the second is one of numbers close to each other.
      const long double logarithm = std::log(static_cast<long double>(n));
      const long double ulp = std::nextafter(logarithm, 3.0L) - logarithm;
      const long double off = ((static_cast<long double>(lse.high) - score) - logarithm) + lse.low;
      EXPECT_LE(std::abs(off), ulp + lse.radius) << n << " scores of " << score;
    }
}

TEST(Oracle, TheLseOfTwoScoresOfZeroIsLnTwo) {
  // ln 2 = 0x1.62e42fefa39efp-1 + 0x1.abc9e3b39803fp-56 + 0x1.7b57a079a1934p-111 rounded up.
  const Enclosure lse = scored(Dtype::f32, {0, 0}, {0, 0}).facts().lse;
  EXPECT_EQ(lse.high, 0x1.62e42fefa39efp-1);
  EXPECT_EQ(lse.low, 0x1.abc9e3b39803fp-56);
  EXPECT_GE(lse.radius, 0x1.7b57a079a1933p-111);
}

TEST(Oracle, AConstantColumnGivesTheConstant) {
  for_each_random_case([](Case drawn) {
    const double constant = drawn.v.get(0, 0, 0, 0);
    for (Index key = 0; key < drawn.problem.seq_kv; ++key) drawn.v.set(0, 0, key, 0, constant);
    const Enclosure output = drawn.facts().output[0];
    EXPECT_THAT(output, Contains(constant));
    EXPECT_EQ(output.high, constant);
  });
}

TEST(Oracle, ValuesThatCancelAtEqualScoresGiveZero) {
  const std::vector<double> scores{0.3, -1.7, 0.3, 5.0, -1.7, 5.0};
  const RowFacts facts = scored(Dtype::f64, scores, {7, 0.1, -7, 1e-30, -0.1, -1e-30}).facts();
  EXPECT_THAT(facts.output[0], Contains(0.0));
  EXPECT_LT(facts.output[0].radius, 1e-30 * facts.probability[3]);  // smaller than any one term
}

TEST(Oracle, ZeroValuesGiveExactlyZero) {
  for_each_random_case([](Case drawn) {
    for (Index key = 0; key < drawn.problem.seq_kv; ++key)
      drawn.v.set(0, 0, key, 0, key % 2 == 0 ? 0.0 : -0.0);
    EXPECT_THAT(drawn.facts().output[0], IsExactly(0.0));
  });
}

TEST(Oracle, ARowWithoutVisibleKeysGivesExactlyZeroAndMinusInfinity) {
  Case drawn = random_case(families()[0], 1);
  drawn.problem.key_lengths = {0};
  fill(drawn.q, std::vector<double>(4, kNan));
  for (const int bits : kPrecisionLadder) {
    const RowFacts facts = drawn.facts({}, bits);
    EXPECT_EQ(facts.visible_keys(), 0);
    EXPECT_THAT(facts.output, ElementsAre(IsExactly(0.0), IsExactly(0.0)));
    EXPECT_THAT(facts.lse, IsExactly(-kInfinity));
  }
}

// ---- Enclosures ---------------------------------------------------------------------------------

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

/// An example of shared/data/seed/online-softmax-examples.json, row-major.
struct Example {
  Index seq_q = 0, seq_kv = 0, head_dim = 0;
  bool causal = false;
  int decimals = 0;
  std::vector<double> q, k, v, output;
};

Example two_blocks_dense() {
  return {.seq_q = 2,
          .seq_kv = 4,
          .head_dim = 2,
          .decimals = 5,
          .q = {1, 0, 0, 1},
          .k = {1, 0, 0, 1, 1, 1, -1, 0},
          .v = {1, 2, 3, 4, 5, 6, 7, 8},
          .output = {3.35541, 4.35541, 4.0, 5.0}};
}

Example three_blocks_causal() {
  return {.seq_q = 6,
          .seq_kv = 6,
          .head_dim = 2,
          .causal = true,
          .decimals = 6,
          .q = {0.5, -1, 1, 0.5, -0.5, 0.5, 2, 0, 0, -2, 1, 1},
          .k = {1, 0, 0, 1, -1, 1, 0.5, 0.5, 2, -1, 0, 0},
          .v = {1, 0, 0, 1, 1, 1, -1, 2, 3, -1, 0.5, 0.5},
          .output = {1.0, 0.0, 0.587479, 0.412521, 0.657204, 0.830978, 0.31529, 0.717633, 2.148492,
                     -0.43346, 0.75, 0.549444}};
}

Example scores_near_1847() {
  return {.seq_q = 1,
          .seq_kv = 4,
          .head_dim = 3,
          .decimals = 5,
          .q = {40, 40, 0},
          .k = {40, 40, 0, -40, 40, 0, 40, 39.9, 0, 0, -40, 40},
          .v = {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1},
          .output = {0.90965, 0.0, 0.09035}};
}

TEST(Oracle, TheWorkedExamplesComeOutToEveryPrintedDigit) {
  for (const Example& example : {two_blocks_dense(), three_blocks_causal(), scores_near_1847()}) {
    Problem problem;
    problem.seq_q = example.seq_q;
    problem.seq_kv = example.seq_kv;
    problem.head_dim = problem.head_dim_v = example.head_dim;
    if (example.causal) problem.mask.causal = Causal{};
    Case read(problem);
    fill(read.q, example.q);
    fill(read.k, example.k);
    fill(read.v, example.v);
    const double half_a_unit = std::pow(10.0, -example.decimals) / 2;
    auto printed = example.output.begin();
    for (Index query = 0; query < problem.seq_q; ++query)
      for (const Enclosure& output : read.facts({0, 0, query}).output)
        EXPECT_LE(output.distance_lower(*printed++), half_a_unit)
            << example.seq_q << " queries, query " << query << ": " << output.high;
    EXPECT_EQ(printed, example.output.end());
  }
}

// ---- Facts of a row -----------------------------------------------------------------------------

TEST(RowFacts, ScoresAndMagnitudesAreThoseOfTheDotProducts) {
  Problem problem;
  problem.seq_kv = 4;
  problem.head_dim = 2;
  problem.scale = {false, -0.5};
  problem.mask.bits = MaskBits{1, 4, {true, false, true, true}};
  Case drawn(problem);
  fill(drawn.q, {1, 2});
  fill(drawn.k, {3, -4, kNan, kNan, 0.25, 1, -8, 4});
  fill(drawn.v, {10, 11, 12, 13});
  const RowFacts facts = drawn.facts();
  EXPECT_THAT(facts.keys, ElementsAre(0, 2, 3));
  EXPECT_THAT(facts.score, ElementsAre(2.5, -1.125, 0));
  EXPECT_THAT(facts.score_radius, Each(0));
  EXPECT_THAT(facts.score_magnitude,
              ElementsAre(IsJustAbove(5.5), IsJustAbove(1.125), IsJustAbove(8.0)));
  EXPECT_THAT(facts.value, ElementsAre(10, 12, 13));
  EXPECT_EQ(facts.score_max, 2.5);
  EXPECT_THAT(facts.dot_magnitude_max, IsJustAbove(16.0));
  EXPECT_EQ(facts.scale, -0.5);
  EXPECT_EQ(facts.head_dim, 2);
}

TEST(RowFacts, TheScoreRadiusHoldsWhatTheNearestDoubleLeavesOut) {
  Case drawn = scored(Dtype::f64, {1 + 0x1p-52}, {1});
  drawn.q.set(0, 0, 0, 0, 1 + 0x1p-52);
  const RowFacts facts = drawn.facts();
  EXPECT_EQ(facts.score[0], 1 + 0x1p-51);
  EXPECT_GE(facts.score_radius[0], 0x1p-104);
  EXPECT_GE(facts.score_magnitude[0], std::nextafter(1 + 0x1p-51, 2.0));
  EXPECT_GE(facts.dot_magnitude_max, std::nextafter(1 + 0x1p-51, 2.0));
}

TEST(RowFacts, ProbabilitiesAndTheLogSumAreTheNextDoublesAbove) {
  const RowFacts three = scored(Dtype::f32, {-7, -7, -7}, {1, 2, 3}).facts();
  EXPECT_THAT(three.probability, Each(0x1.5555555555556p-2));
  const RowFacts two = scored(Dtype::f32, {8, 8}, {1, 2}).facts();
  EXPECT_THAT(two.probability, Each(0.5));
  EXPECT_EQ(two.log_sum, 0x1.62e42fefa39f0p-1);
  EXPECT_EQ(scored(Dtype::f32, {8}, {1}).facts().log_sum, 0);
}

TEST(RowFacts, ProbabilitiesSumToAtLeastOne) {
  for_each_random_case([](const Case& drawn) {
    const RowFacts facts = drawn.facts();
    long double sum = 0;
    for (const double probability : facts.probability) sum += probability;
    // n additions of non-negative terms in long double lose at most a share of n 2^-64.
    const auto n = static_cast<long double>(facts.visible_keys());
    EXPECT_GE(sum * (1 + n * 0x1p-63L), 1);
    EXPECT_GE(facts.log_sum, 0);
  });
}

TEST(RowFacts, EveryProbabilityIsAnUpperBoundWithTheSlackThatIsPromised) {
  for_each_random_case([](const Case& drawn) {
    const RowFacts rough = drawn.facts({}, kPrecisionLadder.front());
    const RowFacts fine = drawn.facts({}, kPrecisionLadder.back());
    for (std::size_t j = 0; j < rough.probability.size(); ++j) {
      EXPECT_GE(rough.probability[j], fine.probability[j]);
      EXPECT_LE(rough.probability[j],
                fine.probability[j] * (1 + 0x1p-40) + std::numeric_limits<double>::denorm_min());
    }
    EXPECT_GE(rough.log_sum, fine.log_sum);
  });
}

// ---- Precision ----------------------------------------------------------------------------------

RowBound uniform_bound(const RowFacts& facts, double output, double lse) {
  return {std::vector<double>(facts.output.size(), output), lse, {}};
}

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
  const Case drawn = cancelling();
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
    EXPECT_EQ(calls, tried);
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
    EXPECT_EQ(certified.bits, kPrecisionLadder.front());
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

// ---- Which numbers are read ---------------------------------------------------------------------

TEST(Oracle, AVisibleNumberThatIsNotFiniteHasNoExactRow) {
  const auto rule = [](const RowFacts& facts) { return uniform_bound(facts, 1, 1); };
  for (const double special : {kNan, kInfinity, -kInfinity})
    for (Tensor Case::*tensor : {&Case::q, &Case::k, &Case::v}) {
      Case drawn = random_case(families()[0], 5);
      (drawn.*tensor).set(0, 0, 0, 1, special);
      EXPECT_FALSE(drawn.enclose().has_value());
      EXPECT_FALSE(certify_row(drawn.inputs(), {}, rule).has_value());
    }
}

TEST(Oracle, AScoreBeyondTheDoublesHasNoExactRow) {
  Case drawn = scored(Dtype::f64, {0x1p1000, 1}, {1, 2});
  drawn.q.set(0, 0, 0, 0, 0x1p23);
  EXPECT_TRUE(drawn.enclose().has_value());
  drawn.q.set(0, 0, 0, 0, 0x1p24);
  EXPECT_FALSE(drawn.enclose().has_value());
}

TEST(Oracle, WhatAnExcludedKeyHoldsDoesNotMatter) {
  for (int part = 0; part < 3; ++part) {
    Case drawn = random_case(families()[0], 6);
    if (part == 0) drawn.problem.key_lengths = {8};
    if (part == 1) drawn.problem.mask.causal = Causal{Causal::Alignment::explicit_offset, 7};
    if (part == 2) {
      drawn.problem.mask.bits = MaskBits{1, 9, std::vector<bool>(9, true)};
      drawn.problem.mask.bits->visible[8] = false;
    }
    const RowFacts clean = drawn.facts();
    ASSERT_EQ(clean.visible_keys(), 8);
    for (const double special : {kNan, kInfinity, -kInfinity}) {
      for (Index c = 0; c < 4; ++c) drawn.k.set(0, 0, 8, c, special);
      for (Index c = 0; c < 2; ++c) drawn.v.set(0, 0, 8, c, special);
      EXPECT_EQ(bits_of(drawn.facts()), bits_of(clean));
    }
  }
}

/// Two batch members, four query heads on two key/value heads.
Case grouped() {
  Problem problem;
  problem.batch = 2;
  problem.heads_q = 4;
  problem.heads_kv = 2;
  problem.seq_q = 3;
  problem.seq_kv = 5;
  problem.head_dim = 3;
  problem.head_dim_v = 2;
  problem.mask.causal = Causal{Causal::Alignment::bottom_right, 0};
  Case drawn(problem);
  std::mt19937_64 random(11);
  for (Tensor* tensor : {&drawn.q, &drawn.k, &drawn.v}) fill_random(*tensor, {}, random);
  return drawn;
}

TEST(Oracle, AQueryHeadReadsTheKeyValueHeadOfItsGroup) {
  const Case all = grouped();
  for_each_index({2, 4, 3, 1}, [&](Index b, Index h, Index query, Index) {
    Problem problem = all.problem;
    problem.batch = problem.heads_q = problem.heads_kv = 1;
    Case alone(problem);
    const Index kv_head = h < 2 ? 0 : 1;
    const auto copy = [b](const Tensor& from, Index head, Tensor& to) {
      for_each_index(to.extents(), [&](Index, Index, Index row, Index column) {
        to.set(0, 0, row, column, from.get(b, head, row, column));
      });
    };
    copy(all.q, h, alone.q);
    copy(all.k, kv_head, alone.k);
    copy(all.v, kv_head, alone.v);
    EXPECT_EQ(bits_of(all.facts({b, h, query})), bits_of(alone.facts({0, 0, query})));
  });
}

TEST(Oracle, StridesChangeNothing) {
  const Case dense = grouped();
  const auto scattered = [](const Tensor& from) {
    const Extents& extents = from.extents();  // columns outermost, a gap after every element
    const Strides strides{2, 2 * extents[0], 2 * extents[0] * extents[1],
                          2 * extents[0] * extents[1] * extents[2]};
    Tensor to(from.dtype(), extents, strides, 2 * extents[0] * strides[3]);
    for_each_index(extents, [&](Index b, Index h, Index row, Index column) {
      to.set(b, h, row, column, from.get(b, h, row, column));
    });
    return to;
  };
  Case strided = dense;
  strided.q = scattered(dense.q);
  strided.k = scattered(dense.k);
  strided.v = scattered(dense.v);
  for_each_index({2, 4, 3, 1}, [&](Index b, Index h, Index query, Index) {
    EXPECT_EQ(bits_of(strided.facts({b, h, query})), bits_of(dense.facts({b, h, query})));
  });
}

TEST(Oracle, RowsEvaluatedOnManyThreadsHaveTheBitsOfOneThread) {
  const Case drawn = grouped();
  const auto all_rows = [&] {
    std::vector<std::vector<std::uint64_t>> rows;
    for (const int bits : kPrecisionLadder)
      for_each_index({2, 4, 3, 1}, [&](Index b, Index h, Index query, Index) {
        rows.push_back(bits_of(enclose_row(drawn.inputs(), {b, h, query}, bits).value()));
      });
    return rows;
  };
  const auto expected = all_rows();
  std::vector<std::vector<std::vector<std::uint64_t>>> found(4);
  {
    std::vector<std::jthread> threads;
    threads.reserve(found.size());
    for (auto& rows : found) threads.emplace_back([&rows, &all_rows] { rows = all_rows(); });
  }
  EXPECT_THAT(found, Each(Eq(expected)));
}

}  // namespace
}  // namespace attest::reference
