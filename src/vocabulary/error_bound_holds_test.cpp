// The error bounds hold for kernels on random rows.
#include <gtest/gtest.h>

#include <cmath>
#include <type_traits>
#include <vector>

#include "attest/random.hpp"
#include "test_real_types.hpp"
#include "test_row_kernels.hpp"

namespace attest {
namespace {

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
    const RowBound by_tiling =
        error_bound(accuracy, facts, tiling, seq_kv, BoundTier::component_wise);
    ASSERT_EQ(by_tiling.output, by_paths.output);
    ASSERT_EQ(by_tiling.lse, by_paths.lse);
    ASSERT_EQ(by_tiling.unproven, by_paths.unproven);
  }
}

}  // namespace
}  // namespace attest
