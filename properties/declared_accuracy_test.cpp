// A kernel that declares less error than it makes is caught, and is left alone when it declares
// what it makes: the same code, the same cases, another declaration.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "mutants/declared_mutants.hpp"
#include "properties/check.hpp"
#include "properties/laws.hpp"

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
  static Case case_of(const Law& law, Index number) {
    SeededDraw draw(case_seed(kSeed, law, number));
    return draw_case(draw, CaseLimits{});
  }
  Case given_case() const {
    ProblemText text;
    TextError error;
    EXPECT_TRUE(parse_problem_text(pair().case_text, text, error));
    return make_case(text, nullptr).value();
  }
};

TEST_P(Declared, TooLittleIsCaughtAndTheTruthPassesTheSameCases) {
  const Law* const law = find_law(pair().caught_by);
  ASSERT_NE(law, nullptr);
  Index caught = 0;
  for (Index number = 0; number < (pair().case_text.empty() ? kCases : 1); ++number) {
    const Case on = pair().case_text.empty() ? case_of(*law, number) : given_case();
    if (is_violation(check_case(*pair().too_little, *law, on).outcome)) ++caught;
    const Verdict honest = check_case(*pair().honest, *law, on);
    EXPECT_FALSE(is_violation(honest.outcome))
        << honest.reason << " '" << minimal_text(to_text(on, law->name)) << "'";
  }
  EXPECT_GT(caught, 0);
  RecordProperty("caught", static_cast<int>(caught));
}

TEST_P(Declared, TheTruthBreaksNoLawOfAccuracy) {
  for (const Law& law : laws()) {
    if (!law.name.starts_with("bound.") && !law.name.starts_with("assume.")) continue;
    for (Index number = 0; number < kCases / 4; ++number) {
      const Case on = case_of(law, number);
      const Verdict honest = check_case(*pair().honest, law, on);
      EXPECT_FALSE(is_violation(honest.outcome)) << law.name << ": " << honest.reason << " '"
                                                 << minimal_text(to_text(on, law.name)) << "'";
    }
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
    EXPECT_FALSE(verdict.reason.empty());
    return verdict.outcome;
  };
  EXPECT_EQ(outcome("output_format", "assume.nearest_even"), Outcome::skipped);
  EXPECT_EQ(outcome("reciprocal_relative_error", "assume.exp_of_zero"), Outcome::skipped);
  EXPECT_EQ(outcome("format", "assume.gradual_underflow"), Outcome::skipped);
  EXPECT_EQ(outcome("format", "assume.log_error"), Outcome::skipped);
  EXPECT_EQ(outcome("exp_form", "assume.large_scores"), Outcome::skipped);
  EXPECT_EQ(outcome("scaled_query_error", "assume.exp_error"), Outcome::skipped);
  EXPECT_EQ(outcome("weight_cast", "assume.exp_error"), Outcome::skipped);
  EXPECT_EQ(outcome("dot_roundings", "assume.exp_error"), Outcome::skipped);
}

TEST(DeclaredPairs, NameEachFieldOnce) {
  std::set<std::string_view> fields;
  for (const mutants::DeclaredPair& pair : pairs())
    EXPECT_TRUE(fields.insert(pair.field).second) << pair.field;
}

}  // namespace
}  // namespace attest::properties
