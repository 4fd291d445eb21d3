// What every kernel writes and reads, through any strides.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

#include "kernels/test_cases.hpp"

namespace attest::kernels {
namespace {

TEST(EveryKernel, WritesNoLseUnlessAskedAndTheSameOutputEitherWay) {
  for_each_kernel_and_dtype([](const Kernel& kernel, const std::string& dtype) {
    const std::string line = "2x2:4x{3,0}:3/2 " + dtype + " mask=causal:br";
    Case without = random_case(line);
    without.run(kernel);  // with a null lse
    Case with = random_case(line + " lse=ln");
    with.run(kernel);
    EXPECT_EQ(without.out.bytes(), with.out.bytes());
    without.clear();
    ForwardViews views = without.views();
    views.lse = without.lse.ref();
    EXPECT_TRUE(kernel.forward(without.problem, without.tiling, views).ok());
    EXPECT_TRUE(is_untouched(without.lse));
    EXPECT_EQ(without.out.bytes(), with.out.bytes());
  });
}

/// A copy with other strides: columns outermost, `gap` elements apart.
Tensor scattered(const Tensor& from, Index gap) {
  const Extents& extents = from.extents();
  const Strides strides{gap, gap * extents[0], gap * extents[0] * extents[1],
                        gap * extents[0] * extents[1] * extents[2]};
  Tensor to(from.dtype(), extents, strides, strides[3] * extents[3]);
  for_each_index(extents, [&](Index b, Index h, Index row, Index column) {
    to.set(b, h, row, column, from.get(b, h, row, column));
  });
  return to;
}

/// A view of the same elements from last to first: all strides are negative.
template <class View>
View reversed(View view) {
  Index last = 0;
  for (std::size_t axis = 0; axis < 4; ++axis) {
    last += (view.extents[axis] - 1) * view.strides[axis];
    view.strides[axis] = -view.strides[axis];
  }
  const auto bytes = last * static_cast<Index>(size_of(view.dtype));
  using Byte = std::conditional_t<std::is_same_v<View, TensorRef>, std::byte, const std::byte>;
  view.data = static_cast<Byte*>(view.data) + bytes;
  return view;
}

void reverse(Tensor& tensor) {
  std::vector<double> values = values_of(tensor);
  Case::fill(tensor, [&] {
    const double value = values.back();
    values.pop_back();
    return value;
  });
}

TEST(EveryKernel, GivesTheSameBitsForAnyStrides) {
  for_each_kernel_and_dtype([](const Kernel& kernel, const std::string& dtype) {
    Case dense =
        random_case("2x4/2:3x5:3/2 " + dtype + " lse=ln mask=causal:br+bits:11011 tile=2 split=2");
    Case strided = dense;
    dense.run(kernel);
    for (Tensor* tensor : {&strided.q, &strided.k, &strided.v, &strided.out, &strided.lse})
      *tensor = scattered(*tensor, 3);
    const std::vector<std::byte> before = strided.out.bytes();
    strided.run(kernel);
    EXPECT_EQ(values_of(strided.out), values_of(dense.out));
    EXPECT_EQ(values_of(strided.lse), values_of(dense.lse));
    // Only the elements were written, and not the gaps between them.
    strided.clear();
    EXPECT_EQ(strided.out.bytes(), before);
  });
}

TEST(EveryKernel, GivesTheSameBitsForNegativeStrides) {
  for_each_kernel_and_dtype([](const Kernel& kernel, const std::string& dtype) {
    Case forward = random_case("2x4/2:3x5:3/2 " + dtype + " lse=ln tile=2 split=2");
    Case backward = forward;
    forward.run(kernel);
    for (Tensor* tensor : {&backward.q, &backward.k, &backward.v}) reverse(*tensor);
    const ForwardViews views = backward.views();
    const Status status = kernel.forward(backward.problem, backward.tiling,
                                         {reversed(views.q), reversed(views.k), reversed(views.v),
                                          reversed(views.out), reversed(views.lse)});
    EXPECT_TRUE(status.ok()) << status.message();
    for (Tensor* tensor : {&backward.out, &backward.lse}) reverse(*tensor);
    EXPECT_EQ(values_of(backward.out), values_of(forward.out));
    EXPECT_EQ(values_of(backward.lse), values_of(forward.lse));
  });
}

TEST(EveryKernel, ReadsOneElementManyTimesThroughStridesOfZero) {
  for_each_kernel_and_dtype([](const Kernel& kernel, const std::string& dtype) {
    Case dense = random_case("2x2:2x4:3/2 " + dtype + " lse=ln");
    for (Tensor* tensor : {&dense.k, &dense.q}) Case::fill(*tensor, [] { return 0.75; });
    Case broadcast = dense;
    dense.run(kernel);
    ForwardViews views = broadcast.views();
    views.q.strides = views.k.strides = {0, 0, 0, 0};
    EXPECT_TRUE(kernel.forward(broadcast.problem, broadcast.tiling, views).ok());
    EXPECT_EQ(broadcast.out.bytes(), dense.out.bytes());
    EXPECT_EQ(broadcast.lse.bytes(), dense.lse.bytes());
  });
}

}  // namespace
}  // namespace attest::kernels
