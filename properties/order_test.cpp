// Ten thousand random splits, merge orders, tile sizes and orders of keys give the bits of one, for
// every built-in kernel that declares so. The laws of order.* try a few of them on many cases.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "kernels/registry.hpp"
#include "properties/judge.hpp"
#include "properties/order_draws.hpp"
#include "properties/test_case_of.hpp"

namespace attest::properties {
namespace {

constexpr Index kTries = 10000;

std::vector<const Kernel*> declaring(Reproducible at_least) {
  std::vector<const Kernel*> kernels;
  for (const auto& kernel : kernels::builtin_kernels())
    if (kernel->description().capabilities.reproducible >= at_least)
      kernels.push_back(kernel.get());
  return kernels;
}

void expect_same_rows(const Problem& problem, const Outputs& got, const Outputs& want,
                      const std::string& kernel) {
  ASSERT_TRUE(got.status.ok()) << got.status.message();
  Tally tally;
  for_each_row(problem, [&](const RowIndex& row) {
    same_row_bits(tally, row, got, want, "only the order of the work differs");
  });
  EXPECT_EQ(tally.verdict().outcome, Outcome::ok) << kernel << ": " << tally.verdict().reason;
}

TEST(Order, SplitsAtLeavesChangeNoBit) {
  const std::vector<const Kernel*> kernels = declaring(Reproducible::splits);
  ASSERT_FALSE(kernels.empty());
  for (const Kernel* const kernel : kernels) {
    Case on = case_of("1x1:2x1301:3 f32 mask=causal:br lse=ln vals=normal:7");
    const Index leaf = kernel->description().capabilities.leaf;
    const Outputs whole = run_kernel(*kernel, on);
    SplitMix64 random(1);
    for (Index attempt = 0; attempt < kTries && !HasFailure(); ++attempt) {
      on.tiling = random_tiling(random, on.problem.seq_kv, leaf);
      expect_same_rows(on.problem, run_kernel(*kernel, on), whole, kernel->description().name);
    }
  }
}

TEST(Order, NeitherSplitsNorOrdersOfKeysChangeABit) {
  const std::vector<const Kernel*> kernels = declaring(Reproducible::any_order);
  ASSERT_FALSE(kernels.empty());
  for (const Kernel* const kernel : kernels) {
    const Case on = case_of("1x1:2x203:3 f32 lse=ln vals=normal:7");
    const Outputs whole = run_kernel(*kernel, on);
    SplitMix64 random(1);
    for (Index attempt = 0; attempt < kTries && !HasFailure(); ++attempt) {
      Case shuffled = select_keys(on, random_order(random, on.problem.seq_kv));
      shuffled.tiling = random_tiling(random, on.problem.seq_kv, 1);
      expect_same_rows(on.problem, run_kernel(*kernel, shuffled), whole,
                       kernel->description().name);
    }
  }
}

}  // namespace
}  // namespace attest::properties
