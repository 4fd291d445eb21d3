// What the lines of the problem text mean.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "test_problem_text.hpp"

namespace attest {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(ProblemText, OrderOfTheKeysDoesNotMatter) {
  EXPECT_TRUE(same(parsed("1x1:2x3:4 f32 law=a merge=tree:0.1.+ split=2 lse=ln mask=causal:tl"),
                   parsed("1x1:2x3:4 f32 mask=causal:tl lse=ln split=2 merge=tree:0.1.+ law=a")));
  EXPECT_TRUE(same(parsed("1x1:2x3:4 f32 mask=bits:101+causal:br"),
                   parsed("1x1:2x3:4 f32 mask=causal:br+bits:101")));
}

TEST(ProblemText, AllowsSpacesAndTabsAroundColonsAndBetweenKeys) {
  const ProblemText plain = parsed("2x8/2:97x1025:64 f32 lse=ln");
  EXPECT_TRUE(same(parsed("2x8/2 : 97x1025 : 64 f32 lse=ln"), plain));
  EXPECT_TRUE(same(parsed("  2x8/2 :97x1025: 64   f32   lse=ln  "), plain));
  EXPECT_TRUE(same(parsed("\t2x8/2\t:\t97x1025:64\tf32\tlse=ln\t"), plain));
}

TEST(ProblemText, AStarTakesTheBatchFromTheKeyLengths) {
  EXPECT_TRUE(same(parsed("*x1:4x{3,0}:8 f32"), parsed("2x1:4x{3,0}:8 f32")));
}

TEST(ProblemText, KeyLengthsGiveTheNumberOfKeys) {
  const Problem problem = parsed("3x1:4x{3,0,7}:8 f32").problem;
  EXPECT_EQ(problem.key_lengths, (std::vector<Index>{3, 0, 7}));
  EXPECT_EQ(problem.seq_kv, 7);
}

TEST(ProblemText, FillsEveryField) {
  const ProblemText text = parsed(
      "2x4/2:3x{5,0}:6/7 f64 mask=causal:off=-1+bits:11111/01111/00000 scale=0.5 empty=reject "
      "lse=ln tile=2x3 split=at:1,4 merge=random:9 vals=real:rows:8 law=bound.out");
  Problem problem;
  problem.batch = 2;
  problem.heads_q = 4;
  problem.heads_kv = 2;
  problem.seq_q = 3;
  problem.seq_kv = 5;
  problem.key_lengths = {5, 0};
  problem.head_dim = 6;
  problem.head_dim_v = 7;
  problem.dtype = Dtype::f64;
  problem.scale = {false, 0.5};
  problem.mask.causal = Causal{Causal::Alignment::explicit_offset, -1};
  problem.mask.bits = MaskBits{3,
                               5,
                               {true, true, true, true, true, false, true, true, true, true, false,
                                false, false, false, false}};
  problem.all_masked = AllMaskedPolicy::reject;
  problem.lse = LseForm::natural;
  EXPECT_EQ(text.problem, problem);
  EXPECT_EQ(text.tiling, (Tiling{2, 3, {1, {1, 4}}, {MergeOrder::Kind::random, 9, {}}}));
  EXPECT_EQ(text.values, (ValueRecipe{ValueRecipe::Kind::real, "rows", 8, {}, {}, {}}));
  EXPECT_EQ(text.law, "bound.out");
}

TEST(ProblemText, AFamilyWithoutASeedHasSeedZero) {
  EXPECT_TRUE(same(parsed("1x1:1x1:1 f32 vals=spike"), parsed("1x1:1x1:1 f32 vals=spike:0")));
  EXPECT_TRUE(same(parsed("1x1:1x1:1 f32 vals=real:a"), parsed("1x1:1x1:1 f32 vals=real:a:0")));
}

TEST(ProblemText, LiteralNumbersStandInTheOrderOfTheTensors) {
  const ValueRecipe values = parsed("1x1:1x2:1/2 f64 vals=lit:1;2,3;4,5,6,7").values;
  EXPECT_EQ(values, (ValueRecipe{ValueRecipe::Kind::literal, "", 0, {1}, {2, 3}, {4, 5, 6, 7}}));
}

TEST(ProblemText, LiteralNumbersMayBeNanOrInfinite) {
  const ValueRecipe values = parsed("1x1:1x2:1 f32 vals=lit:nan;inf,-inf;-0,0").values;
  EXPECT_TRUE(std::isnan(values.q[0]));
  EXPECT_TRUE(same_numbers(values.k, {kInfinity, -kInfinity}));
  EXPECT_TRUE(same_numbers(values.v, {-0.0, 0.0}));
}

TEST(ProblemText, LiteralNumbersAndScaleAreRoundedToTheDtype) {
  const ProblemText single = parsed("1x1:1x1:1 f32 scale=0.3 vals=lit:0.1;16777217;1e-45");
  EXPECT_EQ(single.problem.scale.value, static_cast<double>(0.3F));
  EXPECT_EQ(single.values.q[0], static_cast<double>(0.1F));
  EXPECT_EQ(single.values.k[0], 0x1p24);
  EXPECT_EQ(single.values.v[0], 0x1p-149);
  const ProblemText wide = parsed("1x1:1x1:1 f64 scale=0.3 vals=lit:0.1;16777217;1e-45");
  EXPECT_EQ(wide.problem.scale.value, 0.3);
  EXPECT_EQ(wide.values.q[0], 0.1);
  EXPECT_EQ(wide.values.k[0], 16777217.0);
  EXPECT_EQ(wide.values.v[0], 1e-45);
}

TEST(ProblemText, AFailedParseLeavesTheErrorAndNoOldResult) {
  ProblemText result = parsed("1x1:2x3:4 f32 lse=ln law=a");
  TextError error;
  EXPECT_FALSE(parse_problem_text("nonsense", result, error));
  EXPECT_TRUE(same(result, ProblemText{}));
}

}  // namespace
}  // namespace attest
