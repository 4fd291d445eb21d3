// fuzz_merge holds a kernel against the oracle, and not only against other cuts of itself: a merge
// that is wrong alike for every cut is seen.
#include <gtest/gtest.h>

#include <string>

#include "fuzz/law_target.hpp"
#include "kernels/registry.hpp"
#include "mutants/mutants.hpp"
#include "properties/draw.hpp"

namespace attest::fuzz {
namespace {

/// Laws whose limit comes from the oracle.
bool asks_the_oracle(const properties::Law& law) {
  return law.name.starts_with("bound.") || law.name == "merge.summary_bound";
}

/// How many of the first inputs of the target violate such a law.
int found_by_the_oracle(const Kernel& kernel) {
  constexpr std::uint64_t kInputs = 1500;
  const CaseForm form(law_target(), &kernel);
  int found = 0;
  for (std::uint64_t seed = 0; seed < kInputs; ++seed) {
    properties::SeededDraw draw(seed);
    const CaseInput input = form.drawn(draw);
    if (!asks_the_oracle(*input.law)) continue;
    found += is_violation(properties::check_once(kernel, *input.law, input.value).outcome);
  }
  return found;
}

class WrongMerge : public testing::TestWithParam<std::string> {};

TEST_P(WrongMerge, IsSeenAgainstTheOracle) {
  const mutants::Mutant* const mutant = mutants::find("mutant:" + GetParam());
  ASSERT_NE(mutant, nullptr);
  EXPECT_GT(found_by_the_oracle(*mutant->kernel), 0);
}

INSTANTIATE_TEST_SUITE_P(Mutants, WrongMerge,
                         testing::Values("lse_in_base_two", "lse_is_row_max",
                                         "averages_tile_outputs", "forgets_rescale_in_merge"),
                         [](const auto& name) { return name.param; });

TEST(RightMerge, IsNot) {
  for (const char* const name : {"builtin:scalar_tree", "builtin:flash_bf16p"})
    EXPECT_EQ(found_by_the_oracle(*kernels::find_builtin(name)), 0) << name;
}

}  // namespace
}  // namespace attest::fuzz
