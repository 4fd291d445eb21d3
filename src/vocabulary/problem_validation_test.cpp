// Which problems are refused, and why.
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "test_problem.hpp"

namespace attest {
namespace {

TEST(ProblemValidation, AcceptsTheDefaultProblem) {
  EXPECT_TRUE(validate(Problem{}).ok());
}

TEST(ProblemValidation, AcceptsEmptyBatchesQueriesAndKeys) {
  Problem no_batch;
  no_batch.batch = 0;
  EXPECT_TRUE(validate(no_batch).ok());
  EXPECT_TRUE(validate(problem_of(0, 3)).ok());
  EXPECT_TRUE(validate(problem_of(3, 0)).ok());
  Problem empty_member = problem_of(2, 0);
  empty_member.key_lengths = {0};
  EXPECT_TRUE(validate(empty_member).ok());
}

TEST(ProblemValidation, RefusesANegativeBatchOrLength) {
  const std::string message = "batch and lengths must not be negative";
  Problem negative_batch;
  negative_batch.batch = -1;
  EXPECT_EQ(refusal(negative_batch), message);
  EXPECT_EQ(refusal(problem_of(-1, 1)), message);
  EXPECT_EQ(refusal(problem_of(1, -1)), message);
  EXPECT_EQ(refusal(problem_of(kSmallestIndex, kSmallestIndex)), message);
}

TEST(ProblemValidation, RefusesAHeadDimBelowOne) {
  const std::string message = "head_dim and head_dim_v must be at least 1";
  for (const Index bad : {Index{0}, Index{-1}, kSmallestIndex}) {
    Problem problem;
    problem.head_dim = bad;
    EXPECT_EQ(refusal(problem), message);
    problem = Problem{};
    problem.head_dim_v = bad;
    EXPECT_EQ(refusal(problem), message);
  }
}

TEST(ProblemValidation, RefusesQueryHeadsThatAreNoMultipleOfKeyHeads) {
  const auto refusal_of_heads = [](Index heads_q, Index heads_kv) {
    Problem problem;
    problem.heads_q = heads_q;
    problem.heads_kv = heads_kv;
    return refusal(problem);
  };
  EXPECT_EQ(refusal_of_heads(4, 3), "query heads (4) must be a multiple of key/value heads (3)");
  EXPECT_EQ(refusal_of_heads(2, 4), "query heads (2) must be a multiple of key/value heads (4)");
  EXPECT_EQ(refusal_of_heads(0, 1), "query heads (0) must be a multiple of key/value heads (1)");
  EXPECT_EQ(refusal_of_heads(1, 0), "query heads (1) must be a multiple of key/value heads (0)");
  EXPECT_EQ(refusal_of_heads(-2, -1),
            "query heads (-2) must be a multiple of key/value heads (-1)");
  EXPECT_EQ(refusal_of_heads(8, 2), "not refused");
}

TEST(ProblemValidation, RefusesEachTensorOfMoreThanTwoToThe56Elements) {
  const std::string message = "a tensor of this problem has more than 2^56 elements";
  const Index most = Index{1} << 56;

  EXPECT_EQ(refusal(problem_of(most, 1)), "not refused");
  EXPECT_EQ(refusal(problem_of(most + 1, 1)), message);
  EXPECT_EQ(refusal(problem_of(1, most)), "not refused");
  EXPECT_EQ(refusal(problem_of(1, most + 1)), message);

  Problem values_too_large = problem_of(1, most / 4);
  values_too_large.head_dim_v = 4;
  EXPECT_EQ(refusal(values_too_large), "not refused");
  values_too_large.head_dim_v = 5;
  EXPECT_EQ(refusal(values_too_large), message);

  Problem output_too_large = problem_of(most / 4, 1);
  output_too_large.head_dim_v = 5;
  EXPECT_EQ(refusal(output_too_large), message);

  Problem everything_huge = problem_of(kLargestIndex, kLargestIndex);
  everything_huge.batch = everything_huge.heads_q = everything_huge.heads_kv = kLargestIndex;
  everything_huge.head_dim = everything_huge.head_dim_v = kLargestIndex;
  EXPECT_EQ(refusal(everything_huge), message);
}

TEST(ProblemValidation, RefusesExtentsWhoseProductOverflowsEvenBesideAnExtentOfZero) {
  Problem no_queries = problem_of(0, 0);
  no_queries.batch = Index{1} << 62;
  no_queries.heads_q = no_queries.heads_kv = 4;
  EXPECT_FALSE(validate(no_queries).ok());  // rows() multiplies batch * heads_q first

  Problem no_batch = problem_of(Index{1} << 62, 1);
  no_batch.batch = 0;
  no_batch.heads_q = no_batch.heads_kv = 4;
  EXPECT_FALSE(validate(no_batch).ok());  // so does the batch stride of bshd_strides
}

TEST(ProblemValidation, RefusesAScaleThatIsNotFiniteInTheDtype) {
  const std::string message = "scale must be finite in the problem's dtype";
  Problem problem;
  problem.scale = {false, std::numeric_limits<double>::quiet_NaN()};
  EXPECT_EQ(refusal(problem), message);
  problem.scale.value = std::numeric_limits<double>::infinity();
  EXPECT_EQ(refusal(problem), message);
  problem.scale.value = 0x1p128;  // finite in f64 only
  EXPECT_EQ(refusal(problem), message);
  problem.dtype = Dtype::f64;
  EXPECT_EQ(refusal(problem), "not refused");
  problem.scale = {true, std::numeric_limits<double>::quiet_NaN()};  // not read
  EXPECT_EQ(refusal(problem), "not refused");
}

TEST(ProblemValidation, RefusesKeyLengthsThatDoNotFitTheBatchOrTheKeys) {
  Problem problem = problem_of(1, 5);
  problem.batch = 3;
  problem.key_lengths = {1, 2};
  EXPECT_EQ(refusal(problem), "key_lengths has 2 entries, the batch has 3");
  problem.key_lengths = {1, 6, 2};
  EXPECT_EQ(refusal(problem), "key length 6 is outside [0, 5]");
  problem.key_lengths = {1, -1, 2};
  EXPECT_EQ(refusal(problem), "key length -1 is outside [0, 5]");
  problem.key_lengths = {0, 5, 2};
  EXPECT_EQ(refusal(problem), "not refused");
}

TEST(ProblemValidation, RefusesMaskBitsOfAnotherShape) {
  Problem problem = problem_of(3, 2);
  problem.mask.bits = bits_of({"10", "01"});
  EXPECT_EQ(refusal(problem), "mask bits have 2 rows, the problem 3 queries");
  problem.mask.bits = MaskBits{0, 2, {}};
  EXPECT_EQ(refusal(problem), "mask bits have 0 rows, the problem 3 queries");
  problem.mask.bits = MaskBits{-1, 2, {}};
  EXPECT_EQ(refusal(problem), "mask bits have -1 rows, the problem 3 queries");
  problem.mask.bits = bits_of({"101"});
  EXPECT_EQ(refusal(problem), "mask bits have 3 columns, the problem 2 keys");
  problem.mask.bits = MaskBits{1, 2, {true}};
  EXPECT_EQ(refusal(problem), "mask bits do not fill their rows and columns");
  problem.mask.bits = MaskBits{1, 2, {true, true, true}};
  EXPECT_EQ(refusal(problem), "mask bits do not fill their rows and columns");
  problem.mask.bits = bits_of({"10"});
  EXPECT_EQ(refusal(problem), "not refused");
  problem.mask.bits = bits_of({"10", "01", "11"});
  EXPECT_EQ(refusal(problem), "not refused");
}

TEST(ProblemValidation, RefusesMaskBitsWhoseDeclaredShapeNoMemoryHolds) {
  const Index huge = Index{1} << 50;
  Problem problem = problem_of(huge, huge);
  problem.mask.bits = MaskBits{huge, huge, {}};
  EXPECT_EQ(refusal(problem), "mask bits do not fill their rows and columns");
}

}  // namespace
}  // namespace attest
