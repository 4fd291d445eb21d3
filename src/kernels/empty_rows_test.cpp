// Every kernel where rows see no key, or where there is nothing at all.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "kernels/test_cases.hpp"

namespace attest::kernels {
namespace {

/// In 2x2:4x{2,0} with causal:br member 1 has no key, and queries 0 and 1 of member 0 see none.
bool has_keys(Index b, Index query) {
  return b == 0 && query >= 2;
}

TEST(EveryKernel, WritesZeroAndMinusInfinityForARowWithoutVisibleKeys) {
  for_each_kernel_and_dtype([](const Kernel& kernel, const std::string& dtype) {
    for (const char* tiling : {"tile=1 split=3", "tile=2", "tile=16 split=9 merge=balanced"}) {
      Case drawn = random_case("2x2:4x{2,0}:3/2 " + dtype + " lse=ln mask=causal:br " + tiling);
      drawn.run(kernel);
      for_each_index(drawn.out.extents(), [&](Index b, Index h, Index query, Index c) {
        const double output = drawn.out.get(b, h, query, c);
        const double lse = drawn.lse.get(b, h, query, 0);
        if (has_keys(b, query)) {
          EXPECT_TRUE(output != 0 && std::isfinite(output) && std::isfinite(lse));
        } else {
          EXPECT_TRUE(output == 0 && !std::signbit(output) && lse == -kInfinity);
        }
      });
    }
  });
}

TEST(EveryKernel, RejectsTheFirstRowWithoutVisibleKeysAndWritesNothing) {
  const std::vector<std::pair<std::string, RowIndex>> problems{
      {"2x2:4x{2,0}:3 f32 mask=causal:br", {0, 0, 0}},
      {"3x2:2x{2,0,1}:3 f32", {1, 0, 0}},
      {"2x2:4x3:1 f32 mask=bits:111/100/000/000", {0, 0, 2}},
      {"2x1:3x{4,1}:1 f64 mask=causal:br", {1, 0, 0}},
      {"1x1:2x0:1 f64", {0, 0, 0}}};
  for_each_kernel([&](const Kernel& kernel) {
    for (const auto& [line, row] : problems) {
      SCOPED_TRACE(line);
      Case drawn = random_case(line + " lse=ln empty=reject");
      if (!supports(kernel, drawn.problem)) continue;
      const Status status = drawn.forward(kernel);
      EXPECT_EQ(status.code(), StatusCode::all_masked_row);
      EXPECT_EQ(status.row(), row);
      EXPECT_TRUE(is_untouched(drawn.out) && is_untouched(drawn.lse));
    }
  });
}

TEST(EveryKernel, RejectsNothingWhereEveryRowSeesAKey) {
  for_each_kernel([](const Kernel& kernel) {
    Case zero = random_case("2x2:3x{4,3}:2 f32 lse=ln mask=causal:br");
    Case reject = random_case("2x2:3x{4,3}:2 f32 lse=ln mask=causal:br empty=reject");
    zero.run(kernel);
    reject.run(kernel);
    EXPECT_EQ(reject.out.bytes(), zero.out.bytes());
    EXPECT_EQ(reject.lse.bytes(), zero.lse.bytes());
    Case none = random_case("1x1:0x0:2 f32 lse=ln empty=reject");  // no row at all
    none.run(kernel);
  });
}

TEST(EveryKernel, AcceptsProblemsWithoutRows) {
  for_each_kernel_and_dtype([](const Kernel& kernel, const std::string& dtype) {
    for (const char* shape : {"0x2:3x4:2 ", "2x2:0x4:2 ", "2x1:0x0:2 "}) {
      Case none = random_case(shape + dtype + " lse=ln");
      none.run(kernel);
      EXPECT_TRUE(none.out.bytes().empty());
      ForwardViews views = none.views();
      views.q.data = views.out.data = views.lse.data = nullptr;
      EXPECT_TRUE(kernel.forward(none.problem, none.tiling, views).ok()) << shape;
    }
  });
}

TEST(EveryKernel, GivesZerosWhereThereAreNoKeys) {
  for_each_kernel_and_dtype([](const Kernel& kernel, const std::string& dtype) {
    Case none = random_case("2x2:3x0:2 " + dtype + " lse=ln split=3");
    ForwardViews views = none.views();
    views.k.data = views.v.data = nullptr;
    EXPECT_TRUE(kernel.forward(none.problem, none.tiling, views).ok());
    EXPECT_EQ(values_of(none.out), std::vector<double>(24, 0.0));
    EXPECT_EQ(values_of(none.lse), std::vector<double>(12, -kInfinity));
  });
}

}  // namespace
}  // namespace attest::kernels
