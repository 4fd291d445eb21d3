#include "attest/error_bound.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attest/random.hpp"
#include "attest/summary.hpp"

namespace attest {
namespace {

using Wide = long double;
constexpr Wide kWideUlp = std::numeric_limits<Wide>::epsilon();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kSmallest = std::numeric_limits<double>::denorm_min();

// -- exact rows -----------------------------------------------------------------------------------

/// A row whose scores are known to within `score_error`; keys are 0, 1, 2 ...
struct ExactRow {
  std::vector<Wide> scores;
  std::vector<Wide> magnitudes;  ///< of the scores
  Wide score_error = 0;
  std::vector<double> values;  ///< row-major, keys x columns
  std::size_t columns = 1;
  double scale = 1;
  Index head_dim = 1;
  Wide dot_magnitude_max = 0;
};

double rounded_up(Wide value) {
  const auto nearest = static_cast<double>(value);
  return Wide{nearest} < value ? std::nextafter(nearest, kInfinity) : nearest;
}

Enclosure enclosure_of(Wide value, Wide radius) {
  const auto high = static_cast<double>(value);
  const auto low = static_cast<double>(value - high);
  return {high, low, rounded_up(radius + std::abs(value - high - low))};
}

bool all_equal(const ExactRow& row, std::size_t column) {
  for (std::size_t at = column; at < row.values.size(); at += row.columns)
    if (row.values[at] != row.values[column]) return false;
  return true;
}

/// Every rounding of the wide type is counted: n terms a sum, and the exponentials of scores that
/// are off by score_error.
RowFacts facts_of(const ExactRow& row) {
  const std::size_t n = row.scores.size();
  RowFacts facts;
  facts.scale = row.scale;
  facts.head_dim = row.head_dim;
  facts.dot_magnitude_max = rounded_up(row.dot_magnitude_max);
  const Wide score_max = *std::max_element(row.scores.begin(), row.scores.end());
  std::vector<Wide> probability;
  Wide sum = 0;
  for (const Wide score : row.scores) sum += probability.emplace_back(std::exp(score - score_max));
  for (Wide& weight : probability) weight /= sum;
  Wide spread = 0;
  for (const Wide score : row.scores) spread = std::max(spread, score_max - score);
  const Wide relative =
      std::expm1(4 * row.score_error) + (spread + static_cast<Wide>(n) + 4) * kWideUlp;
  for (std::size_t j = 0; j < n; ++j) {
    facts.keys.push_back(static_cast<Index>(j));
    facts.score.push_back(static_cast<double>(row.scores[j]));
    facts.score_radius.push_back(
        rounded_up(std::abs(row.scores[j] - facts.score[j]) + row.score_error));
    facts.score_magnitude.push_back(rounded_up(row.magnitudes[j]));
    facts.probability.push_back(std::max(rounded_up(probability[j] * (1 + relative)), kSmallest));
  }
  facts.value = row.values;
  for (std::size_t column = 0; column < row.columns; ++column) {
    Wide output = 0;
    Wide size = 0;
    for (std::size_t j = 0; j < n; ++j) {
      const Wide value = row.values[j * row.columns + column];
      output += probability[j] * value;
      size += probability[j] * std::abs(value);
    }
    facts.output.push_back(all_equal(row, column)
                               ? Enclosure{row.values[column], 0, 0}
                               : enclosure_of(output, size * (2 * relative + kWideUlp)));
  }
  facts.score_max = static_cast<double>(score_max);
  facts.log_sum = static_cast<double>(std::log(sum));
  const Wide lse = score_max + std::log(sum);
  facts.lse = enclosure_of(lse, row.score_error + relative + 2 * kWideUlp * (1 + std::abs(lse)));
  return facts;
}

/// A row of given exact scores, each its own magnitude.
ExactRow row_of_scores(const std::vector<Wide>& scores, std::vector<double> values) {
  ExactRow row;
  row.scores = scores;
  for (const Wide score : scores) row.magnitudes.push_back(std::abs(score));
  row.values = std::move(values);
  row.columns = row.values.size() / scores.size();
  row.dot_magnitude_max = *std::max_element(row.magnitudes.begin(), row.magnitudes.end());
  return row;
}

// -- kernels --------------------------------------------------------------------------------------

/// Stored numbers of one row.
template <class Real>
struct Inputs {
  Real scale = 1;
  std::vector<Real> q;
  std::vector<Real> k;  ///< row-major, keys x head_dim
  std::vector<Real> v;  ///< row-major, keys x columns
  std::size_t columns = 1;

  std::size_t head_dim() const { return q.size(); }
  std::size_t keys() const { return k.size() / q.size(); }
  std::span<const Real> value(std::size_t key) const {
    return std::span<const Real>(v).subspan(key * columns, columns);
  }
  /// Keys [begin, end) alone.
  Inputs part(std::size_t begin, std::size_t end) const {
    Inputs inputs = *this;
    const auto cut = [&](const std::vector<Real>& all, std::size_t width) {
      return std::vector<Real>(all.begin() + static_cast<std::ptrdiff_t>(begin * width),
                               all.begin() + static_cast<std::ptrdiff_t>(end * width));
    };
    inputs.k = cut(k, head_dim());
    inputs.v = cut(v, columns);
    return inputs;
  }
};

template <class Real>
ExactRow exact_row(const Inputs<Real>& inputs) {
  ExactRow row;
  const std::size_t head_dim = inputs.head_dim();
  for (std::size_t j = 0; j < inputs.keys(); ++j) {
    Wide dot = 0;
    Wide magnitude = 0;
    for (std::size_t c = 0; c < head_dim; ++c) {
      const Wide product = Wide{inputs.q[c]} * Wide{inputs.k[j * head_dim + c]};
      dot += product;
      magnitude += std::abs(product);
    }
    const Wide rounding = 1 + static_cast<Wide>(2 * head_dim + 2) * kWideUlp;
    row.scores.push_back(dot * Wide{inputs.scale});
    row.magnitudes.push_back(magnitude * std::abs(Wide{inputs.scale}) * rounding);
    row.dot_magnitude_max = std::max(row.dot_magnitude_max, magnitude * rounding);
    row.score_error = std::max(row.score_error, row.magnitudes.back() * (rounding - 1));
  }
  row.values.assign(inputs.v.begin(), inputs.v.end());
  row.columns = inputs.columns;
  row.scale = static_cast<double>(inputs.scale);
  row.head_dim = static_cast<Index>(head_dim);
  return row;
}

/// Of the kernels below: dot products in order; exp and log of the C library, below one ulp.
template <class Real>
DeclaredAccuracy declared(const Inputs<Real>& inputs, SummaryScope scope) {
  DeclaredAccuracy accuracy;
  accuracy.format = format_of(dtype_of<Real>());
  accuracy.dot_roundings = static_cast<Index>(inputs.head_dim()) + 1;
  accuracy.exp_relative_error = 2 * accuracy.format.unit_roundoff;
  accuracy.exp_absolute_error = 2 * accuracy.format.rounding_underflow;
  accuracy.log_relative_error = 2 * accuracy.format.unit_roundoff;
  accuracy.scope = scope;
  return accuracy;
}

template <class Real>
Real score(const Inputs<Real>& inputs, std::size_t key) {
  Real dot = 0;
  for (std::size_t c = 0; c < inputs.head_dim(); ++c)
    dot += inputs.q[c] * inputs.k[key * inputs.head_dim() + c];
  return inputs.scale * dot;
}

/// Takes in the keys of one tile, whose maximum is found first.
template <class Real>
void absorb_tile(RowSummary<Real>& summary, const Inputs<Real>& inputs, KeyRange tile) {
  std::vector<Real> scores;
  for (Index key = tile.begin; key < tile.end; ++key)
    scores.push_back(score(inputs, static_cast<std::size_t>(key)));
  if (scores.empty()) return;
  raise_row_max(summary,
                std::max(summary.row_max, *std::max_element(scores.begin(), scores.end())));
  for (Index key = tile.begin; key < tile.end; ++key)
    add_weighted(summary,
                 std::exp(scores[static_cast<std::size_t>(key - tile.begin)] - summary.row_max),
                 inputs.value(static_cast<std::size_t>(key)));
}

template <class Real>
RowSummary<Real> summarise(const Inputs<Real>& inputs, SummaryScope scope, const Tiling& tiling) {
  const auto seq_kv = static_cast<Index>(inputs.keys());
  std::vector<KeyRange> units{{0, seq_kv}};
  if (scope == SummaryScope::split) units = split_ranges(tiling, seq_kv);
  if (scope == SummaryScope::tile) units = all_tiles(tiling, seq_kv);
  const MergeOrder order = scope == SummaryScope::row ? MergeOrder{} : tiling.merge;
  const MergeTree tree = make_merge_tree(order, static_cast<Index>(units.size())).value();
  return evaluate(
      tree,
      [&](Index leaf) {
        const KeyRange unit = units[static_cast<std::size_t>(leaf)];
        auto summary = RowSummary<Real>::identity(static_cast<Index>(inputs.columns));
        if (scope != SummaryScope::split)
          absorb_tile(summary, inputs, unit);
        else
          for (const KeyRange tile : tile_ranges(unit, tiling.tile_kv))
            absorb_tile(summary, inputs, tile);
        return summary;
      },
      [](RowSummary<Real> left, RowSummary<Real> right) {
        return merge(std::move(left), std::move(right));
      });
}

template <class Real>
NormalisedRow<Real> textbook(const Inputs<Real>& inputs) {
  return normalise(summarise(inputs, SummaryScope::row, Tiling{}));
}

/// `row` is within the bound of every output and of the lse.
template <class Real>
void expect_within(const RowBound& bound, const RowFacts& facts, const NormalisedRow<Real>& row) {
  ASSERT_EQ(bound.output.size(), row.output.size());
  for (std::size_t c = 0; c < row.output.size(); ++c) {
    const auto got = static_cast<double>(row.output[c]);
    EXPECT_LE(facts.output[c].distance_lower(got), bound.output[c])
        << "column " << c << ", got " << got << ", exact " << facts.output[c].high;
  }
  const auto lse = static_cast<double>(row.lse);
  EXPECT_LE(facts.lse.distance_lower(lse), bound.lse)
      << "lse, got " << lse << ", exact " << facts.lse.high;
}

void expect_unproven(const RowBound& bound, const std::string& reason, std::size_t columns) {
  EXPECT_FALSE(bound.proven());
  EXPECT_EQ(bound.unproven, reason);
  EXPECT_EQ(bound.output, std::vector<double>(columns, kInfinity));
  EXPECT_EQ(bound.lse, kInfinity);
}

// -- random rows ----------------------------------------------------------------------------------

/// In [-1, 1).
double random_unit(SplitMix64& random) {
  return std::ldexp(static_cast<double>(random.next() >> 11), -52) - 1;
}

template <class Real>
Inputs<Real> random_inputs(SplitMix64& random) {
  Inputs<Real> inputs;
  inputs.q.resize(1 + random.below(5));
  const std::size_t keys = 1 + random.below(30);
  inputs.columns = 2;
  inputs.k.resize(keys * inputs.q.size());
  inputs.v.resize(keys * inputs.columns);
  if (random.below(2) == 0) inputs.scale = static_cast<Real>(random_unit(random));
  const int score_size = static_cast<int>(random.below(9)) - 2;
  const int value_size = -static_cast<int>(random.below(std::is_same_v<Real, float> ? 150 : 1075));
  const Real offset = random.below(4) == 0 ? Real(100) : Real(0);
  for (Real& element : inputs.q)
    element = static_cast<Real>(std::ldexp(random_unit(random), score_size));
  for (Real& element : inputs.k) element = static_cast<Real>(random_unit(random)) + offset;
  for (Real& element : inputs.v)
    element =
        static_cast<Real>(std::ldexp(random_unit(random), random.below(2) == 0 ? 0 : value_size));
  if (random.below(4) == 0)
    for (std::size_t at = 0; at < inputs.v.size(); at += inputs.columns) inputs.v[at] = inputs.v[0];
  return inputs;
}

Tiling random_tiling(SplitMix64& random) {
  Tiling tiling;
  tiling.tile_kv = 1 + static_cast<Index>(random.below(9));
  tiling.splits.count = 1 + static_cast<Index>(random.below(5));
  tiling.merge.kind = static_cast<MergeOrder::Kind>(random.below(4));
  tiling.merge.seed = random.next();
  return tiling;
}

template <class Real>
class ErrorBoundOf : public ::testing::Test {};

using RealTypes = ::testing::Types<float, double>;

class RealName {
 public:
  template <class Real>
  static std::string GetName(int /*index*/) {
    return std::is_same_v<Real, float> ? "f32" : "f64";
  }
};

TYPED_TEST_SUITE(ErrorBoundOf, RealTypes, RealName);

TYPED_TEST(ErrorBoundOf, TiledKernelsHoldsInEveryScopeTilingAndMergeOrder) {
  SplitMix64 random(31);
  int proven = 0;
  for (int i = 0; i < 3000; ++i) {
    const auto inputs = random_inputs<TypeParam>(random);
    const auto scope = static_cast<SummaryScope>(random.below(3));
    const Tiling tiling = random_tiling(random);
    const RowFacts facts = facts_of(exact_row(inputs));
    const RowBound bound =
        error_bound(declared(inputs, scope), facts, tiling, static_cast<Index>(inputs.keys()));
    if (!bound.proven()) continue;
    ++proven;
    expect_within(bound, facts, normalise(summarise(inputs, scope, tiling)));
    ASSERT_FALSE(this->HasFailure()) << "row " << i;
  }
  EXPECT_GT(proven, 0);
}

TYPED_TEST(ErrorBoundOf, ScoresHoldsForEveryDotProduct) {
  SplitMix64 random(32);
  for (int i = 0; i < 1000; ++i) {
    const auto inputs = random_inputs<TypeParam>(random);
    const RowFacts facts = facts_of(exact_row(inputs));
    const DeclaredAccuracy accuracy = declared(inputs, SummaryScope::row);
    for (std::size_t j = 0; j < inputs.keys(); ++j) {
      const Enclosure exact{facts.score[j], 0, facts.score_radius[j]};
      const double error = exact.distance_lower(static_cast<double>(score(inputs, j)));
      ASSERT_LE(error,
                score_error_bound(accuracy, facts.scale, facts.head_dim, facts.score_magnitude[j]));
    }
  }
}

TYPED_TEST(ErrorBoundOf, NormalisedMergesHoldsForTwoPartsAndForTrees) {
  SplitMix64 random(33);
  int proven = 0;
  for (int i = 0; i < 2000; ++i) {
    const auto inputs = random_inputs<TypeParam>(random);
    const std::size_t keys = inputs.keys();
    if (keys < 3) continue;
    const DeclaredAccuracy accuracy = declared(inputs, SummaryScope::row);
    const std::size_t first = 1 + random.below(keys - 2);
    const std::size_t second = first + 1 + random.below(keys - first - 1);
    const auto bound_of = [&](const RowFacts& facts) {
      return error_bound(accuracy, facts, Tiling{}, facts.visible_keys());
    };
    const auto a = inputs.part(0, first);
    const auto b = inputs.part(first, second);
    const auto c = inputs.part(second, keys);
    const RowFacts facts_a = facts_of(exact_row(a));
    const RowFacts facts_b = facts_of(exact_row(b));
    const RowFacts facts_c = facts_of(exact_row(c));
    const RowFacts facts_ab = facts_of(exact_row(inputs.part(0, second)));
    const RowFacts facts_abc = facts_of(exact_row(inputs));
    const RowBound bound_a = bound_of(facts_a);
    const RowBound bound_b = bound_of(facts_b);
    const RowBound bound_c = bound_of(facts_c);
    const std::vector<NormalisedPart> pair{{&facts_a, &bound_a}, {&facts_b, &bound_b}};
    const RowBound bound_ab = normalised_merge_bound(accuracy, facts_ab, pair);
    const std::vector<NormalisedPart> tree{{&facts_ab, &bound_ab}, {&facts_c, &bound_c}};
    const RowBound bound_abc = normalised_merge_bound(accuracy, facts_abc, tree);
    if (!bound_abc.proven()) continue;
    ++proven;
    const auto row_ab = merge(textbook(a), textbook(b));
    expect_within(bound_ab, facts_ab, row_ab);
    expect_within(bound_abc, facts_abc, merge(row_ab, textbook(c)));
    ASSERT_FALSE(this->HasFailure()) << "row " << i;
  }
  EXPECT_GT(proven, 0);
}

// -- planted rows ---------------------------------------------------------------------------------

TEST(ErrorBound, HoldsWhereScoreErrorsTakeAwayMostOfTheRowSum) {
  // Scores differ by 2^-22 exactly and by 4 as computed; every value is 27 subnormals.
  const std::size_t keys = 1000;
  Inputs<float> inputs;
  inputs.q = {1, 1, 1};
  for (std::size_t j = 0; j < keys; ++j) {
    const float last = j == 0 ? 1 + 0x1p-23F : 1.0F;
    inputs.k.insert(inputs.k.end(), {0x1p24F, last, last});
  }
  inputs.v.assign(keys, 27 * 0x1p-149F);
  DeclaredAccuracy accuracy = declared(inputs, SummaryScope::row);
  accuracy.dot_roundings = 3;  // a scale of 1 rounds nothing
  ExactRow exact = exact_row(inputs);
  exact.score_error = 0;  // 47 bits hold every partial sum
  const RowFacts facts = facts_of(exact);
  const RowBound bound = error_bound(accuracy, facts, Tiling{}, static_cast<Index>(keys));
  const RowSummary<float> summary = summarise(inputs, SummaryScope::row, Tiling{});
  ASSERT_TRUE(bound.proven()) << bound.unproven;
  expect_within(bound, facts, normalise(summary));
  // The row is as nasty as it should be: one Delta alone would not bound row_sum from below.
  const double delta =
      score_error_bound(accuracy, facts.scale, facts.head_dim, facts.score_magnitude[0]);
  EXPECT_LT(std::log(static_cast<double>(summary.row_sum)), facts.log_sum - delta);
}

TEST(ErrorBound, OfSubnormalF64ValuesDoesNotUnderflowItself) {
  // Half of the values are the smallest normal and 127 subnormals, half minus the smallest normal.
  const std::size_t keys = 1000;
  Inputs<double> inputs;
  inputs.q = {0};
  inputs.k.assign(keys, 0);
  for (std::size_t j = 0; j < keys; ++j)
    inputs.v.push_back(j < keys / 2 ? 0x1p-1022 + 127 * kSmallest : -0x1p-1022);
  RowFacts facts = facts_of(exact_row(inputs));
  facts.output[0] = {64 * kSmallest, 0, kSmallest};  // 63.5 subnormals, which no double holds
  const RowBound bound =
      error_bound(declared(inputs, SummaryScope::row), facts, Tiling{}, static_cast<Index>(keys));
  ASSERT_TRUE(bound.proven()) << bound.unproven;
  const NormalisedRow<double> row = textbook(inputs);
  EXPECT_GT(facts.output[0].distance_lower(row.output[0]), 0);  // the kernel does err
  expect_within(bound, facts, row);
}

TEST(ErrorBound, OfAMergeWhoseNumeratorMayOverflowIsUnproven) {
  const float value = 0x1.fffp126F;
  Inputs<float> inputs;
  inputs.q = {0};
  inputs.k = {0, 0, 0};
  inputs.v = {value, value, value};
  const DeclaredAccuracy accuracy = declared(inputs, SummaryScope::row);
  const RowFacts whole = facts_of(exact_row(inputs));
  const RowFacts one = facts_of(exact_row(inputs.part(0, 1)));
  const RowBound bound = error_bound(accuracy, one, Tiling{}, 1);
  const std::vector<NormalisedPart> parts(3, {&one, &bound});
  // Correct arithmetic of the merge: all weights are 1.
  EXPECT_TRUE(std::isinf((value + value + value) / 3.0F));
  expect_unproven(
      normalised_merge_bound(accuracy, whole, parts),
      bound.proven() ? "the merged numerator may overflow (assumption A6)" : bound.unproven, 1);
  expect_unproven(error_bound(accuracy, whole, Tiling{}, 3),
                  "the numerator may overflow (assumption A6)", 1);
}

TEST(ErrorBound, OfAnOverflowThatAScaleOfZeroWouldHideIsUnproven) {
  Inputs<float> inputs;
  inputs.scale = 0;
  inputs.q = {1e30F};
  inputs.k = {1e30F, 1e30F};
  inputs.v = {1, 2};
  EXPECT_TRUE(std::isnan(score(inputs, 0)));
  expect_unproven(
      error_bound(declared(inputs, SummaryScope::row), facts_of(exact_row(inputs)), Tiling{}, 2),
      "a score may overflow (assumption A6)", 1);
}

TEST(ErrorBound, OfScoresThatLieFarApartIsFiniteOrUnproven) {
  for (int exponent = 0; exponent < 126; ++exponent) {
    Inputs<float> inputs;
    inputs.q = {1};
    inputs.k = {0, -std::ldexp(1.0F, exponent)};
    inputs.v = {1, 2};
    const RowFacts facts = facts_of(exact_row(inputs));
    const RowBound bound = error_bound(declared(inputs, SummaryScope::row), facts, Tiling{}, 2);
    if (!bound.proven()) {
      expect_unproven(bound, bound.unproven, 1);
      continue;
    }
    EXPECT_TRUE(std::isfinite(bound.output[0])) << exponent;
    EXPECT_TRUE(std::isfinite(bound.lse)) << exponent;
    expect_within(bound, facts, textbook(inputs));
  }
}

TEST(ErrorBound, RefusesAKernelThatForgetsToRescale) {
  const RowFacts facts = facts_of(row_of_scores({0, 3}, {1, -1}));
  DeclaredAccuracy accuracy;
  accuracy.scope = SummaryScope::tile;
  Tiling tiling;
  tiling.tile_kv = 1;
  const RowBound bound = error_bound(accuracy, facts, tiling, 2);
  ASSERT_TRUE(bound.proven());
  EXPECT_GT(facts.output[0].distance_lower((1.0 - 1.0) / 2), bound.output[0]);
  EXPECT_GT(facts.lse.distance_lower(3 + std::log(2.0)), bound.lse);
}

// -- laws of the bound ----------------------------------------------------------------------------

/// What a kernel declares and the paths that follow, every number large enough to be seen.
struct Declaration {
  DeclaredAccuracy accuracy;
  std::vector<PathCounts> paths;

  explicit Declaration(std::size_t keys) : paths(keys, {4, 2}) {
    accuracy.format.rounding_underflow = 0x1p-30;
    accuracy.dot_roundings = 4;
    accuracy.exp_relative_error = 0x1p-22;
    accuracy.exp_absolute_error = 0x1p-28;
    accuracy.log_relative_error = 0x1p-22;
  }
};

RowFacts ordinary_facts() {
  return facts_of(row_of_scores({-2, 0, 0.5, 3, 3, 2.25}, {1, 5, 5, 5, -3, 5, 2, 5, 0, 5, 7, 5}));
}

struct DeclaredNumber {
  std::string name;
  std::function<void(Declaration&)> enlarge;
  bool moves_output = true;
  bool moves_lse = true;
};

std::vector<DeclaredNumber> declared_numbers() {
  return {
      {"u", [](Declaration& it) { it.accuracy.format.unit_roundoff *= 2; }},
      {"om", [](Declaration& it) { it.accuracy.format.rounding_underflow *= 2; }},
      {"h", [](Declaration& it) { it.accuracy.dot_roundings *= 2; }},
      {"eps", [](Declaration& it) { it.accuracy.exp_relative_error *= 2; }},
      {"eta", [](Declaration& it) { it.accuracy.exp_absolute_error *= 2; }},
      {"eps_log", [](Declaration& it) { it.accuracy.log_relative_error *= 2; }, false, true},
      {"r", [](Declaration& it) { it.accuracy.division_roundings *= 2; }, true, false},
      {"A",
       [](Declaration& it) {
         for (PathCounts& path : it.paths) path.additions *= 2;
       }},
      {"R",
       [](Declaration& it) {
         for (PathCounts& path : it.paths) path.rescales *= 2;
       }},
  };
}

TEST(ErrorBound, GrowsWithEveryDeclaredNumber) {
  const RowFacts facts = ordinary_facts();
  for (const DeclaredNumber& number : declared_numbers()) {
    Declaration declaration(facts.keys.size());
    RowBound before = error_bound(declaration.accuracy, facts, declaration.paths);
    ASSERT_TRUE(before.proven()) << before.unproven;
    number.enlarge(declaration);
    const RowBound after = error_bound(declaration.accuracy, facts, declaration.paths);
    for (std::size_t c = 0; c < facts.output.size(); ++c) {
      if (number.moves_output)
        EXPECT_GT(after.output[c], before.output[c]) << number.name;
      else
        EXPECT_EQ(after.output[c], before.output[c]) << number.name;
    }
    if (number.moves_lse)
      EXPECT_GT(after.lse, before.lse) << number.name;
    else
      EXPECT_EQ(after.lse, before.lse) << number.name;
  }
}

TEST(ErrorBound, NeverFallsWhileADeclaredNumberGrowsUntilItIsUnproven) {
  const RowFacts facts = ordinary_facts();
  for (const DeclaredNumber& number : declared_numbers()) {
    Declaration declaration(facts.keys.size());
    RowBound before = error_bound(declaration.accuracy, facts, declaration.paths);
    for (int doubling = 0; doubling < 40; ++doubling) {
      number.enlarge(declaration);
      const RowBound after = error_bound(declaration.accuracy, facts, declaration.paths);
      for (std::size_t c = 0; c < facts.output.size(); ++c)
        ASSERT_GE(after.output[c], before.output[c]) << number.name << ", " << doubling;
      ASSERT_GE(after.lse, before.lse) << number.name << ", " << doubling;
      before = after;
    }
  }
}

TEST(ErrorBound, UsesThePathsOfTheTiling) {
  SplitMix64 random(34);
  for (int i = 0; i < 300; ++i) {
    const auto inputs = random_inputs<float>(random);
    const auto seq_kv = static_cast<Index>(inputs.keys());
    const RowFacts facts = facts_of(exact_row(inputs));
    const DeclaredAccuracy accuracy = declared(inputs, static_cast<SummaryScope>(random.below(3)));
    const Tiling tiling = random_tiling(random);
    std::vector<ScoredKey> keys;
    keys.reserve(facts.keys.size());
    for (std::size_t j = 0; j < facts.keys.size(); ++j)
      keys.push_back(
          {facts.keys[j], facts.score[j],
           facts.score_radius[j] +
               score_error_bound(accuracy, facts.scale, facts.head_dim, facts.score_magnitude[j])});
    const RowBound by_paths =
        error_bound(accuracy, facts, count_paths(accuracy, tiling, seq_kv, keys));
    const RowBound by_tiling = error_bound(accuracy, facts, tiling, seq_kv);
    ASSERT_EQ(by_tiling.output, by_paths.output);
    ASSERT_EQ(by_tiling.lse, by_paths.lse);
    ASSERT_EQ(by_tiling.unproven, by_paths.unproven);
  }
}

TEST(ErrorBound, OfValuesThatAreZeroIsUnderflowOnly) {
  DeclaredAccuracy accuracy;
  accuracy.dot_roundings = 8;
  accuracy.exp_relative_error = 2 * accuracy.format.unit_roundoff;
  accuracy.exp_absolute_error = 2 * accuracy.format.rounding_underflow;
  for (const Wide spread : {0.0L, 1.0L, 100.0L, 1000.0L}) {
    const RowFacts facts = facts_of(row_of_scores({0, spread, -spread}, {0, 0, 0}));
    const RowBound bound = error_bound(accuracy, facts, Tiling{}, 3);
    ASSERT_TRUE(bound.proven());
    EXPECT_GT(bound.output[0], 0);
    EXPECT_LT(bound.output[0], accuracy.format.min_normal);
  }
}

TEST(ErrorBound, OfEqualValuesDoesNotContainTheErrorOfTheScores) {
  // Scores of zero by cancellation: every probability is uncertain by a factor exp(delta).
  ExactRow row = row_of_scores({0, 0, 0, 0}, {1, 1, 1, -1, 1, 1, 1, -1});
  row.magnitudes.assign(4, 0x1p16L);
  const RowFacts facts = facts_of(row);
  DeclaredAccuracy accuracy;
  accuracy.dot_roundings = 16;
  const double delta = score_error_bound(accuracy, 1, 1, facts.score_magnitude[0]);
  const RowBound bound = error_bound(accuracy, facts, Tiling{}, 4);
  ASSERT_TRUE(bound.proven());
  EXPECT_LT(bound.output[0], delta);              // 1 1 1 1
  EXPECT_GT(bound.output[1], std::expm1(delta));  // 1 -1 1 -1
}

TEST(ErrorBound, OfOneKeyContainsTheErrorOfTheScoreInTheLseOnly) {
  ExactRow row = row_of_scores({1}, {3, -5});
  row.magnitudes = {0x1p16L};
  const RowFacts facts = facts_of(row);
  DeclaredAccuracy accuracy;
  accuracy.dot_roundings = 16;
  const double delta = score_error_bound(accuracy, 1, 1, facts.score_magnitude[0]);
  const RowBound bound = error_bound(accuracy, facts, Tiling{}, 1);
  ASSERT_TRUE(bound.proven());
  for (std::size_t c = 0; c < 2; ++c) {
    const double size = std::abs(facts.value[c]);
    EXPECT_GE(bound.output[c], accuracy.format.unit_roundoff * size);  // the division may round
    EXPECT_LT(bound.output[c], delta * size);
  }
  EXPECT_GE(bound.lse, delta);
}

TEST(ErrorBound, OfOneKeyAcceptsTheValueItself) {
  Inputs<float> inputs;
  inputs.q = {0.3F, -0.7F};
  inputs.k = {1.1F, 0.9F};
  inputs.v = {0.1F};
  const RowFacts facts = facts_of(exact_row(inputs));
  const RowBound bound = error_bound(declared(inputs, SummaryScope::row), facts, Tiling{}, 1);
  ASSERT_TRUE(bound.proven());
  const NormalisedRow<float> row = textbook(inputs);
  EXPECT_EQ(row.output[0], 0.1F);
  expect_within(bound, facts, row);
}

TEST(ErrorBound, IsUnprovenWhereAScoreMayOverflow) {
  const std::string reason = "a score may overflow (assumption A6)";
  const DeclaredAccuracy accuracy;
  const double limit = accuracy.format.max_finite / 2;
  RowFacts facts = ordinary_facts();
  const std::size_t columns = facts.output.size();
  facts.score_magnitude[2] = limit;
  expect_unproven(error_bound(accuracy, facts, Tiling{}, 6), reason, columns);
  facts = ordinary_facts();
  facts.dot_magnitude_max = limit;
  expect_unproven(error_bound(accuracy, facts, Tiling{}, 6), reason, columns);
  facts.dot_magnitude_max = std::nextafter(limit, 0);
  EXPECT_TRUE(error_bound(accuracy, facts, Tiling{}, 6).proven());
  DeclaredAccuracy rounding = accuracy;  // exp(h u) beyond the last ulp
  rounding.dot_roundings = 1;
  expect_unproven(error_bound(rounding, facts, Tiling{}, 6), reason, columns);
}

TEST(ErrorBound, IsUnprovenWhereTheNumeratorMayOverflow) {
  const DeclaredAccuracy accuracy;
  RowFacts facts = ordinary_facts();
  const auto keys = static_cast<double>(facts.visible_keys());
  facts.value[3] = -accuracy.format.max_finite / 2 / keys;
  expect_unproven(error_bound(accuracy, facts, Tiling{}, 6),
                  "the numerator may overflow (assumption A6)", facts.output.size());
}

TEST(ErrorBound, IsUnprovenWhereTheErrorOfTheRowSumMayReachIt) {
  const RowFacts facts = ordinary_facts();
  const std::vector<PathCounts> paths(facts.keys.size(), {1 << 24, 0});
  expect_unproven(error_bound(DeclaredAccuracy{}, facts, paths),
                  "the error of row_sum may reach row_sum (etaD >= 1)", facts.output.size());
}

TEST(ErrorBound, IsUnprovenWhereUnderflowMayReachTheRowSum) {
  const RowFacts facts = ordinary_facts();
  DeclaredAccuracy accuracy;
  accuracy.exp_absolute_error = 1;
  expect_unproven(error_bound(accuracy, facts, Tiling{}, 6), "the bound is not finite",
                  facts.output.size());
}

// -- kernels that err the worst way ---------------------------------------------------------------

/// An arithmetic without errors but for those that a test adds.
DeclaredAccuracy errorless() {
  DeclaredAccuracy accuracy;
  accuracy.format.unit_roundoff = 0x1p-53;
  accuracy.format.rounding_underflow = kSmallest;
  accuracy.division_roundings = 0;
  return accuracy;
}

TEST(ErrorBound, CoversOppositeErrorsOfEveryExpOnAPath) {
  DeclaredAccuracy accuracy = errorless();
  accuracy.exp_relative_error = 0x1p-10;
  const RowFacts facts = facts_of(row_of_scores({0, 0}, {1, -1}));
  for (Index rescales = 0; rescales <= 5; ++rescales) {
    const std::vector<PathCounts> paths(2, {1, rescales});
    const RowBound bound = error_bound(accuracy, facts, paths);
    const auto results = static_cast<double>(1 + rescales);  // of exp, on each path
    const double larger = std::pow(1 + accuracy.exp_relative_error, results);
    const double smaller = std::pow(1 - accuracy.exp_relative_error, results);
    EXPECT_GE(bound.output[0], (larger - smaller) / (larger + smaller)) << rescales;
    EXPECT_GE(bound.lse, -std::log(smaller)) << rescales;
  }
}

TEST(ErrorBound, CoversEveryRoundingUpwardsInTheNumeratorAndDownwardsInTheRowSum) {
  DeclaredAccuracy accuracy = errorless();
  const double u = accuracy.format.unit_roundoff = 0x1p-10;
  const double up = 1 + u / (1 + u);
  const double down = 1 / (1 + u);
  for (const Index additions : {1, 4})
    for (const Index rescales : {0, 5})
      for (const Index divisions : {0, 1, 3}) {
        accuracy.division_roundings = divisions;
        const std::vector<PathCounts> paths{{additions, rescales}};
        const RowBound bound = error_bound(accuracy, facts_of(row_of_scores({0}, {1})), paths);
        const double numerator = std::pow(up, additions + rescales + 1);
        const double row_sum = std::pow(down, additions + rescales);
        const double output = numerator / row_sum * std::pow(up, divisions);
        EXPECT_GE(bound.output[0], output - 1) << additions << ", " << rescales;
        EXPECT_GE(bound.lse, -std::log(row_sum)) << additions << ", " << rescales;
      }
}

TEST(ErrorBound, CoversTheRoundingOfALargeArgumentOfExp) {
  DeclaredAccuracy accuracy = errorless();
  const double u = accuracy.format.unit_roundoff = 0x1p-10;
  const RowFacts facts = facts_of(row_of_scores({0, -30}, {0, 1}));
  const RowBound bound = error_bound(accuracy, facts, std::vector<PathCounts>(2, {1, 0}));
  const double weight = std::exp(-30 + 30 * u / (1 + u));
  EXPECT_GE(bound.output[0], facts.output[0].distance_lower(weight / (1 + weight)));
}

TEST(ErrorBound, CoversOppositeErrorsOfTheScores) {
  DeclaredAccuracy accuracy = errorless();
  accuracy.format.unit_roundoff = 0x1p-10;
  accuracy.dot_roundings = 8;
  ExactRow row = row_of_scores({0, 0}, {1, -1});
  row.magnitudes = {4, 4};
  const RowFacts facts = facts_of(row);
  const RowBound bound = error_bound(accuracy, facts, std::vector<PathCounts>(2, {1, 0}));
  const double delta = score_error_bound(accuracy, 1, 1, facts.score_magnitude[0]);
  EXPECT_GE(bound.output[0], std::tanh(delta));
  EXPECT_GE(bound.lse, delta);
}

TEST(ErrorBound, CoversTheUnderflowOfEveryExp) {
  DeclaredAccuracy accuracy = errorless();
  accuracy.exp_absolute_error = 0x1p-10;
  const RowFacts facts = facts_of(row_of_scores({0, -1000}, {0, 1}));
  for (Index rescales = 0; rescales <= 5; ++rescales) {
    const std::vector<PathCounts> paths{{1, 0}, {1, rescales}};
    const RowBound bound = error_bound(accuracy, facts, paths);
    const double weight = static_cast<double>(1 + rescales) * accuracy.exp_absolute_error;
    EXPECT_GE(bound.output[0], weight / (1 + weight)) << rescales;
    EXPECT_GE(bound.lse, std::log1p(weight)) << rescales;
  }
}

TEST(ErrorBound, CoversTheUnderflowOfEveryProductAndTheDivision) {
  DeclaredAccuracy accuracy = errorless();
  accuracy.format.rounding_underflow = 0x1p-10;
  const RowFacts facts = facts_of(row_of_scores({0}, {0}));
  for (Index rescales = 0; rescales <= 5; ++rescales) {
    const RowBound bound = error_bound(accuracy, facts, std::vector<PathCounts>{{1, rescales}});
    const auto operations = static_cast<double>(1 + rescales + 1);
    EXPECT_GE(bound.output[0], operations * accuracy.format.rounding_underflow) << rescales;
  }
}

TEST(ErrorBound, CoversTheErrorOfTheLogarithmAndOfTheAdditionAfterIt) {
  DeclaredAccuracy accuracy = errorless();
  accuracy.log_relative_error = 0x1p-10;
  const double u = accuracy.format.unit_roundoff = 0x1p-12;
  const RowFacts facts = facts_of(row_of_scores({8, 8, 8, 8}, {1, 1, 1, 1}));
  const RowBound bound = error_bound(accuracy, facts, std::vector<PathCounts>(4, {0, 0}));
  const double lse = (8 + std::log(4.0) * (1 + accuracy.log_relative_error)) * (1 + u / (1 + u));
  EXPECT_GE(bound.lse, facts.lse.distance_lower(lse));
}

TEST(ScoreErrorBound, IsZeroForScoresThatAreGiven) {
  DeclaredAccuracy accuracy;
  accuracy.dot_roundings = 0;
  EXPECT_EQ(score_error_bound(accuracy, 3, 64, 1e30), 0);
}

TEST(ScoreErrorBound, GrowsWithMagnitudeRoundingsScaleAndHeadDim) {
  DeclaredAccuracy accuracy;
  accuracy.dot_roundings = 4;
  accuracy.format.rounding_underflow = accuracy.format.unit_roundoff;  // large enough to be seen
  const double bound = score_error_bound(accuracy, 2, 8, 5);
  EXPECT_GT(score_error_bound(accuracy, 2, 8, 6), bound);
  EXPECT_GT(score_error_bound(accuracy, -3, 8, 5), bound);
  EXPECT_GT(score_error_bound(accuracy, 2, 9, 5), bound);
  accuracy.dot_roundings = 5;
  EXPECT_GT(score_error_bound(accuracy, 2, 8, 5), bound);
}

// -- Theorem 4 ------------------------------------------------------------------------------------

/// Two parts of ordinary size and the row of all their keys.
struct SplitRow {
  DeclaredAccuracy accuracy;
  RowFacts whole = facts_of(row_of_scores({0, 2, 1, -1}, {1, 4, -2, 3}));
  RowFacts left = facts_of(row_of_scores({0, 2}, {1, 4}));
  RowFacts right = facts_of(row_of_scores({1, -1}, {-2, 3}));
  RowBound left_bound = error_bound(accuracy, left, Tiling{}, 2);
  RowBound right_bound = error_bound(accuracy, right, Tiling{}, 2);

  RowBound merged() const {
    const std::vector<NormalisedPart> parts{{&left, &left_bound}, {&right, &right_bound}};
    return normalised_merge_bound(accuracy, whole, parts);
  }
};

TEST(NormalisedMergeBound, GrowsWithTheBoundOfEitherPart) {
  SplitRow row;
  const auto expect_growth = [&](double& part_bound, bool lse_grows) {
    const RowBound before = row.merged();
    ASSERT_TRUE(before.proven()) << before.unproven;
    const double kept = part_bound;
    for (int doubling = 0; doubling < 10; ++doubling) {
      const RowBound smaller = row.merged();
      part_bound *= 2;
      const RowBound larger = row.merged();
      EXPECT_GT(larger.output[0], smaller.output[0]);
      EXPECT_GE(larger.lse, smaller.lse);
    }
    if (lse_grows)
      EXPECT_GT(row.merged().lse, before.lse);
    else
      EXPECT_EQ(row.merged().lse, before.lse);
    part_bound = kept;
  };
  expect_growth(row.left_bound.output[0], false);
  expect_growth(row.right_bound.output[0], false);
  expect_growth(row.left_bound.lse, true);
  expect_growth(row.right_bound.lse, true);
}

TEST(NormalisedMergeBound, OfOnePartIsAtLeastThatOfThePart) {
  const SplitRow row;
  const std::vector<NormalisedPart> parts{{&row.left, &row.left_bound}};
  const RowBound bound = normalised_merge_bound(row.accuracy, row.left, parts);
  ASSERT_TRUE(bound.proven());
  EXPECT_GE(bound.output[0], row.left_bound.output[0]);
  EXPECT_GE(bound.lse, row.left_bound.lse);
}

TEST(NormalisedMergeBound, GrowsWithEveryDeclaredNumberOfTheMerge) {
  SplitRow row;
  row.accuracy.exp_relative_error = 0x1p-22;
  row.accuracy.log_relative_error = 0x1p-22;
  row.accuracy.exp_absolute_error = 0x1p-28;
  row.accuracy.format.rounding_underflow = 0x1p-30;
  const RowBound before = row.merged();
  const auto after = [&](const std::function<void(DeclaredAccuracy&)>& enlarge) {
    SplitRow larger = row;
    enlarge(larger.accuracy);
    return larger.merged();
  };
  for (const RowBound& bound : {
           after([](DeclaredAccuracy& it) { it.format.unit_roundoff *= 2; }),
           after([](DeclaredAccuracy& it) { it.format.rounding_underflow *= 2; }),
           after([](DeclaredAccuracy& it) { it.exp_relative_error *= 2; }),
           after([](DeclaredAccuracy& it) { it.exp_absolute_error *= 2; }),
       }) {
    EXPECT_GT(bound.output[0], before.output[0]);
    EXPECT_GT(bound.lse, before.lse);
  }
  const RowBound logarithm = after([](DeclaredAccuracy& it) { it.log_relative_error *= 2; });
  EXPECT_EQ(logarithm.output[0], before.output[0]);
  EXPECT_GT(logarithm.lse, before.lse);
}

TEST(NormalisedMergeBound, CoversMassesThatErrInOppositeDirections) {
  const RowFacts left = facts_of(row_of_scores({0}, {1}));
  const RowFacts right = facts_of(row_of_scores({0}, {-1}));
  const RowFacts whole = facts_of(row_of_scores({0, 0}, {1, -1}));
  const RowBound part_bound{{0}, 0x1p-6, ""};
  const std::vector<NormalisedPart> parts{{&left, &part_bound}, {&right, &part_bound}};
  const RowBound bound = normalised_merge_bound(errorless(), whole, parts);
  EXPECT_GE(bound.output[0], std::tanh(part_bound.lse));
  EXPECT_GE(bound.lse, part_bound.lse);
}

TEST(NormalisedMergeBound, CoversOutputsThatErrInTheSameDirection) {
  const RowFacts part = facts_of(row_of_scores({0}, {1}));
  const RowFacts whole = facts_of(row_of_scores({0, 0}, {1, 1}));
  const RowBound part_bound{{0x1p-6}, 0, ""};
  const std::vector<NormalisedPart> parts(2, {&part, &part_bound});
  DeclaredAccuracy accuracy = errorless();
  const double u = accuracy.format.unit_roundoff = 0x1p-10;
  const double up = 1 + u / (1 + u);
  // A product, an addition of numerators, an addition of weights that rounds down, a division.
  const double output = (1 + part_bound.output[0]) * up * up * (1 + u) * up;
  EXPECT_GE(normalised_merge_bound(accuracy, whole, parts).output[0], output - 1);
}

TEST(NormalisedMergeBound, CoversTheRoundingOfALargeDistanceOfMasses) {
  const RowFacts near = facts_of(row_of_scores({0}, {0}));
  const RowFacts far = facts_of(row_of_scores({-30}, {1}));
  const RowFacts whole = facts_of(row_of_scores({0, -30}, {0, 1}));
  const RowBound part_bound{{0}, 0, ""};
  const std::vector<NormalisedPart> parts{{&near, &part_bound}, {&far, &part_bound}};
  DeclaredAccuracy accuracy = errorless();
  const double u = accuracy.format.unit_roundoff = 0x1p-10;
  const double weight = std::exp(-30 + 30 * u / (1 + u));
  EXPECT_GE(normalised_merge_bound(accuracy, whole, parts).output[0],
            whole.output[0].distance_lower(weight / (1 + weight)));
}

TEST(NormalisedMergeBound, OfAnUnprovenPartIsUnprovenForItsReason) {
  SplitRow row;
  row.right_bound.unproven = "a reason";
  expect_unproven(row.merged(), "a reason", 1);
}

TEST(NormalisedMergeBound, IsUnprovenWhereTheMassesAreUnknown) {
  SplitRow row;
  row.left_bound.lse = row.right_bound.lse = 1000;
  expect_unproven(row.merged(), "the error of the weights may reach the weights", 1);
}

}  // namespace
}  // namespace attest
