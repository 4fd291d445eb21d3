// Where no error bound can be proven, none is given.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "test_row_kernels.hpp"

namespace attest {
namespace {

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

/// A tiling of six keys in two splits of three tiles of one key, with a tree of three leaves.
Tiling with_tree_of_three() {
  Tiling tiling;
  tiling.tile_kv = 1;
  tiling.splits.count = 2;
  tiling.merge = {MergeOrder::Kind::explicit_tree, 0,
                  MergeTree{{0, 1, MergeTree::merge, 2, MergeTree::merge}}};
  return tiling;
}

TEST(MergeTreeThatDoesNotFit, LeavesEveryBoundOfATilingUnproven) {
  const std::string reason = "the merge tree does not fit";
  const RowFacts facts = ordinary_facts();
  const Tiling tiling = with_tree_of_three();
  for (const SummaryScope scope : {SummaryScope::split, SummaryScope::tile})
    for (const bool ordered : {false, true}) {
      DeclaredAccuracy accuracy;
      accuracy.scope = scope;
      accuracy.ordered_sums = ordered;
      for (const BoundTier tier : {BoundTier::component_wise, BoundTier::order_aware})
        expect_unproven(error_bound(accuracy, facts, tiling, 6, tier), reason, facts.output.size());
      EXPECT_EQ(summary_bound(accuracy, facts, tiling, 6, 4).unproven, reason);
      EXPECT_EQ(probable_error(accuracy, facts, tiling, 6),
                std::vector<double>(facts.output.size(), kInfinity));
    }
}

TEST(MergeTreeThatDoesNotFit, IsOfNoConcernWhereThereIsNothingToMerge) {
  const RowFacts facts = ordinary_facts();
  const DeclaredAccuracy accuracy;  // one summary a row
  Tiling tiling = with_tree_of_three();
  const RowBound bound = error_bound(accuracy, facts, tiling, 6);
  const std::vector<double> probable = probable_error(accuracy, facts, tiling, 6);
  const SummaryBound summary = summary_bound(accuracy, facts, tiling, 6, 4);
  tiling.merge = {};
  EXPECT_TRUE(bound.proven());
  EXPECT_EQ(bound.output, error_bound(accuracy, facts, tiling, 6).output);
  EXPECT_EQ(probable, probable_error(accuracy, facts, tiling, 6));
  EXPECT_EQ(summary.numerator, summary_bound(accuracy, facts, tiling, 6, 4).numerator);
}

TEST(MergeTreeThatDoesNotFit, IsNotOneThatFits) {
  const RowFacts facts = ordinary_facts();
  DeclaredAccuracy accuracy;
  accuracy.scope = SummaryScope::split;
  Tiling tiling = with_tree_of_three();
  tiling.splits.count = 3;
  EXPECT_TRUE(error_bound(accuracy, facts, tiling, 6).proven());
  EXPECT_TRUE(summary_bound(accuracy, facts, tiling, 6, 4).proven());
}

}  // namespace
}  // namespace attest
