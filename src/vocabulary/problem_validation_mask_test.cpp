// Which masks are refused, and why.
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "test_problem.hpp"

namespace attest {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Problem banded(Causal::Alignment alignment = Causal::Alignment::bottom_right) {
  return causal_problem(3, 4, alignment);
}

TEST(ProblemValidation, APrefixNeedsACausalMask) {
  Problem problem = problem_of(3, 4);
  problem.mask.prefix = 2;
  EXPECT_EQ(refusal(problem), "a prefix needs a causal mask");
  problem.mask.alignment = Causal{};
  EXPECT_EQ(refusal(problem), "a prefix needs a causal mask");
  problem = banded();
  problem.mask.prefix = 9;
  EXPECT_EQ(refusal(problem), "not refused");
  problem.mask.prefix = -1;
  EXPECT_EQ(refusal(problem), "a prefix must not be negative");
}

TEST(ProblemValidation, AWindowNeedsADiagonalAndLimitsThatAreNotNegative) {
  Problem problem = problem_of(3, 4);
  problem.mask.window.right = 0;
  EXPECT_EQ(refusal(problem), "a window needs a diagonal: mask=causal:... or align=...");
  problem.mask.alignment = Causal{};
  EXPECT_EQ(refusal(problem), "not refused");
  problem.mask.window = {kLargestIndex, kLargestIndex};
  EXPECT_EQ(refusal(problem), "not refused");
  problem.mask.window = {-1, 0};
  EXPECT_EQ(refusal(problem), "limits of a window must not be negative");
  problem.mask.window = {0, kSmallestIndex};
  EXPECT_EQ(refusal(problem), "limits of a window must not be negative");
}

TEST(ProblemValidation, OneDiagonalIsEnough) {
  Problem problem = banded();
  problem.mask.window.left = 1;
  EXPECT_EQ(refusal(problem), "not refused");
  problem.mask.alignment = problem.mask.causal;
  EXPECT_EQ(refusal(problem), "a causal mask has its own diagonal: align must be none");
}

TEST(ProblemValidation, FirstTokensToKeepNeedALeftLimit) {
  const std::string message = "first tokens to keep need a window with a left limit";
  Problem problem = banded();
  problem.mask.keep_first = 1;
  EXPECT_EQ(refusal(problem), message);
  problem.mask.window.right = 1;
  EXPECT_EQ(refusal(problem), message);
  problem.mask.window.left = 1;
  EXPECT_EQ(refusal(problem), "not refused");
  problem.mask.keep_first = -1;
  EXPECT_EQ(refusal(problem), "the number of first tokens to keep must not be negative");
}

TEST(ProblemValidation, ChunksNeedADiagonalAndAKey) {
  Problem problem = problem_of(3, 4);
  problem.mask.chunk = 2;
  EXPECT_EQ(refusal(problem), "chunks need a diagonal: mask=causal:... or align=...");
  problem.mask.alignment = Causal{};
  EXPECT_EQ(refusal(problem), "not refused");
  for (const Index bad : {Index{0}, Index{-1}, kSmallestIndex}) {
    problem.mask.chunk = bad;
    EXPECT_EQ(refusal(problem), "a chunk must have at least 1 key");
  }
}

TEST(ProblemValidation, DocumentsHaveANumberForEveryQueryAndKey) {
  Problem problem = problem_of(2, 3);
  problem.mask.segments = Segments{{0, 1}, {0, 1, 1}};
  EXPECT_EQ(refusal(problem), "not refused");
  problem.mask.segments = Segments{{0}, {0, 1, 1}};
  EXPECT_EQ(refusal(problem), "documents have 1 numbers of queries, the problem 2 queries");
  problem.mask.segments = Segments{{0, 1}, {}};
  EXPECT_EQ(refusal(problem), "documents have 0 numbers of keys, the problem 3 keys");
}

TEST(ProblemValidation, BlocksCoverTheProblem) {
  Problem problem = problem_of(3, 5);
  problem.mask.blocks = BlockMask{2, 4, 2, 2, {true, true, false, true}};
  EXPECT_EQ(refusal(problem), "not refused");
  problem.mask.blocks->rows = 1;
  EXPECT_EQ(refusal(problem), "the block mask has 1 x 2 blocks, the problem 2 x 2");
  problem.mask.blocks = BlockMask{2, 4, 2, 2, {true, true, false}};
  EXPECT_EQ(refusal(problem), "the block mask does not fill its rows and columns");
  problem.mask.blocks = BlockMask{0, 4, 2, 2, {true, true, false, true}};
  EXPECT_EQ(refusal(problem), "blocks of a mask must have at least 1 query and 1 key");
  problem.mask.blocks = BlockMask{2, -4, 2, 2, {true, true, false, true}};
  EXPECT_EQ(refusal(problem), "blocks of a mask must have at least 1 query and 1 key");
  problem.mask.blocks = BlockMask{kLargestIndex, kLargestIndex, 1, 1, {true}};
  EXPECT_EQ(refusal(problem), "not refused");
}

TEST(ProblemValidation, AnAdditiveMaskIsFiniteOrExcludesAndIsExact) {
  const std::string message = "a number of an additive mask is finite or -inf";
  Problem problem = problem_of(2, 3);
  problem.mask.additive = AdditiveMask{1, 3, {0, -kInfinity, 0.5}};
  EXPECT_EQ(refusal(problem), "not refused");
  problem.mask.additive->value[0] = kInfinity;
  EXPECT_EQ(refusal(problem), message);
  problem.mask.additive->value[0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(refusal(problem), message);
  problem.mask.additive->value[0] = 0.1;
  EXPECT_EQ(refusal(problem), "a number of the additive mask is not exact in the compute dtype");
  problem.dtype = Dtype::f64;
  EXPECT_EQ(refusal(problem), "not refused");
}

TEST(ProblemValidation, AnAdditiveMaskHasTheShapeOfTheProblem) {
  Problem problem = problem_of(2, 3);
  problem.mask.additive = AdditiveMask{3, 3, {}};
  EXPECT_EQ(refusal(problem), "numbers of the additive mask have 3 rows, the problem 2 queries");
  problem.mask.additive = AdditiveMask{2, 2, {}};
  EXPECT_EQ(refusal(problem), "numbers of the additive mask have 2 columns, the problem 3 keys");
  problem.mask.additive = AdditiveMask{2, 3, {0, 0, 0, 0, 0}};
  EXPECT_EQ(refusal(problem), "numbers of the additive mask do not fill their rows and columns");
}

}  // namespace
}  // namespace attest
