// A correct kernel passes every law under every answer for rows without keys.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "properties/check.hpp"
#include "properties/laws.hpp"
#include "test_empty_row_kernel.hpp"

namespace attest::properties {
namespace {

constexpr Index kCases = 100;

/// The policies in turn, and every fourth case with another lse of empty rows.
Case with_policy(Case on, Index number) {
  Problem& problem = on.problem;
  if (problem.backward) return on;
  constexpr std::array policies{AllMaskedPolicy::any, AllMaskedPolicy::mean, AllMaskedPolicy::nan,
                                AllMaskedPolicy::zero};
  problem.all_masked = policies[static_cast<std::size_t>(number) % policies.size()];
  switch (number / 4 % 4) {
    case 0:
      problem.empty_lse.reset();
      break;
    case 1:
      if (problem.lse != LseForm::max_sum) problem.empty_lse = -0x1p15;
      break;
    default:
      break;
  }
  return on;
}

class EveryPolicy : public testing::TestWithParam<std::size_t> {};

TEST_P(EveryPolicy, KeepsACorrectKernelFreeOfAccusations) {
  const EveryEmptyRow kernel;
  const Law& law = laws()[GetParam()];
  Index judged = 0;
  for (Index number = 0; number < kCases; ++number) {
    SeededDraw draw(case_seed(23, law, number));
    const Case on = with_policy(draw_case(draw, limits_for(kernel, nullptr)), number);
    ASSERT_TRUE(validate(on.problem).ok()) << validate(on.problem).message();
    const Verdict verdict = check_case(kernel, law, on);
    if (verdict.outcome == Outcome::ok) ++judged;
    EXPECT_FALSE(is_violation(verdict.outcome))
        << law.name << " " << verdict.reason << " '" << minimal_text(to_text(on, law.name)) << "'";
  }
  // The kernel promises no bits beyond one call.
  EXPECT_EQ(judged > 0, !law.name.starts_with("order.")) << judged;
}

std::string law_name(const testing::TestParamInfo<std::size_t>& info) {
  std::string name(laws()[info.param].name);
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Laws, EveryPolicy, testing::Range(std::size_t{0}, laws().size()),
                         law_name);

}  // namespace
}  // namespace attest::properties
