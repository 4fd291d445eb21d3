// The bounds of kernel variants hold for kernels that do what they declare, and not for kernels
// that declare less than they do.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "attest/random.hpp"
#include "test_variant_kernels.hpp"

namespace attest {
namespace {

struct Variant {
  std::string name;
  std::function<void(DeclaredAccuracy&)> declare;     ///< beside f32, natural exp, one division
  std::function<void(DeclaredAccuracy&)> understate;  ///< what a kernel that declares less says
  bool softcap = false;
  int addends = 0;
  bool sink = false;
  bool tiny_values = false;  ///< understating shows on values near the end of the range only
  double stand_in = 0;       ///< added to some keys instead of a mask
};

WeightCast cast_to(const Format& format, int offset_log2, bool sum_of_rounded) {
  return {format, offset_log2, sum_of_rounded};
}

Variant weights(const std::string& name, const WeightCast& cast) {
  return {name, [cast](DeclaredAccuracy& accuracy) { accuracy.weight_cast = cast; },
          [](DeclaredAccuracy& accuracy) { accuracy.weight_cast.reset(); }};
}

void flush(DeclaredAccuracy& accuracy, Underflow underflow) {
  accuracy.underflow = underflow;
  accuracy.exp_absolute_error = accuracy.format.min_normal;
}

std::vector<Variant> variants() {
  std::vector<Variant> list{
      weights("weights in bf16", cast_to(kBf16, 0, false)),
      weights("weights in bf16, summed rounded", cast_to(kBf16, 0, true)),
      weights("weights in f16", cast_to(kF16, 0, false)),
      weights("weights in e4m3, offset 8", cast_to(kE4m3, 8, false)),
      weights("weights in e4m3, offset 8, summed rounded", cast_to(kE4m3, 8, true)),
      weights("weights in e5m2, offset 8", cast_to(kE5m2, 8, false)),
      weights("weights in e4m3, no offset", cast_to(kE4m3, 0, false)),
  };
  list.push_back({"folded base two",
                  [](DeclaredAccuracy& accuracy) { accuracy.exp_form = ExpForm::folded_base_two; },
                  [](DeclaredAccuracy& accuracy) { accuracy.exp_form = ExpForm::natural; }});
  list.push_back({"lag 8", [](DeclaredAccuracy& accuracy) { accuracy.lag_log2 = 8; }, nullptr});
  list.push_back({"lag 8 in bf16",
                  [](DeclaredAccuracy& accuracy) {
                    accuracy.lag_log2 = 8;
                    accuracy.weight_cast = cast_to(kBf16, 0, false);
                  },
                  [](DeclaredAccuracy& accuracy) { accuracy.weight_cast.reset(); }});
  list.push_back({"folded, lag 8",
                  [](DeclaredAccuracy& accuracy) {
                    accuracy.exp_form = ExpForm::folded_base_two;
                    accuracy.lag_log2 = 8;
                  },
                  nullptr});
  list.push_back(
      {"reciprocal", [](DeclaredAccuracy& accuracy) { accuracy.division_roundings = 2; }, nullptr});
  list.push_back({"output in bf16",
                  [](DeclaredAccuracy& accuracy) { accuracy.output_format = kBf16; },
                  [](DeclaredAccuracy& accuracy) { accuracy.output_format.reset(); }});
  list.push_back({"output in f16",
                  [](DeclaredAccuracy& accuracy) { accuracy.output_format = kF16; },
                  [](DeclaredAccuracy& accuracy) { accuracy.output_format.reset(); }});
  list.push_back({"scores in bf16", [](DeclaredAccuracy& accuracy) { accuracy.dot_format = kBf16; },
                  [](DeclaredAccuracy& accuracy) { accuracy.dot_format.reset(); }});
  list.push_back({"scaled query in bf16",
                  [](DeclaredAccuracy& accuracy) { accuracy.scaled_query_error = 0x1p-8; },
                  [](DeclaredAccuracy& accuracy) { accuracy.scaled_query_error = 0; }});
  list.push_back({"softcap",
                  [](DeclaredAccuracy& accuracy) {
                    accuracy.tanh_relative_error = 4 * accuracy.format.unit_roundoff;
                  },
                  nullptr, true});
  list.push_back({"bias", [](DeclaredAccuracy&) {}, nullptr, false, 1});
  list.push_back({"three addends", [](DeclaredAccuracy&) {}, nullptr, false, 3});
  const auto coarse_addends = [](DeclaredAccuracy& accuracy) {
    accuracy.tanh_relative_error = 4 * accuracy.format.unit_roundoff;
    accuracy.bias_relative_error = 0x1p-12;
  };
  const auto exact_addends = [](DeclaredAccuracy& accuracy) { accuracy.bias_relative_error = 0; };
  list.push_back({"coarse addends", coarse_addends, exact_addends, false, 3});
  list.push_back({"coarse addends around a softcap", coarse_addends, exact_addends, true, 4});
  for (const bool coarse : {false, true})
    list.push_back({coarse ? "values descaled to bf16" : "descaled values",
                    [coarse](DeclaredAccuracy& accuracy) {
                      accuracy.value_relative_error = coarse ? 0x1p-8 : 0x1p-12;
                    },
                    [](DeclaredAccuracy& accuracy) { accuracy.value_relative_error = 0; }});
  for (const double stand_in : {-1e4, -1e9, -1e30, -static_cast<double>(0x1.fffffep127F)})
    list.push_back({"masked by " + std::to_string(std::ilogb(stand_in)) + " bits",
                    [](DeclaredAccuracy&) {}, nullptr, false, 1, false, false, stand_in});
  list.push_back({"descaled values, flushed results",
                  [](DeclaredAccuracy& accuracy) {
                    accuracy.value_relative_error = accuracy.format.unit_roundoff;
                    flush(accuracy, Underflow::flush_results);
                  },
                  nullptr, false, 0, false, true});
  list.push_back({"softcap, bias and sink",
                  [](DeclaredAccuracy& accuracy) {
                    accuracy.tanh_relative_error = 4 * accuracy.format.unit_roundoff;
                  },
                  nullptr, true, 4, true});
  list.push_back({"sink", [](DeclaredAccuracy&) {}, nullptr, false, 0, true});
  for (const Underflow underflow : {Underflow::flush_results, Underflow::flush_results_and_inputs})
    list.push_back({underflow == Underflow::flush_results ? "flushed results" : "flushed inputs",
                    [underflow](DeclaredAccuracy& accuracy) { flush(accuracy, underflow); },
                    [](DeclaredAccuracy& accuracy) {
                      accuracy.underflow = Underflow::gradual;
                      accuracy.exp_absolute_error = 0x1p-149;
                    },
                    false, 1, false, true});
  return list;
}

/// In [-1, 1).
double random_unit(SplitMix64& random) {
  return std::ldexp(static_cast<double>(random.next() >> 11), -52) - 1;
}

VariantRow random_row(const Variant& variant, SplitMix64& random) {
  VariantRow row;
  Inputs<float>& inputs = row.inputs;
  inputs.q.resize(1 + random.below(9));
  const std::size_t keys = 1 + random.below(40);
  inputs.columns = 3;
  inputs.k.resize(keys * inputs.q.size());
  inputs.v.resize(keys * inputs.columns);
  inputs.scale = static_cast<float>(std::abs(random_unit(random)) + 0.01);
  const int score_size = static_cast<int>(random.below(10)) - 3;
  const float offset = random.below(4) == 0 ? 64.0F : 0.0F;
  for (float& element : inputs.q)
    element = static_cast<float>(std::ldexp(random_unit(random), score_size));
  for (float& element : inputs.k) element = static_cast<float>(random_unit(random)) + offset;
  if (random.below(4) == 0) {  // ascending scores: the maximum rises in every tile
    for (std::size_t j = 0; j < keys; ++j)
      for (std::size_t c = 0; c < inputs.q.size(); ++c)
        inputs.k[j * inputs.q.size() + c] =
            std::copysign(static_cast<float>(j) / static_cast<float>(keys), inputs.q[c]);
  }
  const int value_size = variant.tiny_values ? -110 - static_cast<int>(random.below(39))
                                             : -static_cast<int>(random.below(3)) * 40;
  const double mean = random.below(3) == 0 ? 20 : 0;
  for (float& element : inputs.v)
    element = static_cast<float>(std::ldexp(random_unit(random) + mean, value_size));
  if (variant.softcap) row.softcap = static_cast<float>(1 + std::abs(random_unit(random)) * 30);
  for (int addend = 0; addend < variant.addends; ++addend) {
    ScoreAddend& added = row.addends.emplace_back();
    added.before_softcap = addend % 2 == 1;
    added.computed = addend < 2;
    for (std::size_t j = 0; j < keys; ++j)
      added.value.push_back(
          static_cast<double>(static_cast<float>(random_unit(random) * (addend == 2 ? 256 : 16))));
  }
  if (variant.stand_in != 0) {
    ScoreAddend& mask = row.addends.emplace_back();
    for (std::size_t j = 0; j < keys; ++j)
      mask.value.push_back(
          j % 3 != 1 && keys > 1 ? static_cast<double>(static_cast<float>(variant.stand_in)) : 0);
  }
  if (variant.sink) row.sink = static_cast<float>(random_unit(random) * 8);
  return row;
}

DeclaredAccuracy accuracy_of(const VariantRow& row) {
  DeclaredAccuracy accuracy = declared(row.inputs, SummaryScope::split);
  accuracy.dot_roundings += 1;
  return accuracy;
}

/// Largest share of its bound that an output or an lse of the row takes.
double worst_ratio(const RowBound& bound, const RowFacts& facts, const NormalisedRow<float>& got) {
  double worst = 0;
  const auto add = [&](const Enclosure& want, float value, double limit) {
    const double ratio = want.distance_lower(static_cast<double>(value)) / limit;
    worst = std::isnan(ratio) ? kInfinity : std::max(worst, ratio);
  };
  add(facts.lse, got.lse, bound.lse);
  for (std::size_t c = 0; c < got.output.size(); ++c)
    add(facts.output[c], got.output[c], bound.output[c]);
  return worst;
}

class BoundsOfVariants : public ::testing::TestWithParam<Variant> {};

TEST_P(BoundsOfVariants, HoldForKernelsThatDeclareWhatTheyDo) {
  const Variant& variant = GetParam();
  SplitMix64 random(41);
  double worst = 0;
  int proven = 0;
  for (int i = 0; i < 3000; ++i) {
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
      if (!bound.proven()) continue;
      ++proven;
      worst = std::max(worst, worst_ratio(bound, facts, got));
      ASSERT_LE(worst, 1) << "row " << i;
    }
  }
  EXPECT_GT(proven, 5000);
  EXPECT_GT(worst, 0.1) << "the bound is not tight enough to be useful";
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

/// Base two loses the invariance under a common shift of the scores: max * log2 e is rounded.
TEST(BoundOfFoldedBaseTwo, GrowsWithACommonShiftOfExactScores) {
  VariantRow row;
  row.inputs = {1, {1}, {4096, 4097, 4098, 4100}, {1, -1, 1, -1}, 1};
  DeclaredAccuracy accuracy = declared(row.inputs, SummaryScope::split);
  accuracy.dot_roundings = 0;
  accuracy.exp_form = ExpForm::folded_base_two;
  Tiling tiling;
  tiling.tile_kv = 1;
  const RowFacts facts = facts_of(row);
  const NormalisedRow<float> got = VariantKernel(row, accuracy, tiling.tile_kv).run();
  EXPECT_LE(worst_ratio(error_bound(accuracy, facts, tiling, 4), facts, got), 1);
  accuracy.exp_form = ExpForm::natural;
  EXPECT_GT(worst_ratio(error_bound(accuracy, facts, tiling, 4), facts, got), 1);
}

TEST(BoundOfNarrowOutputs, IsUnprovenWhereTheFormatOverflows) {
  VariantRow row;
  row.inputs = {1, {1}, {1, 2}, {70000, 70000}, 1};
  DeclaredAccuracy accuracy = declared(row.inputs, SummaryScope::row);
  accuracy.output_format = kF16;
  expect_unproven(error_bound(accuracy, facts_of(row), Tiling{}, 2),
                  "an output may overflow its format (assumption A6)", 1);
}

/// Alternating signs: the partial sums stay small, and tier 2 knows it.
TEST(OrderAwareBound, IsSharperWhereValuesCancel) {
  VariantRow row;
  row.inputs.q = {0};
  row.inputs.k.assign(256, 1);
  for (int j = 0; j < 256; ++j) row.inputs.v.push_back(j % 2 == 0 ? 1.0F : -1.0F);
  DeclaredAccuracy accuracy = declared(row.inputs, SummaryScope::split);
  Tiling tiling;
  tiling.tile_kv = 16;
  const RowFacts facts = facts_of(row);
  const double tier_1 =
      error_bound(accuracy, facts, tiling, 256, BoundTier::component_wise).output[0];
  const double tier_2 = error_bound(accuracy, facts, tiling, 256, BoundTier::order_aware).output[0];
  EXPECT_LT(tier_2, tier_1 / 8);
  EXPECT_GT(tier_2, 0);
}

TEST(ProbableError, LiesBetweenTypicalErrorsAndTheBoundOfLongRows) {
  SplitMix64 random(43);
  VariantRow row;
  row.inputs.q = {1, -0.5F};
  for (int j = 0; j < 4000; ++j) {
    for (int c = 0; c < 2; ++c) row.inputs.k.push_back(static_cast<float>(random_unit(random)));
    row.inputs.v.push_back(static_cast<float>(random_unit(random)));
  }
  DeclaredAccuracy accuracy = declared(row.inputs, SummaryScope::split);
  Tiling tiling;
  tiling.tile_kv = 64;
  const RowFacts facts = facts_of(row);
  const double limit = error_bound(accuracy, facts, tiling, 4000).output[0];
  const double probable = probable_error(accuracy, facts, tiling, 4000)[0];
  const NormalisedRow<float> got = VariantKernel(row, accuracy, tiling.tile_kv).run();
  EXPECT_LT(probable, limit / 4);
  EXPECT_LT(facts.output[0].distance_upper(static_cast<double>(got.output[0])), probable);
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
