// The bound of merged normalised rows (Theorem 4).
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "test_error_bound.hpp"

namespace attest {
namespace {

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
