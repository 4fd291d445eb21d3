// Shared objects as kernels: what opens, what is refused in one line, and what becomes of codes.
#include "foreign/plugin.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include "attest/tensor.hpp"
#include "attest/threads.hpp"
#include "foreign/loaded_kernels.hpp"

namespace attest::foreign {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string kPlugin = ATTEST_TEST_PLUGIN;

std::unique_ptr<Kernel> opened(const std::string& symbol = "") {
  auto kernel = open_plugin(symbol.empty() ? kPlugin : kPlugin + ":" + symbol);
  EXPECT_TRUE(kernel.ok()) << kernel.status().message();
  return kernel.ok() ? std::move(kernel).value() : nullptr;
}

void expect_refused(const std::string& name, StatusCode code, const std::string& part) {
  const auto kernel = open_plugin(name);
  ASSERT_FALSE(kernel.ok()) << name;
  EXPECT_EQ(kernel.status().code(), code) << kernel.status().message();
  EXPECT_THAT(kernel.status().message(), AllOf(HasSubstr(part), Not(HasSubstr("\n"))));
}

struct Ran {
  Status status;
  float first = 0;
};

/// One row of one key; head_dim says what the plug-in does.
Ran run(const Kernel& kernel, Index head_dim, AllMaskedPolicy policy = AllMaskedPolicy::zero) {
  Problem problem;
  problem.seq_q = 2;
  problem.head_dim = head_dim;
  problem.all_masked = policy;
  const Tensor q(Dtype::f32, problem.q_extents());
  const Tensor k(Dtype::f32, problem.k_extents());
  const Tensor v(Dtype::f32, problem.v_extents());
  Tensor out(Dtype::f32, problem.out_extents());
  ForwardViews views;
  views.q = q.ref();
  views.k = k.ref();
  views.v = v.ref();
  views.out = out.ref();
  Tiling tiling;
  tiling.splits.count = 3;
  Status status = kernel.forward(problem, tiling, views);
  return {std::move(status), static_cast<float>(out.get(0, 0, 0, 0))};
}

TEST(Plugin, NamesAreToldFromOtherKernels) {
  for (const char* name :
       {"./libmine.so", "libmine.so", "libmine.so:other", "/a/b:other", "a/b", "./libmine.so.1:x"})
    EXPECT_TRUE(names_plugin(name)) << name;
  for (const char* name : {"builtin:simd/AVX2", "mutant:scalar/x", "textbook", "pipe:./a.so.py"})
    EXPECT_FALSE(names_plugin(name)) << name;
}

TEST(Plugin, OpensWithTheUsualSymbolAndItsNameIsWhatWasGiven) {
  const auto kernel = opened();
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(kernel->description().name, kPlugin);
  EXPECT_EQ(kernel->description().summary, "by_head_dim");
  EXPECT_EQ(kernel->description().capabilities.dtypes, std::vector{Dtype::f32});
  EXPECT_TRUE(kernel->description().capabilities.reject);
  EXPECT_FALSE(kernel->description().capabilities.mask_bits);
  EXPECT_EQ(kernel->summary_ops_f32(), nullptr);
}

TEST(Plugin, RefusesWhatIsNoPluginInOneLine) {
  expect_refused("./does-not-exist.so", StatusCode::io_error, "no such file");
  expect_refused(std::filesystem::temp_directory_path().string() + "/", StatusCode::io_error,
                 "no such file");
  const std::string text = testing::TempDir() + "attest-no-library.so";
  std::ofstream(text) << "not a library\n";
  expect_refused(text, StatusCode::io_error, "attest-no-library.so");
  std::filesystem::remove(text);
  expect_refused(kPlugin + ":absent", StatusCode::io_error, "no symbol 'absent'");
  expect_refused(kPlugin + ":", StatusCode::io_error, "no symbol ''");
}

TEST(Plugin, RefusesWhatAPluginSaysWronglyInOneLine) {
  const auto refused = [](const std::string& symbol, const std::string& part,
                          StatusCode code = StatusCode::invalid_argument) {
    expect_refused(kPlugin + ":" + symbol, code, part);
  };
  refused("no_table", "table of functions is a null pointer");
  refused("table_that_throws", "threw an exception", StatusCode::io_error);
  refused("later_version", "has version 7");
  refused("no_description", "description is a null pointer");
  refused("description_that_throws", "threw an exception");
  refused("backward_is_missing", "ATTEST_HAS_BACKWARD without");
}

TEST(Plugin, AnOlderTableWorksAndWhatItDoesNotHaveIsAbsent) {
  const auto kernel = opened("older_table");
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(run(*kernel, 1).first, 3);  // set_threads was not called, which would crash
}

TEST(Plugin, ACallHasTheTiling) {
  const auto kernel = opened();
  const Ran ran = run(*kernel, 1);
  EXPECT_TRUE(ran.status.ok()) << ran.status.message();
  EXPECT_EQ(ran.first, 3);
}

TEST(Plugin, CodesBecomeStatuses) {
  const auto kernel = opened();
  const auto expect = [&](Index head_dim, StatusCode code, const std::string& part,
                          AllMaskedPolicy policy = AllMaskedPolicy::zero) {
    const Status status = run(*kernel, head_dim, policy).status;
    EXPECT_EQ(status.code(), code) << head_dim;
    EXPECT_THAT(status.message(), AllOf(HasSubstr(part), Not(HasSubstr("\n")))) << head_dim;
    EXPECT_LT(status.message().size(), 500U);
    return status.row();
  };
  expect(2, StatusCode::unsupported, "not this one");
  expect(3, StatusCode::kernel_failed, "line one line two ? end");
  expect(4, StatusCode::kernel_failed, "returned 99");
  expect(5, StatusCode::kernel_failed, "thrown on purpose");
  expect(6, StatusCode::kernel_failed, "threw an exception");
  expect(7, StatusCode::kernel_failed, "does not allow");
  EXPECT_EQ(expect(7, StatusCode::all_masked_row, "query 1", AllMaskedPolicy::reject),
            (RowIndex{0, 0, 1}));
  expect(8, StatusCode::kernel_failed, "does not exist", AllMaskedPolicy::reject);
  expect(9, StatusCode::kernel_failed, "xxx");
  expect(11, StatusCode::kernel_failed, "does not say why");
}

TEST(Plugin, IsToldTheThreadsOnceForEveryNewCount) {
  const auto kernel = opened();
  const int before = thread_count();
  const float at_first = run(*kernel, 10).first;
  set_thread_count(5);
  run(*kernel, 10);
  const float afterwards = run(*kernel, 10).first;
  set_thread_count(before);
  EXPECT_EQ(afterwards, at_first * 100 + 5);
}

TEST(Plugin, WhatItDoesNotDeclareIsUnsupported) {
  const auto kernel = opened();
  Problem problem;
  problem.mask.causal = Causal{};
  const Tensor one(Dtype::f32, problem.q_extents());
  Tensor out(Dtype::f32, problem.out_extents());
  const ForwardViews views{one.ref(), one.ref(), one.ref(), out.ref(), {}};
  const Status causal = kernel->forward(problem, {}, views);
  EXPECT_EQ(causal.code(), StatusCode::unsupported);
  EXPECT_THAT(causal.message(), HasSubstr("causal"));

  Problem wide;
  wide.head_dim = 2;
  const Tensor apart(Dtype::f32, wide.q_extents(), {4, 4, 4, 2}, 4);
  const ForwardViews strided{apart.ref(), apart.ref(), one.ref(), out.ref(), {}};
  const Status columns = kernel->forward(wide, {}, strided);
  EXPECT_EQ(columns.code(), StatusCode::unsupported);
  EXPECT_THAT(columns.message(), HasSubstr("columns apart"));
}

TEST(Plugin, NonsenseThatItStatesForOneProblemFailsThatCall) {
  const auto kernel = opened("states_nonsense");
  ASSERT_NE(kernel, nullptr);
  const Status status = run(*kernel, 1).status;
  EXPECT_EQ(status.code(), StatusCode::kernel_failed);
  EXPECT_THAT(status.message(), HasSubstr("accuracy.exp_ulp is nan"));
  EXPECT_EQ(run(*kernel, 2).status.code(), StatusCode::unsupported);
  Problem problem;
  EXPECT_EQ(kernel->accuracy(problem).exp_relative_error, 8 * kF32.unit_roundoff);
  problem.head_dim = 2;
  EXPECT_EQ(kernel->accuracy(problem).exp_relative_error, 6 * kF32.unit_roundoff);
}

TEST(Plugin, SummariesAreMergedAndKeysTakenInByThePlugin) {
  const auto kernel = opened("summary_parts");
  ASSERT_NE(kernel, nullptr);
  const SummaryOps<float>* const ops = kernel->summary_ops_f32();
  ASSERT_NE(ops, nullptr);
  RowSummary<float> left = ops->identity(2);
  const std::vector<float> one{1, 2};
  const std::vector<float> two{5, 7};
  ops->absorb(left, 3, one);
  EXPECT_EQ(left.row_max, 3);
  EXPECT_EQ(left.row_sum, 1);
  EXPECT_EQ(left.numerator, one);
  RowSummary<float> right = ops->identity(2);
  ops->absorb(right, 3, two);
  const RowSummary<float> merged = ops->merge(left, right);
  EXPECT_EQ(merged.row_sum, 2);
  EXPECT_EQ(merged.numerator, (std::vector<float>{6, 9}));
  EXPECT_EQ(ops->part_form(), PartForm{});
}

TEST(Plugin, PartsAreJoinedByThePluginInItsOwnForm) {
  const auto kernel = opened("left_part_wins");
  ASSERT_NE(kernel, nullptr);
  const SummaryOps<float>* const ops = kernel->summary_ops_f32();
  ASSERT_NE(ops, nullptr);
  EXPECT_EQ(ops->part_form().empty_lse, std::numeric_limits<double>::infinity());
  const NormalisedRow<float> left{1, {10}};
  const NormalisedRow<float> right{2, {20}};
  EXPECT_EQ(ops->join_parts(left, right).value().output, left.output);
  EXPECT_EQ(ops->merge_normalised(right, left).output, right.output);
  // An empty part goes in as +inf, and comes back as the identity.
  EXPECT_TRUE(ops->merge_normalised(NormalisedRow<float>::identity(1), left).is_identity());

  const NormalisedRow<float> seven{7, {10}};
  EXPECT_EQ(ops->join_parts(seven, right).status().message(), "seven");
  EXPECT_TRUE(std::isnan(ops->merge_normalised(seven, right).output[0]));
  // Summaries stay those of attest: the plug-in has none.
  RowSummary<float> summary = ops->identity(1);
  ops->absorb(summary, 3, left.output);
  EXPECT_EQ(summary.row_max, 3);
}

TEST(Plugin, IsLoadedOnce) {
  const auto first = loaded_kernel(kPlugin);
  ASSERT_TRUE(first.ok()) << first.status().message();
  EXPECT_EQ(loaded_kernel(kPlugin).value(), first.value());
  EXPECT_FALSE(loaded_kernel(kPlugin + ":absent").ok());
}

}  // namespace
}  // namespace attest::foreign
