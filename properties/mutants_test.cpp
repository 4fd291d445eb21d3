// The test of the tests: every mutant is killed by the law it names, every law kills a mutant, and
// a violation replays from its line alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>

#include "kernels/registry.hpp"
#include "mutants/mutants.hpp"
#include "properties/check.hpp"
#include "properties/laws.hpp"
#include "properties/shrink.hpp"

namespace attest::properties {
namespace {

/// The seed and the number of cases of `attest check --tier ci`.
constexpr std::uint64_t kSeed = 0x5EED1A77;
constexpr Index kCases = 200;

struct Found {
  Case value;
  Verdict verdict;
};

std::optional<Found> first_violation(const Kernel& kernel, const Law& law) {
  for (Index number = 0; number < (law.depends_on_case ? kCases : 1); ++number) {
    SeededDraw draw(case_seed(kSeed, law, number));
    Case drawn = draw_case(draw, limits_for(kernel, nullptr));
    Verdict verdict = check_case(kernel, law, drawn);
    if (is_violation(verdict.outcome)) return Found{std::move(drawn), std::move(verdict)};
  }
  return std::nullopt;
}

class Mutants : public testing::TestWithParam<std::size_t> {
 protected:
  const mutants::Mutant& mutant() const { return mutants::all()[GetParam()]; }
  const Law& law() const { return *find_law(mutant().killed_by); }
};

TEST_P(Mutants, IsKilledByTheLawItNamesAndReplaysFromOneLine) {
  ASSERT_NE(find_law(mutant().killed_by), nullptr);
  const std::optional<Found> found = first_violation(*mutant().kernel, law());
  ASSERT_TRUE(found) << "survived " << kCases << " cases of " << law().name;
  const Shrunk shrunk = shrink(*mutant().kernel, law(), found->value, found->verdict, 20);

  const std::string line = minimal_text(to_text(shrunk.smallest, law().name));
  ProblemText text;
  TextError error;
  ASSERT_TRUE(parse_problem_text(line, text, error)) << with_caret(line, error);
  const Result<Case> replayed = make_case(text, nullptr);
  ASSERT_TRUE(replayed.ok());
  EXPECT_TRUE(is_violation(check_case(*mutant().kernel, law(), replayed.value()).outcome)) << line;
  for (const auto& correct : kernels::builtin_kernels())
    EXPECT_FALSE(is_violation(check_case(*correct, law(), replayed.value()).outcome))
        << correct->description().name << " '" << line << "'";
}

std::string mutant_name(const testing::TestParamInfo<std::size_t>& info) {
  const std::string name = mutants::all()[info.param].kernel->description().name;
  return name.substr(name.find(':') + 1);
}

INSTANTIATE_TEST_SUITE_P(All, Mutants, testing::Range(std::size_t{0}, mutants::all().size()),
                         mutant_name);

class Laws : public testing::TestWithParam<std::size_t> {};

TEST_P(Laws, KillsAMutant) {
  const Law& law = laws()[GetParam()];
  const auto all = mutants::all();
  EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const mutants::Mutant& mutant) {
    return first_violation(*mutant.kernel, law).has_value();
  })) << law.name;
}

std::string law_name(const testing::TestParamInfo<std::size_t>& info) {
  std::string name(laws()[info.param].name);
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, Laws, testing::Range(std::size_t{0}, laws().size()), law_name);

TEST(Catalogue, NamesAreUniqueAndEveryLawHasASentenceAndAFormula) {
  for (const Law& law : laws()) {
    EXPECT_EQ(find_law(law.name), &law);
    EXPECT_FALSE(law.sentence.empty());
    EXPECT_FALSE(law.formula.empty());
  }
  EXPECT_EQ(find_law("no.such_law"), nullptr);
}

TEST(Catalogue, MutantNamesAreUnique) {
  EXPECT_GE(mutants::all().size(), 15U);
  for (const mutants::Mutant& mutant : mutants::all())
    EXPECT_EQ(mutants::find(mutant.kernel->description().name), &mutant);
}

}  // namespace
}  // namespace attest::properties
