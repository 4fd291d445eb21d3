// The bounds of kernel variants hold for kernels that do what they declare, and not for kernels
// that declare less than they do.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "test_bound_variants.hpp"

namespace attest {
namespace {

constexpr int kRows = 3000;
/// Of the longest path of a row of kMostKeys keys: its additions and rescales, the dot product of
/// kMostColumns, the product with v and the division.
constexpr double kMostRoundings = 2.0 * kMostKeys + kMostColumns + 2;

/// Whether the score of a key may be off by a factor e of its weight or more.
bool has_unknown_scores(const DeclaredAccuracy& accuracy, const RowFacts& facts) {
  for (std::size_t j = 0; j < facts.keys.size(); ++j)
    if (score_error_bound(accuracy, facts, j) > 1) return true;
  return false;
}

class BoundsOfVariants : public ::testing::TestWithParam<Variant> {};

TEST_P(BoundsOfVariants, HoldForKernelsThatDeclareWhatTheyDo) {
  const Variant& variant = GetParam();
  SplitMix64 random(41);
  double worst = 0;
  for (int i = 0; i < kRows; ++i) {
    const VariantRow row = random_row(variant, random);
    DeclaredAccuracy accuracy = accuracy_of(row);
    variant.declare(accuracy);
    Tiling tiling;
    tiling.tile_kv = 1 + static_cast<Index>(random.below(9));
    const RowFacts facts = facts_of(row);
    const auto seq_kv = static_cast<Index>(row.inputs.keys());
    const NormalisedRow<float> got = VariantKernel(row, accuracy, tiling.tile_kv).run();
    for (const BoundTier tier : {BoundTier::component_wise, BoundTier::order_aware}) {
      const RowBound bound = error_bound(accuracy, facts, tiling, seq_kv, tier);
      if (!bound.proven()) {
        ASSERT_EQ(bound.unproven, "the error of row_sum may reach row_sum (etaD >= 1)");
        ASSERT_TRUE(has_unknown_scores(accuracy, facts)) << "row " << i;
        continue;
      }
      worst = std::max(worst, worst_ratio(bound, facts, got));
      ASSERT_LE(worst, 1) << "row " << i;
    }
  }
  // The bound is a sum over the roundings of a path, and one rounding alone is nearly reached.
  EXPECT_GT(worst * kMostRoundings, 1) << "the bound is not tight enough to be useful";
  RecordProperty("worst_ratio", std::to_string(worst));
}

class BoundsOfUnderstatedVariants : public ::testing::TestWithParam<Variant> {};

TEST_P(BoundsOfUnderstatedVariants, CatchKernelsThatDeclareLess) {
  const Variant& variant = GetParam();
  SplitMix64 random(42);
  int caught = 0;
  for (int i = 0; i < 1000; ++i) {
    const VariantRow row = random_row(variant, random);
    DeclaredAccuracy accuracy = accuracy_of(row);
    variant.declare(accuracy);
    Tiling tiling;
    tiling.tile_kv = 1 + static_cast<Index>(random.below(9));
    const RowFacts facts = facts_of(row);
    const NormalisedRow<float> got = VariantKernel(row, accuracy, tiling.tile_kv).run();
    variant.understate(accuracy);
    const RowBound bound =
        error_bound(accuracy, facts, tiling, static_cast<Index>(row.inputs.keys()));
    if (bound.proven() && worst_ratio(bound, facts, got) > 1) ++caught;
  }
  EXPECT_GT(caught, 0);
}

std::string name_of(const ::testing::TestParamInfo<Variant>& instance) {
  std::string name = instance.param.name;
  std::erase_if(name, [](char c) { return c == ','; });
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

std::vector<Variant> understated() {
  std::vector<Variant> list = variants();
  std::erase_if(list, [](const Variant& variant) {
    // Base two shows on shifted scores only, see below.
    return !variant.understate || variant.name == "folded base two";
  });
  return list;
}

INSTANTIATE_TEST_SUITE_P(Variants, BoundsOfVariants, ::testing::ValuesIn(variants()), name_of);
INSTANTIATE_TEST_SUITE_P(Variants, BoundsOfUnderstatedVariants, ::testing::ValuesIn(understated()),
                         name_of);

}  // namespace
}  // namespace attest
