// Which keys a query sees through every part of a mask, by tables written by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "test_problem.hpp"

namespace attest {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

using enum Causal::Alignment;

Problem window_problem(Index seq_q, Index seq_kv, Window window, Causal::Alignment alignment,
                       Index offset = 0) {
  Problem problem = problem_of(seq_q, seq_kv);
  problem.mask.window = window;
  problem.mask.alignment = Causal{alignment, offset};
  return problem;
}

Problem chunk_problem(Index seq_q, Index seq_kv, Index chunk, Index offset) {
  Problem problem = problem_of(seq_q, seq_kv);
  problem.mask.chunk = chunk;
  problem.mask.alignment = Causal{explicit_offset, offset};
  return problem;
}

TEST(VisibleParts, QueriesFromTheQueryLengthOnSeeNothing) {
  Problem problem = problem_of(3, 2);
  problem.batch = 3;
  problem.query_lengths = {3, 1, 0};
  EXPECT_THAT(visibility_table(problem, 0), ElementsAre("11", "11", "11"));
  EXPECT_THAT(visibility_table(problem, 1), ElementsAre("11", "00", "00"));
  EXPECT_THAT(visibility_table(problem, 2), Each("00"));
}

TEST(VisibleParts, BottomRightIsTheCornerOfBothLengths) {
  Problem problem = causal_problem(3, 4, bottom_right);
  problem.batch = 3;
  problem.query_lengths = {2, 3, 2};
  problem.key_lengths = {4, 2, 1};
  EXPECT_EQ(causal_offset(problem, 0), 2);
  EXPECT_EQ(causal_offset(problem, 1), -1);
  EXPECT_THAT(visibility_table(problem, 0), ElementsAre("1110", "1111", "0000"));
  EXPECT_THAT(visibility_table(problem, 1), ElementsAre("0000", "1000", "1100"));
  EXPECT_THAT(visibility_table(problem, 2), ElementsAre("0000", "1000", "0000"));
}

TEST(VisibleParts, ThePrefixIsSeenByEveryQuery) {
  Problem problem = causal_problem(4, 4, top_left);
  problem.mask.prefix = 2;
  EXPECT_THAT(visibility_table(problem), ElementsAre("1100", "1100", "1110", "1111"));
  problem.mask.prefix = 0;
  EXPECT_THAT(visibility_table(problem), ElementsAre("1000", "1100", "1110", "1111"));
  problem.mask.prefix = kLargestIndex;
  EXPECT_THAT(visibility_table(problem), Each("1111"));
  problem.mask.prefix = 1;
  problem.mask.causal = Causal{explicit_offset, kSmallestIndex};
  EXPECT_THAT(visibility_table(problem), Each("1000"));
}

TEST(VisibleParts, AWindowCountsBothSidesOfThePosition) {
  EXPECT_THAT(visibility_table(window_problem(4, 4, {1, 0}, top_left)),
              ElementsAre("1000", "1100", "0110", "0011"));
  EXPECT_THAT(visibility_table(window_problem(4, 4, {0, 1}, top_left)),
              ElementsAre("1100", "0110", "0011", "0001"));
  EXPECT_THAT(visibility_table(window_problem(4, 4, {1, {}}, top_left)),
              ElementsAre("1111", "1111", "0111", "0011"));
  EXPECT_THAT(visibility_table(window_problem(4, 4, {{}, 1}, top_left)),
              ElementsAre("1100", "1110", "1111", "1111"));
}

TEST(VisibleParts, AWindowFollowsItsDiagonalWithMoreOrFewerQueries) {
  EXPECT_THAT(visibility_table(window_problem(2, 4, {1, 0}, bottom_right)),
              ElementsAre("0110", "0011"));
  EXPECT_THAT(visibility_table(window_problem(4, 2, {1, 0}, bottom_right)),
              ElementsAre("00", "00", "10", "11"));
  EXPECT_THAT(visibility_table(window_problem(4, 2, {0, 1}, bottom_right)),
              ElementsAre("00", "10", "11", "01"));
  EXPECT_THAT(visibility_table(window_problem(4, 2, {0, 0}, top_left)),
              ElementsAre("10", "01", "00", "00"));
  EXPECT_THAT(visibility_table(window_problem(2, 4, {0, 1}, explicit_offset, -1)),
              ElementsAre("1000", "1100"));
}

TEST(VisibleParts, TheDiagonalOfAWindowIsTheCausalOne) {
  Problem problem = causal_problem(2, 4, bottom_right);
  problem.mask.window = {1, 1};
  EXPECT_EQ(mask_offset(problem, 0), 2);
  EXPECT_THAT(visibility_table(problem), ElementsAre("0110", "0011"));
}

TEST(VisibleParts, FirstTokensStayInTheWindow) {
  Problem problem = causal_problem(5, 5, top_left);
  problem.mask.window.left = 1;
  problem.mask.keep_first = 1;
  EXPECT_THAT(visibility_table(problem), ElementsAre("10000", "11000", "11100", "10110", "10011"));
  problem.mask.keep_first = kLargestIndex;
  EXPECT_THAT(visibility_table(problem), ElementsAre("10000", "11000", "11100", "11110", "11111"));
}

TEST(VisibleParts, NeitherTheRightLimitNorTheDiagonalLetsAKeptTokenThrough) {
  Problem problem = window_problem(3, 3, {0, 0}, explicit_offset, -2);
  problem.mask.keep_first = 2;
  EXPECT_THAT(visibility_table(problem), ElementsAre("000", "000", "100"));
}

TEST(VisibleParts, ExtremeWindowsAndOffsetsDoNotOverflow) {
  EXPECT_THAT(visibility_table(window_problem(2, 3, {kLargestIndex, kLargestIndex}, top_left)),
              Each("111"));
  EXPECT_THAT(visibility_table(window_problem(2, 3, {0, 0}, explicit_offset, kLargestIndex)),
              Each("000"));
  EXPECT_THAT(visibility_table(window_problem(2, 3, {0, 0}, explicit_offset, kSmallestIndex)),
              Each("000"));
  // Query 0 is at the largest position; its window ends at key 1 on the left.
  EXPECT_THAT(visibility_table(
                  window_problem(2, 3, {kLargestIndex - 1, 0}, explicit_offset, kLargestIndex)),
              ElementsAre("011", "001"));
  EXPECT_THAT(
      visibility_table(window_problem(2, 3, {0, kLargestIndex}, explicit_offset, -kLargestIndex)),
      ElementsAre("100", "110"));
  EXPECT_THAT(
      visibility_table(window_problem(2, 3, {0, kLargestIndex}, explicit_offset, kSmallestIndex)),
      ElementsAre("000", "100"));
}

TEST(VisibleParts, AChunkSeesItself) {
  EXPECT_THAT(visibility_table(chunk_problem(5, 5, 2, 0)),
              ElementsAre("11000", "11000", "00110", "00110", "00001"));
  EXPECT_THAT(visibility_table(chunk_problem(3, 5, 3, 2)), ElementsAre("11100", "00011", "00011"));
  EXPECT_THAT(visibility_table(chunk_problem(2, 3, 1, 0)), ElementsAre("100", "010"));
  Problem causal = causal_problem(4, 4, top_left);
  causal.mask.chunk = 2;
  EXPECT_THAT(visibility_table(causal), ElementsAre("1000", "1100", "0010", "0011"));
}

TEST(VisibleParts, ChunksOfNegativePositionsHoldNoKey) {
  EXPECT_THAT(visibility_table(chunk_problem(4, 3, 2, -3)),
              ElementsAre("000", "000", "000", "110"));
  EXPECT_THAT(visibility_table(chunk_problem(2, 3, 2, kSmallestIndex)), Each("000"));
  EXPECT_THAT(visibility_table(chunk_problem(2, 3, 2, kLargestIndex)), Each("000"));
  EXPECT_THAT(visibility_table(chunk_problem(2, 3, kLargestIndex, 0)), Each("111"));
  EXPECT_THAT(visibility_table(chunk_problem(2, 3, kLargestIndex, -1)), ElementsAre("000", "111"));
  EXPECT_THAT(visibility_table(chunk_problem(3, 3, kLargestIndex, kLargestIndex - 1)),
              ElementsAre("111", "000", "000"));
}

TEST(VisibleParts, SegmentsSeeTheirOwnNumber) {
  Problem problem = problem_of(3, 4);
  problem.mask.segments = Segments{{0, 7, 1}, {0, 0, 1, 7}};
  EXPECT_THAT(visibility_table(problem), ElementsAre("1100", "0001", "0010"));
  problem.mask.causal = Causal{top_left, 0};
  EXPECT_THAT(visibility_table(problem), ElementsAre("1000", "0000", "0010"));
}

TEST(VisibleParts, BlocksAreRectanglesAndTheLastMayBeCut) {
  Problem problem = problem_of(3, 5);
  problem.mask.blocks = BlockMask{2, 2, 2, 3, {true, false, true, false, true, false}};
  EXPECT_THAT(visibility_table(problem), ElementsAre("11001", "11001", "00110"));
}

TEST(VisibleParts, OnlyMinusInfinityOfAnAdditiveMaskExcludes) {
  constexpr double kExcluded = -std::numeric_limits<double>::infinity();
  Problem problem = problem_of(2, 3);
  problem.mask.additive = AdditiveMask{2, 3, {0, kExcluded, -3e38, kExcluded, 1, 0}};
  EXPECT_THAT(visibility_table(problem), ElementsAre("101", "011"));
  problem.mask.additive = AdditiveMask{1, 3, {0, kExcluded, 2}};
  EXPECT_THAT(visibility_table(problem), ElementsAre("101", "101"));
}

TEST(VisibleParts, EveryPartMustLetAKeyThrough) {
  Problem problem = causal_problem(4, 6, bottom_right);
  problem.mask.window.left = 2;
  problem.mask.keep_first = 1;
  problem.mask.bits = bits_of({"110111"});
  problem.mask.segments = Segments{{0, 0, 1, 1}, {0, 0, 0, 0, 1, 1}};
  // causal and window:                    111000    111100    101110    100111
  EXPECT_THAT(visibility_table(problem), ElementsAre("110000", "110100", "000010", "000011"));
}

}  // namespace
}  // namespace attest
