// What a probe says of kernels whose conventions are known: it names what is unusual, and says
// nothing that is wrong of anything else.
#include "probe/probe.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "attest/problem_text.hpp"
#include "kernels/registry.hpp"
#include "mutants/correct_kernels.hpp"
#include "mutants/mutants.hpp"
#include "probe/test_findings.hpp"
#include "probe/test_variants.hpp"

namespace attest::probe {
namespace {

using testing::HasSubstr;

/// What has to be told of a correct kernel, where it can be called so.
const Values kAlwaysTold{"lse base",          "empty row, out",          "empty row, lse",
                         "scale, 0.75 asked", "excluded k = NaN or inf", "stale rows"};

void expect_usual(const Kernel& kernel) {
  SCOPED_TRACE(kernel.description().name);
  const Findings said = probe_kernel(kernel);
  Truths truths = usual();
  add_arithmetic(kernel, truths);
  expect_nothing_wrong(said, truths);
  for (const std::string& name : kAlwaysTold) {
    const Finding* const one = find(said, name);
    ASSERT_NE(one, nullptr) << name;
    EXPECT_EQ(one->sureness, Sureness::certain) << name << ": " << one->reason;
  }
}

TEST(Probe, SaysNothingWrongOfBuiltInKernels) {
  for (const auto& kernel : kernels::builtin_kernels()) expect_usual(*kernel);
}

TEST(Probe, TellsTheArithmeticOfBuiltInKernels) {
  const auto told = [](const char* kernel, const char* name) {
    const Findings said = probe_kernel(*kernels::find_builtin(kernel));
    const Finding* const one = find(said, name);
    return one == nullptr ? "" : one->value;
  };
  const char* const weights = "weights before they multiply v";
  EXPECT_EQ(told("builtin:flash_bf16p", weights), "rounded to bf16, row_sum adds them unrounded");
  EXPECT_EQ(told("builtin:flash_bf16p_sum", weights), "rounded to bf16, row_sum adds them rounded");
  // Their roundings are too fine for the sum to be told within the margin.
  EXPECT_EQ(told("builtin:flash_f16p", weights), "rounded to f16");
  EXPECT_EQ(told("builtin:flash_e4m3p", weights),
            "rounded to e4m3 after a factor of 2^8, row_sum adds them unrounded");
  EXPECT_EQ(told("builtin:flash_e5m2p", weights),
            "rounded to e5m2 after a factor of 2^8, row_sum adds them unrounded");
  EXPECT_EQ(told("builtin:flash_lazy", "lag of the maximum"), "between 7.75 and 8.25 log2 units");
  EXPECT_EQ(told("builtin:flash_bf16out", "output"), "rounded to bf16");
  EXPECT_EQ(told("builtin:scalar_sequential", "kv tile"), "as the call asks");
  EXPECT_EQ(told("builtin:flash_e4m3p", "kv tile"), "as the call asks");
  EXPECT_EQ(told("builtin:textbook", "kv tile"), kNoStep);
}

TEST(Probe, SaysNothingWrongOfUnusualCorrectKernels) {
  for (const auto& kernel : mutants::correct_kernels()) {
    SCOPED_TRACE(kernel->description().name);
    Truths truths = usual();
    const Findings said = probe_kernel(*kernel);
    // Their arithmetic is unusual, and looked at elsewhere.
    Findings of_conventions = said;
    std::erase_if(of_conventions.findings,
                  [&](const Finding& one) { return known(truths, one.name) == nullptr; });
    EXPECT_GE(of_conventions.findings.size(), 12U);
    // Of the kernel that rounds v to 8 bits not more can be told.
    const bool rounds_v = kernel->description().name.ends_with("value_relative_error");
    EXPECT_GE(
        std::count_if(of_conventions.findings.begin(), of_conventions.findings.end(),
                      [](const Finding& one) { return one.sureness != Sureness::cannot_tell; }),
        rounds_v ? 8 : 12);
    expect_nothing_wrong(of_conventions, truths);
  }
}

TEST(Probe, NamesOrdersOfSums) {
  EXPECT_EQ(told(SumsInOrder(in_pairs), "order of the sums"), "in pairs of neighbours");
  EXPECT_EQ(told(SumsInOrder(from_the_last), "order of the sums"),
            "one key after the other, last to first");
  EXPECT_EQ(told(SumsInOrder(in_four_lanes), "order of the sums"),
            "4 lanes of keys 4 apart, added by halves");
  EXPECT_EQ(told(SumsInOrder(in_double), "sums over keys"), "53 bits (f64)");
}

TEST(Probe, NamesConventionsThatNoMutantHas) {
  EXPECT_EQ(told(*changes(softcap_before_scale, {Feature::softcap}), "softcap"),
            "before the scale");
  EXPECT_EQ(told(*changes(plain_relative_alibi, {Feature::alibi}), "alibi=col:br"),
            "-slope (p - j), p from bottom-right");
  EXPECT_EQ(told(*changes(bottom_right_always, {}), "causal, top-left asked"), "bottom-right");
  EXPECT_EQ(told(*changes(no_prefix, {Feature::prefix}), "prefix"), "left out");
  EXPECT_EQ(told(*changes(chunk_without_causal, {Feature::chunk}), "chunk in a causal mask"),
            "the whole chunk, no causal part");
  EXPECT_EQ(told(*changes(chunk_one_longer, {Feature::chunk}), "chunk"), "one key more");
  EXPECT_EQ(told(*changes(no_segments, {Feature::segments}), "segments"), "left out");
  EXPECT_EQ(told(*changes(earlier_segments, {Feature::segments}), "segments"),
            "k_segment <= q_segment");
  EXPECT_EQ(told(*changes(next_table, {Feature::paged}), "paged cache"),
            "table of the next member");
}

TEST(Probe, NamesWhatBecomesOfFurtherInputs) {
  const auto fp8 = [](void (*change)(Problem&)) {
    KernelDescription description =
        mutants::describe_with("test", "of a test", {Feature::descales, Feature::out_dtype});
    description.capabilities.dtypes = {Dtype::f32, Dtype::e4m3};
    return told(mutants::ChangesTheProblem(std::move(description), change), "descales");
  };
  EXPECT_EQ(fp8(head_major_descales), "one a (batch, kv head) pair, head-major");
  EXPECT_EQ(fp8(no_descale_of_k), "of k left out");
  EXPECT_EQ(fp8(no_descale_of_v), "of v left out");
  EXPECT_EQ(told(*calls(no_qv, {Feature::qv}), "qv, no scale asked"), "left out");
  EXPECT_EQ(told(*calls(qv_after_the_scale, {Feature::qv}), "qv, scale 0.5 asked"),
            "added after the scale");
}

TEST(Probe, NamesWherePackedRowsAreLookedFor) {
  const std::vector<Feature> features{Feature::packed_rows, Feature::query_lengths};
  EXPECT_EQ(told(*calls(keys_of_the_first_member, features), "packed rows"),
            "k and v from the first row of all");
  EXPECT_EQ(told(*calls(keys_where_queries_begin, features), "packed rows"),
            "k and v from where the queries of the member begin");
}

TEST(Probe, SaysOnceThatThereIsNoBackwardPass) {
  const Findings said = probe_kernel(*kernels::find_builtin("builtin:flash_lazy"));
  const Finding* const gradients = find(said, "gradients");
  ASSERT_NE(gradients, nullptr);
  EXPECT_TRUE(gradients->not_declared);
  EXPECT_EQ(find(said, "dq, scale"), nullptr);
}

TEST(Probe, SuggestsAProblemInTheConventionsOfTheKernel) {
  const Findings said =
      probe_kernel(*mutants::find("mutant:top_left_instead_of_bottom_right")->kernel);
  EXPECT_THAT(said.suggested, HasSubstr("mask=causal:tl"));
  EXPECT_THAT(said.suggested, HasSubstr("lse=ln"));
  ProblemText text;
  TextError error;
  EXPECT_TRUE(parse_problem_text(said.suggested, text, error)) << error.message;
  EXPECT_THAT(probe_kernel(*mutants::find("mutant:lse_in_base_two")->kernel).suggested,
              HasSubstr("lse=log2"));
}

TEST(Probe, ExperimentsAreLinesThatCanBeReplayed) {
  const Findings said = probe_kernel(*kernels::find_builtin("builtin:scalar_tree"));
  Index lines = 0;
  for (const Finding& one : said.findings)
    for (const std::string& line : one.experiments) {
      ProblemText text;
      TextError error;
      EXPECT_TRUE(parse_problem_text(line, text, error)) << one.name << ": " << error.message;
      ++lines;
    }
  EXPECT_GT(lines, 60);
}

TEST(Probe, TakesAnErrorForAnAnswerOfThatExperimentAlone) {
  for (const bool throws : {false, true}) {
    const Findings said = probe_kernel(Fails(throws));
    const Finding* const causal = find(said, "causal, bottom-right asked");
    ASSERT_NE(causal, nullptr);
    EXPECT_EQ(causal->sureness, Sureness::cannot_tell);
    EXPECT_FALSE(causal->not_declared);
    EXPECT_THAT(causal->reason, HasSubstr(throws ? "out of luck" : "exit code 139"));
    EXPECT_EQ(find(said, "lse base")->value, "e");
  }
}

TEST(Probe, SaysThatNoCallSucceeds) {
  const Findings said = probe_kernel(TakesNothing());
  ASSERT_EQ(said.findings.size(), 1U);
  EXPECT_EQ(said.findings.front().sureness, Sureness::cannot_tell);
  EXPECT_EQ(said.findings.front().reason, "no device");
  EXPECT_EQ(said.suggested, "");
}

TEST(Probe, SaysWhatIsNotDeclared) {
  const Findings said = probe_kernel(*kernels::find_builtin("builtin:eigen_materialised"));
  const Finding* const softcap = find(said, "softcap");
  ASSERT_NE(softcap, nullptr);
  EXPECT_TRUE(softcap->not_declared);
  EXPECT_EQ(softcap->value, "");
}

}  // namespace
}  // namespace attest::probe
