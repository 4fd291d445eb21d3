#include "properties/stand_ins.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace attest::properties {
namespace {

Case made(const std::string& line) {
  ProblemText text;
  TextError error;
  EXPECT_TRUE(parse_problem_text(line, text, error)) << error.message;
  return make_case(text, nullptr).value();
}

RowFacts facts_of(const Case& of, const RowIndex& row) {
  const reference::Inputs inputs{&of.problem, of.q.ref(), of.k.ref(), of.v.ref()};
  return reference::enclose_row(inputs, row, 128).value();
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
  const Case of = made("1x1:1x3:1 f32 scale=1 vals=lit:1;0,0,0.6931472;4,8,2");
  EXPECT_EQ(output_of(of, {}, "all zeros"), Numbers{0});
  EXPECT_EQ(output_of(of, {}, "mean of all V"), std::nullopt);
  EXPECT_EQ(output_of(of, {}, "uniform weights"), Numbers{14.0 / 3});
  EXPECT_EQ(output_of(of, {}, "V of the last key"), Numbers{2});
  EXPECT_EQ(output_of(of, {}, "last key dropped"), Numbers{6});
  EXPECT_EQ(output_of(of, {}, "one key too many"), std::nullopt);
  EXPECT_EQ(output_with_scores_times(facts_of(of, {}), 0), Numbers{14.0 / 3});
  // Doubled scores are the row of the doubled scale.
  const RowFacts doubled =
      facts_of(made("1x1:1x3:1 f32 scale=2 vals=lit:1;0,0,0.6931472;4,8,2"), {});
  EXPECT_FALSE(differs(doubled, 0, output_with_scores_times(facts_of(of, {}), 2).front()));
  EXPECT_TRUE(differs(doubled, 0, output_with_scores_times(facts_of(of, {}), 1.999999).front()));
}

TEST(StandIns, OfAMaskedRowLookAtTheHiddenKeys) {
  const Case of = made("1x1:2x3:1 f32 mask=causal:tl vals=lit:0,0;5,6,7;4,8,9");
  const RowIndex first{0, 0, 0};
  EXPECT_EQ(output_of(of, first, "mean of all V"), Numbers{7});
  EXPECT_EQ(output_of(of, first, "uniform weights"), Numbers{4});
  EXPECT_EQ(output_of(of, first, "last key dropped"), Numbers{0});
  EXPECT_EQ(output_of(of, first, "one key too many"), Numbers{6});
  const RowIndex second{0, 0, 1};
  EXPECT_EQ(output_of(of, second, "last key dropped"), Numbers{4});
  EXPECT_EQ(output_of(of, second, "one key too many"), Numbers{7});
}

TEST(StandIns, OneKeyTooManyIsTheRowOfAWiderMask) {
  const Case narrow = made("2x4/2:5x9:8/3 f32 mask=causal:off=2 vals=spread:3");
  Case wide = narrow;
  wide.problem.mask.causal->offset = 3;
  for (const RowIndex row : {RowIndex{0, 0, 0}, RowIndex{1, 3, 4}, RowIndex{1, 1, 2}}) {
    const RowFacts truth = facts_of(wide, row);
    const auto output = output_of(narrow, row, "one key too many");
    ASSERT_TRUE(output);
    for (std::size_t c = 0; c < 3; ++c) EXPECT_FALSE(differs(truth, c, (*output)[c]));
  }
}

TEST(StandIns, AKeyLengthHidesKeysToo) {
  const Case of = made("1x1:1x{2}:1 f32 vals=lit:0;1,1;4,8");
  EXPECT_EQ(output_of(of, {}, "one key too many"), std::nullopt);
  const Case ragged = made("2x1:1x{2,1}:1 f32 vals=lit:0,0;1,1,1,1;4,8,4,8");
  EXPECT_EQ(output_of(ragged, {1, 0, 0}, "one key too many"), Numbers{6});
}

TEST(StandIns, AnOutputWithTheRoundingOfDoubleDoesNotDifferFromTheTruth) {
  const Case of = made("1x1:1x33:4/2 f32 vals=spread:5");
  const RowFacts facts = facts_of(of, {});
  const Numbers same = output_with_scores_times(facts, 1);
  const Numbers other = output_with_scores_times(facts, 1.001);
  for (std::size_t c = 0; c < 2; ++c) {
    EXPECT_FALSE(differs(facts, c, same[c]));
    EXPECT_TRUE(differs(facts, c, other[c]));
  }
}

}  // namespace
}  // namespace attest::properties
