// Kernels that declare little: a law that has nothing to say about them is skipped, and one that
// has meets cases that can fail.
#include <gtest/gtest.h>

#include <string>

#include "kernels/registry.hpp"
#include "mutants/mutants.hpp"
#include "properties/check.hpp"
#include "properties/hard_cases.hpp"
#include "properties/test_case_of.hpp"

namespace attest::properties {
namespace {

/// Another kernel that takes dense f32 rows and a diagonal, nothing else.
class DeclaresLittle : public Kernel {
 public:
  DeclaresLittle(const Kernel& inner, bool lse) : inner_(inner), description_(inner.description()) {
    description_.name = "test:declares_little";
    Capabilities& can = description_.capabilities;
    can = {};
    can.dtypes = {Dtype::f32};
    can.lse = lse;
    can.tiles = can.kv_splits = can.grouped_heads = can.key_lengths = can.mask_bits = can.reject =
        false;
  }

  const KernelDescription& description() const override { return description_; }
  DeclaredAccuracy accuracy(const Problem& problem) const override {
    return inner_.accuracy(problem);
  }
  Status forward(const Problem& problem, const Tiling& tiling,
                 const ForwardViews& views) const override {
    const Status status = check_call(description_.capabilities, problem, tiling, views);
    return status.ok() ? inner_.forward(problem, tiling, views) : status;
  }

 private:
  const Kernel& inner_;
  KernelDescription description_;
};

struct Counts {
  Index checked = 0;
  Index undecided = 0;
  Index failed = 0;
};

/// What `attest check --tier smoke --only LAW` counts, without what is stored for some law alone.
Counts smoke(const Kernel& kernel, const Law& law) {
  CheckPlan plan;
  plan.laws = {&law};
  plan.drawn_cases = 20;
  plan.seed = 0x5EED1A77;
  plan.limits = limits_for(kernel, nullptr);
  for (const std::string_view line : hard_case_lines())
    if (line.find(" law=") == std::string_view::npos)
      plan.given.push_back({case_of(std::string(line)), {}});
  Counts counts;
  run_check(kernel, plan, [&](CheckedCase&& checked) {
    const Outcome outcome = checked.verdict.outcome;
    counts.checked += outcome == Outcome::skipped ? 0 : 1;
    counts.undecided += outcome == Outcome::weak || outcome == Outcome::unproven ? 1 : 0;
    counts.failed += is_violation(outcome) ? 1 : 0;
    return AfterCase::next;
  });
  return counts;
}

TEST(FewFeatures, NoLawIsLeftWithCasesThatCouldNotFail) {
  for (const bool lse : {true, false}) {
    const DeclaresLittle kernel(*kernels::find_builtin("builtin:textbook"), lse);
    for (const Law& law : laws()) {
      const Counts counts = smoke(kernel, law);
      EXPECT_EQ(counts.failed, 0) << law.name;
      EXPECT_LE(5 * counts.undecided, counts.checked) << law.name << (lse ? " with lse" : "");
    }
  }
}

TEST(FewFeatures, ADiagonalIsHeldAgainstItsPrefixWithoutBits) {
  const Law& law = *find_law("mask.causal_prefix");
  const DeclaresLittle right(*kernels::find_builtin("builtin:textbook"), true);
  EXPECT_GE(smoke(right, law).checked, 10);
  const DeclaresLittle wrong(*mutants::find("mutant:causal_one_too_many")->kernel, true);
  EXPECT_GT(smoke(wrong, law).failed, 0);
}

}  // namespace
}  // namespace attest::properties
