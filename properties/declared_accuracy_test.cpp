// A kernel that declares less error than it makes is caught, and is left alone when it declares
// what it makes: the same code, the same cases, another declaration.
#include <gtest/gtest.h>

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
};

TEST_P(Declared, TooLittleIsCaughtAndTheTruthPassesTheSameCases) {
  const Law* const law = find_law(pair().caught_by);
  ASSERT_NE(law, nullptr);
  Index caught = 0;
  for (Index number = 0; number < kCases; ++number) {
    const Case on = case_of(*law, number);
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

TEST(DeclaredPairs, NameEachFieldOnce) {
  std::set<std::string_view> fields;
  for (const mutants::DeclaredPair& pair : pairs())
    EXPECT_TRUE(fields.insert(pair.field).second) << pair.field;
}

}  // namespace
}  // namespace attest::properties
