// GoogleTest with attest: a loop of our own, and the laws as tests.
#include <attest/gtest.hpp>
#include <cmath>
#include <vector>

#include "kernel.hpp"

namespace {

using attest::Index;

/// Tensors of a test that was here before attest.
struct Buffers {
  explicit Buffers(const mine::Shape& shape) {
    const auto numbers = [](Index count, float step) {
      std::vector<float> made;
      for (Index i = 0; i < count; ++i) made.push_back(std::sin(step * static_cast<float>(i)));
      return made;
    };
    const Index keys = shape.batch * shape.keys * shape.heads;
    const Index rows = shape.batch * shape.queries * shape.heads;
    q = numbers(rows * shape.columns, 1.7F);
    k = numbers(keys * shape.columns, 0.9F);
    v = numbers(keys * shape.value_columns, 0.4F);
    out.resize(static_cast<std::size_t>(rows * shape.value_columns));
    lse.resize(static_cast<std::size_t>(rows));
  }
  std::vector<float> q, k, v, out, lse;
};

attest::Problem problem_of(const mine::Shape& shape) {
  attest::Problem problem;
  problem.batch = shape.batch;
  problem.heads_q = problem.heads_kv = shape.heads;
  problem.seq_q = shape.queries;
  problem.seq_kv = shape.keys;
  problem.head_dim = shape.columns;
  problem.head_dim_v = shape.value_columns;
  problem.mask.causal = attest::Causal{attest::Causal::Alignment::explicit_offset, shape.offset};
  problem.lse = attest::LseForm::natural;
  return problem;
}

attest::ForwardViews views_of(const attest::Problem& problem, Buffers& buffers) {
  const auto in = [](const std::vector<float>& numbers, const attest::Extents& extents) {
    return attest::ConstTensorRef{numbers.data(), attest::Dtype::f32, extents,
                                  attest::bshd_strides(extents)};
  };
  const auto result = [](std::vector<float>& numbers, const attest::Extents& extents) {
    return attest::TensorRef{numbers.data(), attest::Dtype::f32, extents,
                             attest::bshd_strides(extents)};
  };
  return {in(buffers.q, problem.q_extents()), in(buffers.k, problem.k_extents()),
          in(buffers.v, problem.v_extents()), result(buffers.out, problem.out_extents()),
          result(buffers.lse, problem.lse_extents())};
}

class Loop : public testing::TestWithParam<Index> {
 protected:
  mine::Shape shape() const { return {2, 5, GetParam(), 2, 4, 3, 3, 0.5F}; }
};

TEST_P(Loop, GivesAttention) {
  Buffers buffers(shape());
  mine::attention(shape(), {buffers.q.data(), buffers.k.data(), buffers.v.data(),
                            buffers.out.data(), buffers.lse.data()});
  const attest::Problem problem = problem_of(shape());
  EXPECT_ATTENTION(problem, views_of(problem, buffers));
}

#ifdef WITH_WRONG_KERNEL
TEST_P(Loop, OfTheWrongKernelGivesAttention) {
  Buffers buffers(shape());
  mine::wrong_attention(shape(), {buffers.q.data(), buffers.k.data(), buffers.v.data(),
                                  buffers.out.data(), buffers.lse.data()});
  const attest::Problem problem = problem_of(shape());
  EXPECT_ATTENTION(problem, views_of(problem, buffers));
}
#endif

INSTANTIATE_TEST_SUITE_P(Keys, Loop, testing::Values(1, 2, 7, 40));

ATTEST_ATTENTION_TEST(Mine, Bounds, mine::make_kernel(), {.laws = {"bound.*", "empty.*"}});

}  // namespace
