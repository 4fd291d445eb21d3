#include "properties/stand_ins.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "properties/judge.hpp"
#include "properties/spell_out.hpp"
#include "properties/test_case_of.hpp"

namespace attest::properties {
namespace {

RowFacts facts_of(const Case& of, const RowIndex& row) {
  return reference::enclose_row(inputs_of(of), row, 128).value();
}

std::optional<std::vector<double>> output_of(const Case& of, const RowIndex& row,
                                             std::string_view name) {
  const auto at = std::find_if(stand_ins().begin(), stand_ins().end(),
                               [&](const StandIn& one) { return one.name == name; });
  EXPECT_NE(at, stand_ins().end()) << name;
  const auto outputs = stand_in_outputs(of, row, facts_of(of, row));
  EXPECT_EQ(outputs.size(), stand_ins().size());
  return outputs[static_cast<std::size_t>(at - stand_ins().begin())];
}

using Numbers = std::vector<double>;

TEST(StandIns, OfARowThatSeesAllKeysAreThoseWorkedOutByHand) {
  // Scores 0, 0, ln 2 (as a float): weights 1, 1, 2 but for the rounding of the logarithm.
  const Case of = case_of("1x1:1x3:1 f32 scale=1 vals=lit:1;0,0,0.6931472;4,8,2");
  EXPECT_EQ(output_of(of, {}, "all zeros"), Numbers{0});
  EXPECT_EQ(output_of(of, {}, "mean of all V"), std::nullopt);
  EXPECT_EQ(output_of(of, {}, "uniform weights"), Numbers{14.0 / 3});
  EXPECT_EQ(output_of(of, {}, "V of the last key"), Numbers{2});
  EXPECT_EQ(output_of(of, {}, "last key dropped"), Numbers{6});
  EXPECT_EQ(output_of(of, {}, "one key too many"), std::nullopt);
  EXPECT_EQ(output_with_scores_times(facts_of(of, {}), 0), Numbers{14.0 / 3});
  // Doubled scores are the row of the doubled scale.
  const RowFacts doubled =
      facts_of(case_of("1x1:1x3:1 f32 scale=2 vals=lit:1;0,0,0.6931472;4,8,2"), {});
  EXPECT_FALSE(differs(doubled, 0, output_with_scores_times(facts_of(of, {}), 2).front()));
  EXPECT_TRUE(differs(doubled, 0, output_with_scores_times(facts_of(of, {}), 1.999999).front()));
}

TEST(StandIns, OfAMaskedRowLookAtTheHiddenKeys) {
  const Case of = case_of("1x1:2x3:1 f32 mask=causal:tl vals=lit:0,0;5,6,7;4,8,9");
  const RowIndex first{0, 0, 0};
  EXPECT_EQ(output_of(of, first, "mean of all V"), Numbers{7});
  EXPECT_EQ(output_of(of, first, "uniform weights"), Numbers{4});
  EXPECT_EQ(output_of(of, first, "last key dropped"), Numbers{0});
  EXPECT_EQ(output_of(of, first, "one key too many"), Numbers{6});
  const RowIndex second{0, 0, 1};
  EXPECT_EQ(output_of(of, second, "last key dropped"), Numbers{4});
  EXPECT_EQ(output_of(of, second, "one key too many"), Numbers{7});
}

TEST(StandIns, ASinkTakesItsShareAndWhatIsAddedIsForgotten) {
  // Weights 1 and 3 (ln 3 as a float), the sink 4.
  const Case of = case_of(
      "1x1:1x3:1 f64 mask=bits:110 scale=1 bias=1d sink=head "
      "vals=lit:1;0,0,0;4,8,16;bias=0,1.0986122886681098,0;sink=1.3862943611198906");
  const auto near = [&](std::string_view name, double want) {
    const auto output = output_of(of, {}, name);
    ASSERT_TRUE(output) << name;
    // Weights are rounded twice (ln, exp), sums and quotient a few times.
    EXPECT_LE(std::abs(output->front() - want), 16 * 0x1p-53 * want) << name;
  };
  near("mean of all V", 28.0 / 3);
  near("uniform weights", 6);
  near("last key dropped", 4.0 / 5);
  near("one key too many", 44.0 / 9);
  near("additions forgotten", 12.0 / 6);
  near("sink forgotten", 28.0 / 4);
  EXPECT_EQ(output_of(of, {}, "softcap forgotten"), std::nullopt);
}

/// Every element of a stand-in of `of` is that of the truth of `other`.
void expect_truth_of(const Case& other, const Case& of, std::string_view name) {
  SCOPED_TRACE(name);
  for (const RowIndex row : {RowIndex{0, 0, 0}, RowIndex{1, 3, 4}, RowIndex{1, 1, 2}}) {
    const RowFacts truth = facts_of(other, row);
    const auto output = output_of(of, row, name);
    ASSERT_TRUE(output);
    for (std::size_t c = 0; c < output->size(); ++c) EXPECT_FALSE(differs(truth, c, (*output)[c]));
  }
}

const std::string kEveryTerm =
    " mask=causal:off=2 cap=3 alibi=abs:br bias=bh2d order=scale,bias,cap,alibi sink=head "
    "vals=spread:3";

TEST(StandIns, OneKeyTooManyIsTheRowOfAWiderMask) {
  for (const std::string& line :
       {std::string("2x4/2:5x9:8/3 f32 mask=causal:off=2 vals=spread:3"),
        "2x4/2:5x9:8/3 f32" + kEveryTerm, "2x4/2:5x9:8/3 bf16 qv=yes" + kEveryTerm,
        "2x4/2:5x9:8/3 e4m3 descale=2;0.5;4" + kEveryTerm}) {
    const Case narrow = case_of(line);
    Case wide = narrow;
    wide.problem.mask.causal->offset = 3;
    expect_truth_of(wide, narrow, "one key too many");
  }
}

TEST(StandIns, WhatIsForgottenIsTheProblemWithoutIt) {
  const Case of = case_of("2x4/2:5x9:8/3 f32" + kEveryTerm);
  expect_truth_of(without_softcap(of), of, "softcap forgotten");
  expect_truth_of(without_addends(of), of, "additions forgotten");
  expect_truth_of(without_sink(of), of, "sink forgotten");
}

TEST(StandIns, AWrongScaleMultipliesTheProductsAlone) {
  const Case of = case_of("2x4/2:5x9:8/3 f32 scale=0.5" + kEveryTerm);
  Case doubled = of;
  doubled.problem.scale.value = 1;
  const RowIndex row{1, 3, 4};
  const RowFacts facts = facts_of(of, row);
  const RowFacts truth = facts_of(doubled, row);
  const Numbers output = output_with_scale_times(score_parts(of, row, facts), facts, 2);
  for (std::size_t c = 0; c < output.size(); ++c) EXPECT_FALSE(differs(truth, c, output[c]));
}

TEST(StandIns, AKeyThatAnAdditiveMaskExcludesIsNotOneTooMany) {
  const Case of = case_of("1x1:1x2:1 f32 mask=add:0,-inf vals=lit:1;1,1;1,2");
  EXPECT_EQ(output_of(of, {}, "one key too many"), std::nullopt);
}

TEST(StandIns, NoKeyLiesBehindAKeyLength) {
  const Case of = case_of("1x1:1x{2}:1 f32 vals=lit:0;1,1;4,8");
  EXPECT_EQ(output_of(of, {}, "one key too many"), std::nullopt);
  const Case ragged = case_of("2x1:1x{2,1}:1 f32 vals=lit:0,0;1,1,1,1;4,8,4,8");
  EXPECT_EQ(output_of(ragged, {1, 0, 0}, "one key too many"), std::nullopt);
  EXPECT_EQ(output_of(ragged, {1, 0, 0}, "mean of all V"), std::nullopt);
  const Case masked =
      case_of("2x1:1x{3,2}:1 f32 mask=bits:100 vals=lit:0,0;1,1,1,1,1,1;1,2,3,4,8,9");
  EXPECT_EQ(output_of(masked, {1, 0, 0}, "mean of all V"), Numbers{6});
  EXPECT_EQ(output_of(masked, {1, 0, 0}, "one key too many"), Numbers{6});
}

TEST(StandIns, AnOutputWithTheRoundingOfDoubleDoesNotDifferFromTheTruth) {
  const Case of = case_of("1x1:1x33:4/2 f32 vals=spread:5");
  const RowFacts facts = facts_of(of, {});
  const Numbers same = output_with_scores_times(facts, 1);
  const Numbers other = output_with_scores_times(facts, 1.001);
  for (std::size_t c = 0; c < 2; ++c) {
    EXPECT_FALSE(differs(facts, c, same[c]));
    EXPECT_TRUE(differs(facts, c, other[c]));
  }
}

TEST(StandIns, AnotherAlignmentAndWindowAreTheRowsOfThatMask) {
  const Case of = case_of("2x4/2:5x9:8/3 f32" + kEveryTerm);
  Case wide = of;
  wide.problem.mask.causal->offset = 3;
  expect_truth_of(wide, of, "alignment +1");
  wide.problem.mask.causal->offset = 1;
  expect_truth_of(wide, of, "alignment -1");
  const Case window = case_of("2x4/2:5x9:8/3 f32 win=2:1 align=tl vals=spread:3");
  Case other = window;
  other.problem.mask.window = {3, 2};
  expect_truth_of(other, window, "window +1");
  other.problem.mask.window = {1, 0};
  expect_truth_of(other, window, "window -1");
  const Case none = case_of("2x4/2:5x9:8/3 f32 vals=spread:3");
  for (const char* const name : {"alignment +1", "alignment -1", "window +1", "window -1"})
    EXPECT_EQ(output_of(none, {}, name), std::nullopt) << name;
}

TEST(StandIns, TheWrongHeadMapReadsTheHeadModuloTheNumberOfHeads) {
  const Case of = case_of("1x4/2:1x2:1 f32 scale=1 vals=lit:0,0,0,0;0,0,0,0;1,3,20,40");
  EXPECT_EQ(output_of(of, {0, 0, 0}, "wrong head map"), std::nullopt);
  EXPECT_EQ(output_of(of, {0, 1, 0}, "wrong head map"), Numbers{30});
  EXPECT_EQ(output_of(of, {0, 2, 0}, "wrong head map"), Numbers{2});
  EXPECT_EQ(output_of(of, {0, 3, 0}, "wrong head map"), std::nullopt);
}

TEST(StandIns, AScaleOffByOneSixtyFourthIsThatOfAnotherProblem) {
  const Case of = case_of("2x4/2:5x9:8/3 f32 scale=0.5" + kEveryTerm);
  Case other = of;
  other.problem.scale.value = 0.5 * (1 + 0x1p-6);
  expect_truth_of(other, of, "scale + 1/64");
  other.problem.scale.value = 0.5 * (1 - 0x1p-6);
  expect_truth_of(other, of, "scale - 1/64");
}

TEST(StandIns, OfTilesAreThoseWorkedOutByHand) {
  // Weights e^0, e^0, e^ln 2; tiles of two keys.
  const Case of = case_of("1x1:1x3:1 f32 scale=1 tile=2 vals=lit:1;0,0,0.6931472;4,8,2");
  EXPECT_EQ(output_of(of, {}, "tile skipped"), Numbers{6});
  EXPECT_EQ(output_of(of, {}, "V of the key of largest score"), Numbers{2});
  // The numerator of the first tile is not halved: (4 + 8) + 2 over 1/2 + 1/2 + 1.
  const auto forgotten = output_of(of, {}, "rescale forgotten");
  ASSERT_TRUE(forgotten);
  EXPECT_LE(std::abs(forgotten->front() - 7), 0x1p-20);
  const Case one_tile = case_of("1x1:1x3:1 f32 scale=1 tile=3 vals=lit:1;0,0,1;4,8,2");
  EXPECT_EQ(output_of(one_tile, {}, "rescale forgotten"), std::nullopt);
  EXPECT_EQ(output_of(one_tile, {}, "tile skipped"), Numbers{0});
}

TEST(StandIns, PInALowerTypeRoundsTheWeightsAlone) {
  // exp(-1) = 0.36788 is 0.3671875 in bf16.
  const Case of = case_of("1x1:1x2:1 f32 scale=1 vals=lit:1;0,-1;0,1");
  const double weight = std::exp(-1.0);
  EXPECT_EQ(output_of(of, {}, "P in a lower type"), Numbers{0.3671875 / (1 + weight)});
}

TEST(StandIns, OneRowIsZeroedAndTwoAreSwapped) {
  const Case of = case_of("1x1:3x2:1 f32 mask=causal:tl vals=lit:0,0,0;0,0;4,8");
  EXPECT_EQ(output_of(of, {0, 0, 0}, "one row zeroed"), std::nullopt);
  EXPECT_EQ(output_of(of, {0, 0, 1}, "one row zeroed"), Numbers{0});
  EXPECT_EQ(output_of(of, {0, 0, 0}, "two rows swapped"), Numbers{6});
  EXPECT_EQ(output_of(of, {0, 0, 1}, "two rows swapped"), Numbers{4});
  EXPECT_EQ(output_of(of, {0, 0, 2}, "two rows swapped"), std::nullopt);
}

}  // namespace
}  // namespace attest::properties
