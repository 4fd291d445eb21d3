// fuzz_merge holds a kernel against the oracle, and not only against other cuts of itself: a merge
// that is wrong alike for every cut is seen.
#include <gtest/gtest.h>

#include <string>

#include "cli/inputs.hpp"
#include "fuzz/law_target.hpp"
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
  const Result<const Kernel*> mutant = cli::find_kernel("mutant:" + GetParam());
  ASSERT_TRUE(mutant.ok()) << mutant.status().message();
  EXPECT_GT(found_by_the_oracle(*mutant.value()), 0);
}

INSTANTIATE_TEST_SUITE_P(Mutants, WrongMerge,
                         testing::Values("lse_in_base_two", "lse_is_row_max",
                                         "averages_tile_outputs", "forgets_rescale_in_merge"),
                         [](const auto& name) { return name.param; });

TEST(RightMerge, IsNot) {
  for (const char* const name : {"builtin:scalar_tree", "builtin:flash_bf16p"})
    EXPECT_EQ(found_by_the_oracle(*cli::find_kernel(name).value()), 0) << name;
}

}  // namespace
}  // namespace attest::fuzz
