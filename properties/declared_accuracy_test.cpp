// A kernel that declares less error than it makes is caught, and is left alone when it declares
// what it makes: the same code, the same cases, another declaration.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "mutants/declared_mutants.hpp"
#include "properties/check.hpp"
#include "properties/laws.hpp"
#include "properties/test_case_of.hpp"

namespace attest::properties {
namespace {

/// The seed and the number of cases of `attest check --tier ci`.
constexpr std::uint64_t kSeed = 0x5EED1A77;
constexpr Index kCases = 200;

const std::vector<mutants::DeclaredPair>& pairs() {
  static const auto made = mutants::declared_pairs();
  return made;
}

class Declared : public testing::TestWithParam<std::size_t> {
 protected:
  const mutants::DeclaredPair& pair() const { return pairs()[GetParam()]; }
  static Case drawn_case(const Law& law, Index number) {
    SeededDraw draw(case_seed(kSeed, law, number));
    return draw_case(draw, CaseLimits{});
  }
  Case given_case() const { return case_of(std::string(pair().case_text)); }
};

TEST_P(Declared, TooLittleIsCaughtAndTheTruthPassesTheSameCases) {
  const Law* const law = find_law(pair().caught_by);
  ASSERT_NE(law, nullptr);
  Index caught = 0;
  Index passed = 0;
  std::string not_ok;
  for (Index number = 0; number < (pair().case_text.empty() ? kCases : 1); ++number) {
    const Case on = pair().case_text.empty() ? drawn_case(*law, number) : given_case();
    if (is_violation(check_case(*pair().too_little, *law, on).outcome)) ++caught;
    const Verdict honest = check_case(*pair().honest, *law, on);
    EXPECT_FALSE(is_violation(honest.outcome))
        << honest.reason << " '" << minimal_text(to_text(on, law->name)) << "'";
    if (honest.outcome == Outcome::ok) ++passed;
    not_ok = honest.reason;
  }
  EXPECT_GT(caught, 0);
  EXPECT_GT(passed, 0) << "the truth was never judged: " << not_ok;
  RecordProperty("caught", static_cast<int>(caught));
}

TEST_P(Declared, TheTruthBreaksNoLawOfAccuracy) {
  for (const Law& law : laws()) {
    if (!law.name.starts_with("bound.") && !law.name.starts_with("assume.")) continue;
    Index passed = 0;
    for (Index number = 0; number < kCases / 4; ++number) {
      const Case on = drawn_case(law, number);
      const Verdict honest = check_case(*pair().honest, law, on);
      EXPECT_FALSE(is_violation(honest.outcome)) << law.name << ": " << honest.reason << " '"
                                                 << minimal_text(to_text(on, law.name)) << "'";
      if (honest.outcome == Outcome::ok) ++passed;
    }
    EXPECT_TRUE(passed > 0 || !law.name.starts_with("bound.")) << law.name << " was never judged";
  }
}

std::string field_name(const testing::TestParamInfo<std::size_t>& info) {
  return std::string(pairs()[info.param].field);
}

INSTANTIATE_TEST_SUITE_P(All, Declared, testing::Range(std::size_t{0}, pairs().size()), field_name);

/// A law that asks for more than a kernel promises says so instead of judging it.
TEST(DeclaredPairs, AreNotAskedForWhatTheyDoNotPromise) {
  const auto outcome = [](std::string_view field, std::string_view law) {
    const auto of_field = [&](const mutants::DeclaredPair& pair) { return pair.field == field; };
    const auto pair = std::find_if(pairs().begin(), pairs().end(), of_field);
    SeededDraw draw(case_seed(kSeed, *find_law(law), 0));
    const Verdict verdict = check_case(*pair->honest, *find_law(law),
                                       draw_case(draw, CaseLimits{.dtypes = {Dtype::f64}}));
    EXPECT_EQ(verdict.outcome == Outcome::skipped, !verdict.reason.empty());
    return verdict.outcome;
  };
  EXPECT_EQ(outcome("value_relative_error", "assume.nearest_even"), Outcome::skipped);
  EXPECT_EQ(outcome("reciprocal_relative_error", "assume.exp_of_zero"), Outcome::skipped);
  EXPECT_EQ(outcome("format", "assume.gradual_underflow"), Outcome::skipped);
  EXPECT_EQ(outcome("format", "assume.log_error"), Outcome::skipped);
  EXPECT_EQ(outcome("exp_form", "assume.large_scores"), Outcome::skipped);
  EXPECT_EQ(outcome("scaled_query_error", "assume.exp_error"), Outcome::skipped);
  EXPECT_EQ(outcome("weight_cast", "assume.exp_error"), Outcome::skipped);
  EXPECT_EQ(outcome("dot_roundings", "assume.exp_error"), Outcome::skipped);
}

TEST(DeclaredPairs, AreAskedWhereTheAnswerIsKnown) {
  const auto of_field = [](const mutants::DeclaredPair& pair) {
    return pair.field == "output_format";
  };
  const auto pair = std::find_if(pairs().begin(), pairs().end(), of_field);
  for (const char* const name :
       {"assume.exp_of_zero", "assume.exp_of_minus_infinity", "assume.nearest_even",
        "assume.gradual_underflow", "assume.large_scores", "assume.exp_error"}) {
    const Law& law = *find_law(name);
    SeededDraw draw(case_seed(kSeed, law, 1));
    EXPECT_EQ(check_case(*pair->honest, law, draw_case(draw, CaseLimits{})).outcome, Outcome::ok)
        << name;
  }
}

TEST(DeclaredPairs, NameEveryFieldOnce) {
  // Another number of fields does not compile.
  [[maybe_unused]] const auto& [format, underflow, dot_roundings, dot_format, scaled_query_error,
                                softcap_roundings, tanh_relative_error, bias_relative_error,
                                value_relative_error, exp_form, exp_relative_error,
                                exp_absolute_error, lag_log2, weight_cast, log_relative_error,
                                log_absolute_error, division_roundings, reciprocal_relative_error,
                                output_format, scope, own_tiling, grid_bits, longest_tile,
                                keys_of_a_part, ordered_sums] = DeclaredAccuracy{};
  const std::set<std::string_view> all{"format",
                                       "underflow",
                                       "dot_roundings",
                                       "dot_format",
                                       "scaled_query_error",
                                       "softcap_roundings",
                                       "tanh_relative_error",
                                       "bias_relative_error",
                                       "value_relative_error",
                                       "exp_form",
                                       "exp_relative_error",
                                       "exp_absolute_error",
                                       "lag_log2",
                                       "weight_cast",
                                       "log_relative_error",
                                       "log_absolute_error",
                                       "division_roundings",
                                       "reciprocal_relative_error",
                                       "output_format",
                                       "scope",
                                       "own_tiling",
                                       "grid_bits",
                                       "longest_tile",
                                       "keys_of_a_part",
                                       "ordered_sums"};
  std::set<std::string_view> named;
  for (const mutants::DeclaredPair& pair : pairs())
    EXPECT_TRUE(named.insert(pair.field).second) << pair.field;
  EXPECT_EQ(named, all);
}

}  // namespace
}  // namespace attest::properties
