// The shapes and the scale of a problem.
#include "attest/problem.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "attest/tensor.hpp"
#include "test_problem.hpp"

namespace attest {
namespace {

using ::testing::ElementsAre;

TEST(ProblemShape, GivesEveryTensorItsExtentsAndEveryQueryHeadItsKeyHead) {
  Problem problem = problem_of(5, 7);
  problem.batch = 2;
  problem.heads_q = 6;
  problem.heads_kv = 3;
  problem.head_dim = 8;
  problem.head_dim_v = 4;
  EXPECT_THAT(problem.q_extents(), ElementsAre(2, 6, 5, 8));
  EXPECT_THAT(problem.k_extents(), ElementsAre(2, 3, 7, 8));
  EXPECT_THAT(problem.v_extents(), ElementsAre(2, 3, 7, 4));
  EXPECT_THAT(problem.out_extents(), ElementsAre(2, 6, 5, 4));
  EXPECT_THAT(problem.lse_extents(), ElementsAre(2, 6, 5, 1));
  EXPECT_EQ(problem.rows(), 2 * 6 * 5);
  const std::vector<Index> key_heads{0, 0, 1, 1, 2, 2};
  for (Index head = 0; head < problem.heads_q; ++head)
    EXPECT_EQ(problem.kv_head(head), key_heads[static_cast<std::size_t>(head)]);
}

TEST(EveryIndex, TakesNoTimeWhereAnExtentIsZero) {
  constexpr Index kMany = Index{1} << 50;
  int calls = 0;
  const auto count = [&calls](Index, Index, Index, Index) { ++calls; };
  for_each_index({kMany, 1, 0, 1}, count);
  for_each_index({1, kMany, kMany, 0}, count);
  for_each_index({kMany, 0, kMany, kMany}, count);
  for_each_index({0, kMany, kMany, kMany}, count);
  EXPECT_EQ(calls, 0);
  for_each_index({1, 2, 3, 4}, count);
  EXPECT_EQ(calls, 24);
}

TEST(ScaleValue, IsTheReciprocalSquareRootOfTheHeadDimByDefault) {
  Problem problem;
  problem.scale.value = 17;  // not read
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    problem.dtype = dtype;
    problem.head_dim = 1;
    EXPECT_EQ(scale_value(problem), 1.0);
    problem.head_dim = 64;
    EXPECT_EQ(scale_value(problem), 0.125);
    problem.head_dim = 256;
    EXPECT_EQ(scale_value(problem), 0.0625);
  }
}

TEST(ScaleValue, DoesNotDependOnTheHeadDimOfTheValues) {
  Problem problem;
  problem.head_dim = 4;
  problem.head_dim_v = 16;
  EXPECT_EQ(scale_value(problem), 0.5);
}

TEST(ScaleValue, OfF32IsTheFloatNearestToTheExactFactor) {
  Problem problem;
  for (Index head_dim = 1; head_dim <= 4096; ++head_dim) {
    problem.head_dim = head_dim;
    const double value = scale_value(problem);
    const auto rounded = static_cast<float>(value);
    ASSERT_EQ(static_cast<double>(rounded), value) << head_dim;
    // 1/sqrt(d) lies below the midpoint m of two floats iff m^2 d > 1; m^2 has at most 50 bits and
    // d has 13, so the product is exact in 64 bits.
    const auto midpoint_to = [&](float direction) {
      return (static_cast<long double>(rounded) + std::nextafter(rounded, direction)) / 2;
    };
    const long double above = midpoint_to(2);
    const long double below = midpoint_to(0);
    ASSERT_GT(above * above * static_cast<long double>(head_dim), 1) << head_dim;
    ASSERT_LT(below * below * static_cast<long double>(head_dim), 1) << head_dim;
  }
}

TEST(ScaleValue, RoundsAGivenNumberToTheDtype) {
  Problem problem;
  problem.scale = {false, 0.1};
  EXPECT_EQ(scale_value(problem), static_cast<double>(0.1F));
  problem.dtype = Dtype::f64;
  EXPECT_EQ(scale_value(problem), 0.1);
  problem.scale.value = -3;
  EXPECT_EQ(scale_value(problem), -3.0);
  problem.scale.value = 0;
  EXPECT_EQ(scale_value(problem), 0.0);
}

}  // namespace
}  // namespace attest
