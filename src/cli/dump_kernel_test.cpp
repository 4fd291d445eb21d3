// A dump answers the call that it holds, and no other one.
#include "cli/dump_kernel.hpp"

#include <gtest/gtest.h>

#include "kernels/registry.hpp"
#include "properties/run_kernel.hpp"
#include "properties/test_case_of.hpp"

namespace attest::cli {
namespace {

using properties::Case;

const Kernel& dumped_kernel() {
  return *kernels::find_builtin("builtin:textbook");
}

/// The same case but for one number of a tensor, which is half as large.
Case with_one_other_number(Case of, const properties::CaseTensor& part) {
  Tensor& tensor = of.*part.tensor;
  tensor.set(0, 0, 0, 0, tensor.get(0, 0, 0, 0) / 2);
  return of;
}

TEST(DumpKernel, AForwardCallWithOneOtherNumberIsUnknown) {
  Dump dump;
  dump.value = properties::case_of("1x2:3x4:2 f32 bias=bh2d sink=head qv=yes lse=ln vals=normal:3");
  dump.outputs = properties::run_kernel(dumped_kernel(), dump.value);
  DumpKernel kernel("dump:it", dump, usual_accuracy(dump.value.problem));
  kernel.knows(dump.value, dump.outputs);
  const properties::Outputs same = properties::run_kernel(kernel, dump.value);
  EXPECT_TRUE(same.status.ok()) << same.status.message();
  EXPECT_EQ(same.out.bytes(), dump.outputs.out.bytes());

  Index changed = 0;
  for (const properties::CaseTensor& part : properties::case_tensors()) {
    if (part.extents(dump.value.problem) == Extents{}) continue;
    SCOPED_TRACE(part.name);
    ++changed;
    const Case other = with_one_other_number(dump.value, part);
    EXPECT_EQ(properties::run_kernel(kernel, other).status.code(), StatusCode::unsupported);
  }
  EXPECT_EQ(changed, 6);  // q k v bias sink qv
}

TEST(DumpKernel, ABackwardCallWithOneOtherNumberIsUnknown) {
  Dump dump;
  dump.value = properties::case_of(
      "1x2:3x4:2 f32 bias=bh2d sink=head lse=ln bwd=dq,dk,dv,dbias,dsink,dlse vals=normal:3");
  dump.gradients = properties::run_backward(dumped_kernel(), dump.value);
  dump.outputs = dump.gradients.forward;
  DumpKernel kernel("dump:it", dump, usual_accuracy(dump.value.problem));
  kernel.knows(dump.value, dump.outputs);
  const auto gradients = [&](const Case& of) {
    return properties::run_backward(kernel, of, dump.gradients.forward);
  };
  EXPECT_EQ(gradients(dump.value).dq.bytes(), dump.gradients.dq.bytes());

  Index changed = 0;
  for (const properties::CaseTensor& part : properties::case_tensors()) {
    if (part.extents(dump.value.problem) == Extents{}) continue;
    SCOPED_TRACE(part.name);
    ++changed;
    EXPECT_EQ(gradients(with_one_other_number(dump.value, part)).status.code(),
              StatusCode::unsupported);
  }
  EXPECT_EQ(changed, 7);  // q k v bias sink dout dlse
}

}  // namespace
}  // namespace attest::cli
