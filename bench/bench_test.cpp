// What the tables of the benchmark rest on: how much work a workload is, and who gets a row.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>

#include "attest/kernel.hpp"
#include "bench/session.hpp"
#include "bench/workload.hpp"
#include "kernels/registry.hpp"

namespace attest::bench {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

Workload named(Sizes sizes, const std::string& name) {
  for (Workload& each : workloads(sizes, std::regex("")))
    if (each.name == name) return each;
  ADD_FAILURE() << "no workload " << name;
  return {};
}

TEST(Workloads, CountUsefulWorkOnly) {
  EXPECT_EQ(work_of(named(Sizes::full, "d64/T1024")), 4.0 * 8 * 1024 * 1024 * 64);
  EXPECT_EQ(work_of(named(Sizes::full, "d64/T1024/causal")), 2.0 * 8 * 1024 * 1024 * 64);
  EXPECT_EQ(work_of(named(Sizes::full, "backward/d64/T1024")), 10.0 * 8 * 1024 * 1024 * 64);
  EXPECT_EQ(work_of(named(Sizes::full, "decode/d128/T8192")), 64.0 * (1 << 20));
  EXPECT_EQ(work_of(named(Sizes::full, "decode/d128/T65536")), 512.0 * (1 << 20));
}

TEST(Workloads, HaveNamesOfTheirOwnAndValidProblems) {
  for (const Sizes sizes : {Sizes::tiny, Sizes::quick, Sizes::long_run}) {
    std::set<std::string> names;
    for (const Workload& workload : workloads(sizes, std::regex(""))) {
      EXPECT_TRUE(names.insert(workload.name).second) << workload.name;
      EXPECT_TRUE(validate(workload.problem).ok()) << workload.name;
      EXPECT_TRUE(validate(small_like(workload).problem).ok()) << workload.name;
    }
  }
}

TEST(Workloads, TheBlockMaskLeavesATenthOfTheBlocks) {
  const Workload workload = named(Sizes::full, "blocks10/d64/T4096");
  const std::vector<bool> blocks = workload.problem.mask.blocks.value_or(BlockMask{}).visible;
  ASSERT_EQ(blocks.size(), 32U * 32U);
  EXPECT_EQ(std::count(blocks.begin(), blocks.end(), true),
            static_cast<std::ptrdiff_t>(blocks.size() / 10));
  EXPECT_TRUE(without_mask(workload).problem.mask.none());
}

TEST(Measure, QuartilesInterpolate) {
  const Quartiles of = quartiles({4, 1, 3, 2});
  EXPECT_EQ(of.low, 1.75);
  EXPECT_EQ(of.median, 2.5);
  EXPECT_EQ(of.high, 3.25);
  EXPECT_EQ(of.least, 1);
}

/// A kernel whose output gets a term added that it does not declare.
class Shifted : public Kernel {
 public:
  explicit Shifted(double by) : by_(by) {}
  const KernelDescription& description() const override { return of_.description(); }
  DeclaredAccuracy accuracy(const Problem& problem) const override { return of_.accuracy(problem); }
  Status forward(const Problem& problem, const Tiling& tiling,
                 const ForwardViews& views) const override {
    Status status = of_.forward(problem, tiling, views);
    float& last = views.out.as<float>()(0, problem.heads_q - 1, problem.seq_q - 1, 0);
    last = static_cast<float>(last + by_);
    return status;
  }

 private:
  const Kernel& of_ = *kernels::find_builtin("builtin:textbook");
  double by_;
};

class Session : public testing::Test {
 protected:
  static WorkloadTable run(const Kernel& kernel, const std::string& workload) {
    // A call may take twenty times as long, which a build that counts lines does need.
    const SessionOptions options{{0.1, 2}, /*memory=*/false, {}};
    return run_workload(named(Sizes::tiny, workload), {{&kernel}, {}}, options);
  }
  static std::vector<std::string> competitors_of(const WorkloadTable& table) {
    std::vector<std::string> names(table.rows.size());
    std::transform(table.rows.begin(), table.rows.end(), names.begin(),
                   [](const Row& row) { return row.competitor; });
    return names;
  }
};

TEST_F(Session, AKernelWithinItsBoundGetsARowWithShareAndError) {
  const WorkloadTable table = run(Shifted(0), "d64/T80");
  ASSERT_THAT(competitors_of(table), Contains("builtin:textbook"))
      << testing::PrintToString(table.notes);
  const Row& row = table.rows.back();
  EXPECT_GT(row.rate.median, 0);
  EXPECT_TRUE(row.share_of_limit);
  EXPECT_GT(row.worst.value_or(0), 0);
  EXPECT_LE(row.worst.value_or(2), 1);
  EXPECT_FALSE(table.violated);
}

TEST_F(Session, AWrongKernelGetsNoRow) {
  for (const double by :
       {0.5, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    const WorkloadTable table = run(Shifted(by), "d64/T80/causal");
    EXPECT_THAT(competitors_of(table), Not(Contains("builtin:textbook"))) << by;
    EXPECT_THAT(table.notes, Contains(HasSubstr("builtin:textbook: no row"))) << by;
    EXPECT_TRUE(table.violated) << by;
  }
}

TEST_F(Session, AKernelThatDoesNotOfferAWorkloadIsNamed) {
  const WorkloadTable table =
      run(*kernels::find_builtin("builtin:eigen_materialised"), "bf16/d64/T70");
  EXPECT_THAT(competitors_of(table), Not(Contains("builtin:eigen_materialised")));
  EXPECT_THAT(table.notes, Contains(HasSubstr("builtin:eigen_materialised")));
  EXPECT_FALSE(table.violated);
}

TEST(Competitors, KernelsAreFoundByNameOrByItsPartBeforeASlash) {
  const auto one = kernels_named({"builtin:textbook"});
  ASSERT_TRUE(one.ok());
  EXPECT_EQ(one.value().size(), 1U);
  EXPECT_FALSE(kernels_named({"builtin:text"}).ok());
}

}  // namespace
}  // namespace attest::bench
