// Slopes and terms of attention with linear biases.
#include <gtest/gtest.h>

#include <cmath>

#include "test_problem.hpp"

namespace attest {
namespace {

Problem alibi_problem(Index heads, Alibi alibi) {
  Problem problem = problem_of(2, 4);
  problem.heads_q = heads;
  problem.heads_kv = 1;
  problem.alibi = std::move(alibi);
  return problem;
}

TEST(AlibiSlope, OfAPowerOfTwoOfHeadsIsAGeometricSequence) {
  const Problem problem = alibi_problem(8, {});
  for (Index h = 0; h < 8; ++h)
    EXPECT_EQ(alibi_slope(problem, h), std::ldexp(1.0, static_cast<int>(-h - 1)));
  EXPECT_EQ(alibi_slope(alibi_problem(1, {}), 0), 0x1p-8);
  // 2^(-1/2), the first slope of sixteen heads.
  EXPECT_EQ(alibi_slope(alibi_problem(16, {}), 0), static_cast<double>(std::sqrt(0.5F)));
}

TEST(AlibiSlope, OfOtherNumbersOfHeadsInterleavesTwoSequences) {
  // Four heads have 2^-2, 2^-4, 2^-6, 2^-8; every second slope of eight heads is 2^-1, 2^-3.
  const Problem problem = alibi_problem(6, {});
  const double expected[] = {0x1p-2, 0x1p-4, 0x1p-6, 0x1p-8, 0x1p-1, 0x1p-3};
  for (Index h = 0; h < 6; ++h) EXPECT_EQ(alibi_slope(problem, h), expected[h]);
}

TEST(AlibiSlope, GivenNumbersAreTaken) {
  const Problem problem = alibi_problem(2, {{0.5, -3}, Alibi::Form::absolute, {}});
  EXPECT_EQ(alibi_slope(problem, 0), 0.5);
  EXPECT_EQ(alibi_slope(problem, 1), -3);
}

TEST(AlibiTerm, HasThreeForms) {
  const auto bottom_right = Causal::Alignment::bottom_right;
  const auto term = [&](Alibi::Form form, Index query, Index key) {
    return alibi_term(alibi_problem(1, {{0.5}, form, bottom_right}), 0, 0, query, key);
  };
  // Query 0 is at position 2 of four keys.
  EXPECT_EQ(term(Alibi::Form::absolute, 0, 0), -1.0);
  EXPECT_EQ(term(Alibi::Form::absolute, 0, 2), 0.0);
  EXPECT_EQ(term(Alibi::Form::absolute, 0, 3), -0.5);
  EXPECT_EQ(term(Alibi::Form::relative, 0, 0), -1.0);
  EXPECT_EQ(term(Alibi::Form::relative, 0, 3), 0.5);
  EXPECT_EQ(term(Alibi::Form::column, 0, 0), 0.0);
  EXPECT_EQ(term(Alibi::Form::column, 1, 3), 1.5);
}

TEST(AlibiTerm, FollowsTheLengthsOfTheBatchMember) {
  Problem problem = alibi_problem(1, {{1}, Alibi::Form::relative, Causal::Alignment::bottom_right});
  problem.batch = 2;
  problem.query_lengths = {2, 1};
  problem.key_lengths = {1, 4};
  EXPECT_EQ(alibi_term(problem, 0, 0, 1, 0), 0.0);
  EXPECT_EQ(alibi_term(problem, 0, 0, 0, 0), 1.0);
  EXPECT_EQ(alibi_term(problem, 1, 0, 0, 0), -3.0);
  problem.alibi->alignment = Causal::Alignment::top_left;
  EXPECT_EQ(alibi_term(problem, 1, 0, 0, 0), 0.0);
}

}  // namespace
}  // namespace attest
