// Which numbers of a problem's tensors the gradients of one kv head are made of.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "reference/gradients.hpp"
#include "reference/test_cases.hpp"
#include "reference/test_rows.hpp"

namespace attest::reference {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Two members, two kv heads with two query heads each, up to two queries over up to three keys.
struct Backpropagation {
  Backpropagation() : problem(shape()) {
    const auto numbered = [](const Extents& extents, double first) {
      Tensor tensor(Dtype::f32, extents);
      for_each_index(extents, [&](Index b, Index h, Index i, Index c) {
        tensor.set(b, h, i, c, first + static_cast<double>(1000 * b + 100 * h + 10 * i + c));
      });
      return tensor;
    };
    q = numbered(problem.q_extents(), 0.25);
    k = numbered(problem.k_extents(), 0.5);
    v = numbered(problem.v_extents(), 0.75);
    dout = numbered(problem.out_extents(), 0.125);
    dlse = numbered({2, 4, 2, 1}, 0.375);
    bias = numbered(problem.bias_extents(), 0);
    sink = numbered(problem.sink_extents(), 0);
  }
  static Problem shape() {
    Problem problem;
    problem.batch = 2;
    problem.heads_q = 4;
    problem.heads_kv = 2;
    problem.seq_q = 2;
    problem.seq_kv = 3;
    problem.query_lengths = {2, 1};
    problem.key_lengths = {3, 2};
    problem.head_dim_v = 2;
    problem.softcap = 3;
    problem.scale = {false, 0.5};
    problem.bias = Bias{false, true, false, {}};
    problem.order.bias_before_softcap = true;
    problem.sink = Sink{};
    problem.mask.causal = Causal{Causal::Alignment::bottom_right, 0};
    problem.backward = Backward{true, true, true};
    return problem;
  }
  Inputs inputs() const {
    return {&problem, q.ref(), k.ref(), v.ref(), bias.ref(), sink.ref(), {}};
  }
  std::optional<GradientInputs> read(Index b, Index kv_head, bool with_dlse = true) const {
    return read_gradient_inputs(inputs(), dout.ref(), with_dlse ? dlse.ref() : ConstTensorRef{}, b,
                                kv_head);
  }

  Problem problem;
  Tensor q, k, v, dout, dlse, bias, sink;
};

TEST(ReadGradientInputs, GathersAllRowsOfTheGroupAndTheKeysOfTheMember) {
  const Backpropagation of;
  const GradientInputs inputs = of.read(0, 1).value();
  EXPECT_EQ(inputs.keys, 3);
  EXPECT_EQ(inputs.head_dim, 1);
  EXPECT_EQ(inputs.head_dim_v, 2);
  EXPECT_EQ(inputs.scale, 0.5);
  EXPECT_EQ(inputs.softcap, 3);
  EXPECT_TRUE(inputs.bias_before_softcap);
  EXPECT_THAT(inputs.k, ElementsAre(100.5, 110.5, 120.5));
  EXPECT_THAT(inputs.v, ElementsAre(100.75, 101.75, 110.75, 111.75, 120.75, 121.75));
  ASSERT_EQ(inputs.rows.size(), 4U);  // heads 2 and 3, two queries each
  EXPECT_THAT(inputs.rows[0].q, ElementsAre(200.25));
  EXPECT_THAT(inputs.rows[1].q, ElementsAre(210.25));
  EXPECT_THAT(inputs.rows[2].q, ElementsAre(300.25));
  EXPECT_THAT(inputs.rows[3].output_gradient, ElementsAre(310.125, 311.125));
  EXPECT_EQ(inputs.rows[3].lse_gradient, 310.375);
  EXPECT_THAT(inputs.rows[2].keys, ElementsAre(0, 1));
  EXPECT_THAT(inputs.rows[3].keys, ElementsAre(0, 1, 2));
  EXPECT_THAT(inputs.rows[2].addends, ElementsAre(added_before({300, 301})));
  EXPECT_EQ(inputs.rows[1].sink, 200);
  EXPECT_EQ(inputs.rows[2].sink, 300);
}

TEST(ReadGradientInputs, FollowsTheLengthsOfTheMember) {
  const Backpropagation of;
  const GradientInputs inputs = of.read(1, 0, false).value();
  EXPECT_EQ(inputs.keys, 2);
  EXPECT_THAT(inputs.k, ElementsAre(1000.5, 1010.5));
  ASSERT_EQ(inputs.rows.size(), 2U);  // heads 0 and 1, one query each
  EXPECT_THAT(inputs.rows[1].q, ElementsAre(1100.25));
  EXPECT_THAT(inputs.rows[1].keys, ElementsAre(0, 1));
  EXPECT_EQ(inputs.rows[1].lse_gradient, 0);
}

TEST(ReadGradientInputs, GiveTheSameRowsAsTheForwardPass) {
  Backpropagation of;
  // Small numbers, so that no weight vanishes.
  for (Tensor* tensor : {&of.q, &of.k, &of.v, &of.dout, &of.dlse, &of.bias, &of.sink})
    for_each_index(tensor->extents(), [&](Index b, Index h, Index i, Index c) {
      tensor->set(b, h, i, c, tensor->get(b, h, i, c) / 512);
    });
  const Inputs inputs = of.inputs();
  const GradientFacts facts = enclose_gradients(of.read(0, 1).value(), 128).value();
  for (Index head = 2; head < 4; ++head)
    for (Index query = 0; query < 2; ++query) {
      const RowFacts forward = enclose_row(inputs, {0, head, query}, 128).value();
      const GradientRowFacts& row = facts.rows[static_cast<std::size_t>((head - 2) * 2 + query)];
      EXPECT_EQ(row.lse.high, forward.lse.high);
      EXPECT_EQ(row.output[1].high, forward.output[1].high);
    }
}

TEST(ReadGradientInputs, HasNothingForInputsWithoutABackwardPass) {
  Backpropagation of;
  of.problem.qv = true;
  EXPECT_FALSE(of.read(0, 0).has_value());
  of.problem.qv = false;
  EXPECT_TRUE(of.read(0, 0).has_value());
  of.problem.k_storage = Dtype::e4m3;
  EXPECT_FALSE(of.read(0, 0).has_value());
}

}  // namespace
}  // namespace attest::reference
