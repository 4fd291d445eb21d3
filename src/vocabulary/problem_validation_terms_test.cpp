// Which score terms, types and results are refused, and why.
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "test_problem.hpp"

namespace attest {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Problem typed(Dtype q, Dtype k, Dtype v) {
  Problem problem;
  problem.dtype = q;
  problem.k_storage = k;
  problem.v_storage = v;
  return problem;
}

TEST(ProblemValidation, EitherAllOfQKVAreF64OrNone) {
  const std::string message = "q, k and v must all be f64, or none of them";
  EXPECT_EQ(refusal(typed(Dtype::f64, Dtype::f64, Dtype::f64)), "not refused");
  EXPECT_EQ(refusal(typed(Dtype::bf16, Dtype::e4m3, Dtype::f32)), "not refused");
  EXPECT_EQ(refusal(typed(Dtype::f64, Dtype::f32, Dtype::f32)), message);
  EXPECT_EQ(refusal(typed(Dtype::f32, Dtype::f64, Dtype::f32)), message);
  EXPECT_EQ(refusal(typed(Dtype::f64, Dtype::f64, Dtype::f32)), message);
}

TEST(ProblemValidation, AnOutputIsNotOfFp8) {
  Problem problem;
  problem.out_storage = Dtype::e5m2;
  EXPECT_EQ(refusal(problem), "an fp8 type is no type of an output");
  problem.out_storage = Dtype::f16;
  EXPECT_EQ(refusal(problem), "not refused");
}

TEST(ProblemValidation, ASoftcapIsFinitePositiveAndExact) {
  const std::string message = "the softcap must be a finite number above 0";
  Problem problem;
  for (const double bad : {-1.0, kInfinity, -kInfinity, kNan}) {
    problem.softcap = bad;
    EXPECT_EQ(refusal(problem), message) << bad;
  }
  problem.softcap = 0.1;
  EXPECT_EQ(refusal(problem), "the softcap is not exact in the compute dtype");
  problem.dtype = Dtype::f64;
  EXPECT_EQ(refusal(problem), "not refused");
}

TEST(ProblemValidation, AnOrderWithoutASoftcapMeansNothingAndIsAllowed) {
  Problem problem;
  problem.order.bias_before_softcap = true;
  EXPECT_EQ(refusal(problem), "not refused");
}

TEST(ProblemValidation, ABiasIsNotOfFp8NorWiderThanTheArithmetic) {
  Problem problem;
  problem.bias = Bias{false, false, true, Dtype::e4m3};
  EXPECT_EQ(refusal(problem), "an fp8 type is no type of a bias");
  problem.bias->dtype = Dtype::f64;
  EXPECT_EQ(refusal(problem), "a bias of f64 needs q, k and v of f64");
  problem.dtype = Dtype::f64;
  EXPECT_EQ(refusal(problem), "not refused");
  problem.bias->dtype = Dtype::bf16;
  EXPECT_EQ(refusal(problem), "not refused");
}

TEST(ProblemValidation, AlibiHasAnF32SlopeAQueryHead) {
  Problem problem;
  problem.heads_q = 2;
  problem.alibi = Alibi{};
  EXPECT_EQ(refusal(problem), "not refused");
  problem.alibi->slopes = {0.5};
  EXPECT_EQ(refusal(problem), "ALiBi has 1 slopes, the problem 2 query heads");
  problem.alibi->slopes = {0.5, -0.25};
  EXPECT_EQ(refusal(problem), "not refused");
  for (const double bad : {0.1, kInfinity, kNan}) {
    problem.alibi->slopes[1] = bad;
    EXPECT_EQ(refusal(problem), "an ALiBi slope must be a finite f32 number") << bad;
  }
  problem.alibi = Alibi{{}, Alibi::Form::absolute, Causal::Alignment::explicit_offset};
  EXPECT_EQ(refusal(problem), "ALiBi counts from the top left or the bottom right corner");
}

TEST(ProblemValidation, DescalesNeedFp8AndAFactorOrOneAPair) {
  Problem problem;
  problem.batch = 2;
  problem.descales = Descales{};
  EXPECT_EQ(refusal(problem), "descales need q, k or v of fp8");
  problem.k_storage = Dtype::e4m3;
  EXPECT_EQ(refusal(problem), "not refused");
  problem.descales->k = {2, 0.5};
  EXPECT_EQ(refusal(problem), "not refused");
  problem.descales->k = {1, 1, 1};
  EXPECT_EQ(refusal(problem), "k has 3 descales; it takes one, or one a (batch, kv head) pair");
  problem.descales->k = {};
  EXPECT_EQ(refusal(problem), "k has 0 descales; it takes one, or one a (batch, kv head) pair");
}

TEST(ProblemValidation, ADescaleIsAnF32NumberNotFarFromOne) {
  const std::string message = "a descale must be an f32 number in [2^-60, 2^60]";
  Problem problem;
  problem.dtype = Dtype::e4m3;
  problem.descales = Descales{};
  for (const double good : {0x1p-60, 0x1p60, 0.75}) {
    problem.descales->v = {good};
    EXPECT_EQ(refusal(problem), "not refused") << good;
  }
  for (const double bad : {0.0, -1.0, 0x1p-61, 0x1p61, 0.1, kInfinity, kNan}) {
    problem.descales->v = {bad};
    EXPECT_EQ(refusal(problem), message) << bad;
  }
}

TEST(ProblemValidation, WhatIsNotFp8HasDescaleOne) {
  Problem problem = typed(Dtype::bf16, Dtype::e4m3, Dtype::bf16);
  problem.descales = Descales{{1}, {2}, {1}};
  EXPECT_EQ(refusal(problem), "not refused");
  problem.descales = Descales{{2}, {2}, {1}};
  EXPECT_EQ(refusal(problem), "q is not of fp8: its descale must be 1");
  problem.descales = Descales{{1}, {2}, {2}};
  EXPECT_EQ(refusal(problem), "v is not of fp8: its descale must be 1");
}

TEST(ProblemValidation, AViewOfKHasItsColumnsTypeAndDescales) {
  Problem problem;
  problem.head_dim = 4;
  problem.head_dim_v = 4;
  problem.v_is_k_view = true;
  EXPECT_EQ(refusal(problem), "not refused");
  problem.head_dim_v = 5;
  EXPECT_EQ(refusal(problem), "v as a view of k has no more columns than k");
  problem.head_dim_v = 3;
  problem.v_storage = Dtype::f16;
  EXPECT_EQ(refusal(problem), "v as a view of k has the dtype of k");
  problem.v_storage.reset();
  problem.dtype = Dtype::e4m3;
  problem.descales = Descales{{1}, {2}, {1}};
  EXPECT_EQ(refusal(problem), "v as a view of k has the descales of k");
  problem.descales->v = {2};
  EXPECT_EQ(refusal(problem), "not refused");
}

TEST(ProblemValidation, TheLseOfAnEmptyRowIsANumberOfTheArithmetic) {
  Problem problem;
  problem.empty_lse = kInfinity;
  EXPECT_EQ(refusal(problem), "not refused");
  problem.empty_lse = 0.1;
  EXPECT_EQ(refusal(problem), "the lse of an empty row is not exact in the compute dtype");
  problem.empty_lse = kNan;
  EXPECT_EQ(refusal(problem), "the lse of an empty row must be a number, or not looked at");
  problem.empty_lse = 0;
  problem.lse = LseForm::max_sum;
  EXPECT_EQ(refusal(problem), "an lse as maximum and sum has no other number for an empty row");
  problem.empty_lse.reset();
  EXPECT_EQ(refusal(problem), "not refused");
}

TEST(ProblemValidation, BackwardGoesWithTheNaturalLseAndZeroForEmptyRows) {
  Problem problem;
  problem.backward = Backward{};
  for (const LseForm form : {LseForm::none, LseForm::natural}) {
    problem.lse = form;
    EXPECT_EQ(refusal(problem), "not refused");
  }
  for (const LseForm form : {LseForm::base_two, LseForm::max_sum}) {
    problem.lse = form;
    EXPECT_EQ(refusal(problem), "backward goes with the natural lse, or none");
  }
  problem.lse = LseForm::none;
  for (const AllMaskedPolicy policy :
       {AllMaskedPolicy::nan, AllMaskedPolicy::mean, AllMaskedPolicy::any}) {
    problem.all_masked = policy;
    EXPECT_EQ(refusal(problem), "backward needs empty rows that are zero or rejected");
  }
  problem.all_masked = AllMaskedPolicy::reject;
  EXPECT_EQ(refusal(problem), "not refused");
  problem.qv = true;
  EXPECT_EQ(refusal(problem), "backward knows no qv term");
}

TEST(ProblemValidation, BackwardTakesNoFp8Type) {
  for (const Dtype dtype : {Dtype::e4m3, Dtype::e5m2}) {
    for (const auto storage : {&Problem::k_storage, &Problem::v_storage}) {
      Problem problem;
      problem.v_storage = Dtype::f32;
      problem.*storage = dtype;
      EXPECT_EQ(refusal(problem), "not refused");
      problem.backward = Backward{};
      EXPECT_EQ(refusal(problem), "backward takes no fp8 type");
    }
    Problem problem;
    problem.dtype = dtype;
    problem.k_storage = problem.v_storage = problem.out_storage = Dtype::f32;
    EXPECT_EQ(refusal(problem), "not refused");
    problem.backward = Backward{};
    EXPECT_EQ(refusal(problem), "backward takes no fp8 type");
  }
}

TEST(ProblemValidation, BackwardNeedsAnLseThatCountsTheSink) {
  for (const bool zero : {false, true}) {
    Problem problem;
    problem.sink = Sink{zero, false};
    EXPECT_EQ(refusal(problem), "not refused");
    problem.backward = Backward{};
    EXPECT_EQ(refusal(problem), "backward needs an lse that counts the sink");
    problem.sink->in_lse = true;
    EXPECT_EQ(refusal(problem), "not refused");
  }
}

TEST(ProblemValidation, AlibiHasNoDistanceThatADoubleTimesASlopeRounds) {
  constexpr Index kFarthest = Index{1} << 29;
  for (const auto length : {&Problem::seq_q, &Problem::seq_kv}) {
    Problem problem;
    problem.*length = kFarthest;
    problem.alibi = Alibi{};
    EXPECT_EQ(refusal(problem), "not refused");
    problem.*length = kFarthest + 1;
    EXPECT_EQ(refusal(problem), "ALiBi knows no distance of 2^29 or more");
    problem.alibi.reset();
    EXPECT_EQ(refusal(problem), "not refused");
  }
}

TEST(ProblemValidation, AGradientNeedsItsTensor) {
  Problem problem;
  problem.backward = Backward{true, false, false};
  EXPECT_EQ(refusal(problem), "dbias needs a bias");
  problem.bias = Bias{};
  EXPECT_EQ(refusal(problem), "not refused");
  problem.backward = Backward{false, true, true};
  EXPECT_EQ(refusal(problem), "dsink needs a sink of one logit a head");
  problem.sink = Sink{true, true};
  EXPECT_EQ(refusal(problem), "dsink needs a sink of one logit a head");
  problem.sink = Sink{};
  EXPECT_EQ(refusal(problem), "not refused");
}

}  // namespace
}  // namespace attest
