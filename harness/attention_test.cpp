// EXPECT_ATTENTION on results of right and wrong kernels.
#include <gtest/gtest-spi.h>

#include "attest/gtest.hpp"
#include "harness/given_results.hpp"
#include "kernels/registry.hpp"
#include "mutants/mutants.hpp"
#include "properties/run_kernel.hpp"
#include "properties/stored.hpp"

namespace attest::harness {
namespace {

/// A call with its memory, computed by a kernel.
struct Computed {
  properties::Case of;
  properties::StoredInputs inputs;
  Tensor out, lse;

  Computed(const Kernel& kernel, const std::string& line) {
    ProblemText text;
    TextError error;
    EXPECT_TRUE(parse_problem_text(line, text, error)) << error.message;
    of = properties::make_case(text, nullptr).value();
    inputs = properties::store(of);
    out = properties::poisoned_rows(of.problem, of.problem.out_dtype(), of.problem.head_dim_v);
    const Extents lse_extents = of.problem.lse_extents();
    if (of.problem.lse != LseForm::none)
      lse = properties::poisoned_rows(of.problem, of.problem.compute_dtype(), lse_extents[3]);
    const Status status = kernel.forward(of.problem, of.tiling, views());
    EXPECT_TRUE(status.ok()) << status.message();
  }

  ForwardViews views() {
    ForwardViews all = properties::forward_views(of.problem, inputs);
    all.out = out.ref();
    if (of.problem.lse != LseForm::none) all.lse = lse.ref();
    return all;
  }
};

const Kernel& right() {
  return *kernels::find_builtin("builtin:scalar_sequential");
}
const Kernel& wrong(const std::string& name) {
  return *mutants::find("mutant:" + name)->kernel;
}

TEST(ExpectAttention, HoldsForARightKernelInEveryStorage) {
  for (const char* const line :
       {"1x1:1x2:1 f32", "2x4/2:5x9:8/3 f32 mask=causal:br lse=ln", "1x2:3x40:16 bf16 lse=ln",
        "1x1:3x33:4 f64 cap=2 lse=log2", "2x1:{2,3}x{0,9}:4 f32 layout=thd lse=ln",
        "2x2:3x7:4 f32 kv=paged:4 bias=2d sink=head lse=ln", "1x2:4x4:4 f16 layout=bhsd:pad=3",
        "1x1:3x5:4/2 f32 v=view(k) mask=bits:00000/10101/11111 lse=max_sum"}) {
    Computed computed(right(), line);
    EXPECT_ATTENTION(computed.of.problem, computed.views());
    EXPECT_ATTENTION(computed.of.problem, computed.views(), right().accuracy(computed.of.problem));
  }
}

TEST(ExpectAttention, HoldsForEveryBuiltInKernelOfFullPrecision) {
  int judged = 0;
  for (const auto& kernel : kernels::builtin_kernels()) {
    const std::string& name = kernel->description().name;
    if (name.starts_with("builtin:flash")) continue;  // they round weights, which is not assumed
    for (const char* const line :
         {"1x2:4x70:8 f32 vals=spread:3", "1x1:3x300:4 f32 vals=normal:5"}) {
      Computed computed(*kernel, line);
      EXPECT_ATTENTION(computed.of.problem, computed.views()) << name;
      ++judged;
    }
  }
  EXPECT_GE(judged, 10);
}

TEST(ExpectAttention, NamesTheElementTheMistakeAndALineThatReplays) {
  Computed computed(wrong("causal_one_too_many"), "1x1:3x4:2 f32 mask=causal:tl lse=ln");
  const AttentionVerdict verdict = judge({computed.of.problem, computed.views()});
  EXPECT_FALSE(verdict.holds);
  EXPECT_EQ(verdict.out.outcome, Outcome::fail);
  ASSERT_TRUE(verdict.lse);
  EXPECT_EQ(verdict.lse->outcome, Outcome::fail);
  for (const char* const part :
       {"bound.out: fail\n", "bound.lse: fail\n",
        "  problem   1x1:3x4:2 f32 mask=causal:tl lse=ln\n", "  element   out[0,0,", "  got ",
        "  want ", "  err ", "  bound ", " x bound)", "acts like causal +1", "\nQ = ", "\nV = ",
        "replay     attest replay KERNEL '1x1:3x4:2 f32 mask=causal:tl lse=ln vals=lit:"})
    EXPECT_NE(verdict.message.find(part), std::string::npos) << part << "\n" << verdict.message;
}

TEST(ExpectAttention, FailsForAWrongKernelWithItsMessage) {
  static Computed computed(wrong("causal_one_too_many"), "1x1:3x4:2 f32 mask=causal:tl");
  EXPECT_NONFATAL_FAILURE(EXPECT_ATTENTION(computed.of.problem, computed.views()),
                          "bound.out: fail\n  problem   1x1:3x4:2 f32 mask=causal:tl\n");
  EXPECT_FATAL_FAILURE(ASSERT_ATTENTION(computed.of.problem, computed.views()), "acts like causal");
}

TEST(ExpectAttention, FindsOneWrongNumberAnywhere) {
  for (const Index at : {Index{0}, Index{7}, Index{31}}) {
    Computed computed(right(), "1x2:4x9:4 f32 lse=ln");
    const Index row = at / 8;
    const Index head = at / 4 % 2;
    const double before = computed.out.get(0, head, row, at % 4);
    computed.out.set(0, head, row, at % 4, before * (1 + 0x1p-12) + 0x1p-12);
    const AttentionVerdict verdict = judge({computed.of.problem, computed.views()});
    EXPECT_FALSE(verdict.holds);
    ASSERT_TRUE(verdict.out.witness);
    EXPECT_EQ(verdict.out.witness->row, (RowIndex{0, head, row}));
    EXPECT_EQ(verdict.out.witness->column, at % 4);
    EXPECT_EQ(verdict.lse->outcome, Outcome::ok);
  }
}

TEST(ExpectAttention, UsesTheAccuracyThatIsGiven) {
  Computed computed(right(), "1x1:2x64:4 f32 vals=normal:1");
  const DeclaredAccuracy declared = right().accuracy(computed.of.problem);
  const AttentionVerdict usual = judge({computed.of.problem, computed.views()});
  const AttentionVerdict own = judge({computed.of.problem, computed.views(), declared});
  EXPECT_TRUE(usual.holds);
  EXPECT_TRUE(own.holds);
  EXPECT_LT(usual.out.worst_ratio, own.out.worst_ratio);
  DeclaredAccuracy too_good = declared;
  too_good.format = format_of(Dtype::f64);
  too_good.exp_relative_error = too_good.exp_absolute_error = 0;
  EXPECT_FALSE(judge({computed.of.problem, computed.views(), too_good}).holds);
}

TEST(ExpectAttention, LeavesLongTensorsOutOfTheMessage) {
  Computed computed(right(), "1x4:40x40:16 f32");
  computed.out.set(0, 3, 39, 15, 1e3);
  const AttentionVerdict verdict = judge({computed.of.problem, computed.views()});
  EXPECT_FALSE(verdict.holds);
  EXPECT_LT(verdict.message.size(), 1000U) << verdict.message;
  EXPECT_NE(verdict.message.find("out[0,3,39,15]"), std::string::npos);
  EXPECT_NE(verdict.message.find("too large for a replay line"), std::string::npos);
}

TEST(ExpectAttention, SaysWhyViewsCannotBeJudged) {
  Computed computed(right(), "1x1:2x3:4 f32 lse=ln");
  ForwardViews views = computed.views();
  views.k.extents[2] = 2;
  const AttentionVerdict verdict = judge({computed.of.problem, views});
  EXPECT_FALSE(verdict.holds);
  EXPECT_TRUE(verdict.message.starts_with("this cannot be judged: ")) << verdict.message;
  EXPECT_NE(verdict.message.find("k"), std::string::npos);
}

}  // namespace
}  // namespace attest::harness
