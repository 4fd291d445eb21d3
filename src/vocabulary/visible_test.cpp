// Which keys a query sees.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test_problem.hpp"

namespace attest {
namespace {

using ::testing::ElementsAre;

TEST(CausalOffset, FollowsTheAlignmentAndTheKeyLengthOfTheBatchMember) {
  Problem problem = causal_problem(4, 6, Causal::Alignment::top_left, 99);
  problem.batch = 3;
  problem.key_lengths = {6, 2, 0};
  for (Index b = 0; b < 3; ++b) EXPECT_EQ(causal_offset(problem, b), 0);
  problem.mask.causal = Causal{Causal::Alignment::bottom_right, 99};
  EXPECT_EQ(causal_offset(problem, 0), 2);
  EXPECT_EQ(causal_offset(problem, 1), -2);
  EXPECT_EQ(causal_offset(problem, 2), -4);
  problem.mask.causal = Causal{Causal::Alignment::explicit_offset, 99};
  for (Index b = 0; b < 3; ++b) EXPECT_EQ(causal_offset(problem, b), 99);
}

TEST(Visible, WithoutAMaskIsEveryKey) {
  EXPECT_THAT(visibility_table(problem_of(2, 3)), ElementsAre("111", "111"));
}

TEST(Visible, TopLeftCausalStartsAtTheFirstKey) {
  const auto alignment = Causal::Alignment::top_left;
  EXPECT_THAT(visibility_table(causal_problem(3, 3, alignment)), ElementsAre("100", "110", "111"));
  EXPECT_THAT(visibility_table(causal_problem(2, 4, alignment)), ElementsAre("1000", "1100"));
  EXPECT_THAT(visibility_table(causal_problem(4, 2, alignment)),
              ElementsAre("10", "11", "11", "11"));
}

TEST(Visible, BottomRightCausalEndsAtTheLastKey) {
  const auto alignment = Causal::Alignment::bottom_right;
  EXPECT_THAT(visibility_table(causal_problem(3, 3, alignment)), ElementsAre("100", "110", "111"));
  EXPECT_THAT(visibility_table(causal_problem(2, 4, alignment)), ElementsAre("1110", "1111"));
  EXPECT_THAT(visibility_table(causal_problem(4, 2, alignment)),
              ElementsAre("00", "00", "10", "11"));
}

TEST(Visible, BottomRightCausalUsesTheKeyLengthOfTheBatchMember) {
  Problem problem = causal_problem(3, 4, Causal::Alignment::bottom_right);
  problem.batch = 4;
  problem.key_lengths = {4, 3, 1, 0};
  EXPECT_THAT(visibility_table(problem, 0), ElementsAre("1100", "1110", "1111"));
  EXPECT_THAT(visibility_table(problem, 1), ElementsAre("1000", "1100", "1110"));
  EXPECT_THAT(visibility_table(problem, 2), ElementsAre("0000", "0000", "1000"));
  EXPECT_THAT(visibility_table(problem, 3), ElementsAre("0000", "0000", "0000"));
}

TEST(Visible, ExplicitCausalOffsetMovesTheDiagonal) {
  const auto table = [](Index offset) {
    return visibility_table(causal_problem(3, 4, Causal::Alignment::explicit_offset, offset));
  };
  EXPECT_THAT(table(-3), ElementsAre("0000", "0000", "0000"));
  EXPECT_THAT(table(-2), ElementsAre("0000", "0000", "1000"));
  EXPECT_THAT(table(-1), ElementsAre("0000", "1000", "1100"));
  EXPECT_THAT(table(0), ElementsAre("1000", "1100", "1110"));
  EXPECT_THAT(table(1), ElementsAre("1100", "1110", "1111"));
  EXPECT_THAT(table(3), ElementsAre("1111", "1111", "1111"));
}

TEST(Visible, ExtremeCausalOffsetsShowNothingOrEverything) {
  const auto table = [](Index offset) {
    return visibility_table(causal_problem(2, 3, Causal::Alignment::explicit_offset, offset));
  };
  EXPECT_THAT(table(kSmallestIndex), ElementsAre("000", "000"));
  EXPECT_THAT(table(kSmallestIndex + 1), ElementsAre("000", "000"));
  EXPECT_THAT(table(kLargestIndex), ElementsAre("111", "111"));
  EXPECT_THAT(table(kLargestIndex - 1), ElementsAre("111", "111"));
}

TEST(Visible, NoKeyAtOrBehindTheKeyLengthIsSeen) {
  Problem problem = problem_of(2, 3);
  problem.batch = 4;
  problem.key_lengths = {3, 2, 1, 0};
  EXPECT_THAT(visibility_table(problem, 0), ElementsAre("111", "111"));
  EXPECT_THAT(visibility_table(problem, 1), ElementsAre("110", "110"));
  EXPECT_THAT(visibility_table(problem, 2), ElementsAre("100", "100"));
  EXPECT_THAT(visibility_table(problem, 3), ElementsAre("000", "000"));
}

TEST(Visible, OneRowOfBitsServesEveryQuery) {
  Problem problem = problem_of(3, 4);
  problem.mask.bits = bits_of({"0110"});
  EXPECT_THAT(visibility_table(problem), ElementsAre("0110", "0110", "0110"));
}

TEST(Visible, BitsOfEveryRowServeTheirOwnQuery) {
  Problem problem = problem_of(3, 2);
  problem.mask.bits = bits_of({"01", "10", "00"});
  EXPECT_THAT(visibility_table(problem), ElementsAre("01", "10", "00"));
}

TEST(Visible, IsTheConjunctionOfCausalBitsAndKeyLength) {
  Problem problem = causal_problem(3, 4, Causal::Alignment::top_left);
  problem.batch = 2;
  problem.key_lengths = {4, 2};
  problem.mask.bits = bits_of({"1111", "0111", "1010"});
  EXPECT_THAT(visibility_table(problem, 0), ElementsAre("1000", "0100", "1010"));
  EXPECT_THAT(visibility_table(problem, 1), ElementsAre("1000", "0100", "1000"));
}

}  // namespace
}  // namespace attest
