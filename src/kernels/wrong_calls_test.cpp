// Every kernel called wrongly.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <vector>

#include "kernels/test_cases.hpp"

namespace attest::kernels {
namespace {

using testing::HasSubstr;

/// A way to call a kernel wrongly, and a part of the message that says so.
struct WrongCall {
  const char* message;
  std::function<void(Problem&, Tiling&, ForwardViews&)> change;
};

const std::vector<WrongCall>& wrong_calls() {
  static const std::vector<WrongCall> all{
      {"multiple of key/value heads", [](Problem& p, Tiling&, ForwardViews&) { p.heads_kv = 3; }},
      {"head_dim", [](Problem& p, Tiling&, ForwardViews&) { p.head_dim_v = 0; }},
      {"key length",
       [](Problem& p, Tiling&, ForwardViews&) {
         p.key_lengths = {6, 1};
       }},
      {"tiles", [](Problem&, Tiling& t, ForwardViews&) { t.tile_kv = 0; }},
      {"tiles", [](Problem&, Tiling& t, ForwardViews&) { t.tile_q = -1; }},
      {"splits", [](Problem&, Tiling& t, ForwardViews&) { t.splits.count = 0; }},
      {"cuts",
       [](Problem&, Tiling& t, ForwardViews&) {
         t.splits.cuts = {3, 2};
       }},
      {"cuts", [](Problem&, Tiling& t, ForwardViews&) { t.splits.cuts = {6}; }},
      {"q has another dtype", [](Problem&, Tiling&, ForwardViews& v) { v.q.dtype = Dtype::f64; }},
      {"v has another dtype", [](Problem&, Tiling&, ForwardViews& v) { v.v.dtype = Dtype::f64; }},
      {"out has another dtype",
       [](Problem&, Tiling&, ForwardViews& v) { v.out.dtype = Dtype::f64; }},
      {"lse has another dtype",
       [](Problem&, Tiling&, ForwardViews& v) { v.lse.dtype = Dtype::f64; }},
      {"q has other extents", [](Problem&, Tiling&, ForwardViews& v) { v.q.extents[2] = 2; }},
      {"k has other extents", [](Problem&, Tiling&, ForwardViews& v) { v.k.extents[1] = 4; }},
      {"v has other extents", [](Problem&, Tiling&, ForwardViews& v) { v.v.extents[0] = 1; }},
      {"out has other extents", [](Problem&, Tiling&, ForwardViews& v) { v.out.extents[3] = 1; }},
      {"lse has other extents", [](Problem&, Tiling&, ForwardViews& v) { v.lse.extents[3] = 2; }},
      {"q is null", [](Problem&, Tiling&, ForwardViews& v) { v.q.data = nullptr; }},
      {"k is null", [](Problem&, Tiling&, ForwardViews& v) { v.k.data = nullptr; }},
      {"v is null", [](Problem&, Tiling&, ForwardViews& v) { v.v.data = nullptr; }},
      {"out is null", [](Problem&, Tiling&, ForwardViews& v) { v.out.data = nullptr; }},
      {"lse is null", [](Problem&, Tiling&, ForwardViews& v) { v.lse.data = nullptr; }},
  };
  return all;
}

TEST(EveryKernel, RefusesAWrongCallAndWritesNothing) {
  for_each_kernel([](const Kernel& kernel) {
    for (const WrongCall& wrong : wrong_calls()) {
      Case drawn = random_case("2x4/2:3x5:2 f32 lse=ln");
      Problem problem = drawn.problem;
      ForwardViews views = drawn.views();
      wrong.change(problem, drawn.tiling, views);
      const Status status = kernel.forward(problem, drawn.tiling, views);
      EXPECT_EQ(status.code(), StatusCode::invalid_argument) << wrong.message;
      EXPECT_THAT(status.message(), HasSubstr(wrong.message));
      EXPECT_TRUE(is_untouched(drawn.out) && is_untouched(drawn.lse)) << wrong.message;
    }
  });
}

TEST(EveryKernel, ThatMergesRefusesATreeThatDoesNotFitAndWritesNothing) {
  const Index merge = MergeTree::merge;
  const std::vector<std::vector<Index>> trees{
      {},                                           // no leaf
      {0},                                          // not all leaves
      {0, 0, merge},                                // a leaf twice
      {0, 1, merge, 2, merge, 3, merge, 4, merge},  // more leaves than any unit has
      {0, merge, 1},                                // a merge of one
      {0, 1, 2, 3},                                 // never joined
      {0, 1, merge, std::numeric_limits<Index>::max(), merge}};
  for_each_kernel([&](const Kernel& kernel) {
    if (!kernel.description().capabilities.kv_splits) return;
    for (const auto& steps : trees) {
      Case drawn = random_case("1x1:2x4:2 f32 lse=ln tile=1 split=4");
      drawn.tiling.merge = {MergeOrder::Kind::explicit_tree, 0, {steps}};
      EXPECT_EQ(drawn.forward(kernel).code(), StatusCode::invalid_argument);
      EXPECT_TRUE(is_untouched(drawn.out) && is_untouched(drawn.lse));
    }
  });
}

}  // namespace
}  // namespace attest::kernels
