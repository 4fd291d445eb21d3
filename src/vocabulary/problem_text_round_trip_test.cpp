// What is written reads back as it was.
#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <string>
#include <vector>

#include "attest/kernel.hpp"
#include "test_problem_text.hpp"
#include "test_random_problem_text.hpp"

namespace attest {
namespace {

TEST(ProblemText, OfEveryKeyAndValueReadsBackFromBothForms) {
  for (const std::string& line : minimal_lines()) {
    expect_reads_back(parsed(line));
    if (HasFatalFailure()) return;
  }
}

TEST(ProblemText, AcceptsNothingWhoseWrittenFormReadsAsAnotherKindOfValues) {
  for (const std::string values : {"lit", "real", "real:lit", "real:real"}) {
    const std::string line = "1x1:1x1:1 f32 vals=" + values;
    const ParseOutcome outcome = parse(line);
    if (!outcome.ok) continue;
    const ParseOutcome again = parse(canonical_text(outcome.result));
    EXPECT_TRUE(again.ok && same(again.result, outcome.result)) << line;
  }
}

TEST(ProblemText, SmallestAndLargestNumbersOfTheDtypeReadBack) {
  using Single = std::numeric_limits<float>;
  using Wide = std::numeric_limits<double>;
  ProblemText text;
  text.values.kind = ValueRecipe::Kind::literal;
  text.values.name = "";
  const auto expect_numbers_read_back = [&](double q, double k, double v) {
    text.values.q = {q};
    text.values.k = {k};
    text.values.v = {v};
    text.problem.scale = {false, v};
    expect_reads_back(text);
  };
  expect_numbers_read_back(static_cast<double>(Single::denorm_min()),
                           static_cast<double>(Single::min()), static_cast<double>(Single::max()));
  text.problem.dtype = Dtype::f64;
  expect_numbers_read_back(Wide::denorm_min(), Wide::min(), Wide::max());
}

TEST(ProblemText, ShortestFormOfAFloatThatIsClosestToAMidpointReadsBack) {
  // Rounded to double first, these digits fall on the midpoint of two floats.
  const float value = 7.038531e-26F;
  ProblemText text;
  text.values = {ValueRecipe::Kind::literal, "", 0, {static_cast<double>(value)}, {0}, {0}};
  text.problem.scale = {false, static_cast<double>(value)};
  expect_reads_back(text);
}

TEST(ProblemText, OfRandomProblemsReadsBackFromBothForms) {
  RandomProblemText random(11);
  for (int i = 0; i < 5000; ++i) {
    const ProblemText text = random.next();
    ASSERT_EQ(validate(text.problem).message(), "") << canonical_text(text);
    expect_reads_back(text);
    if (HasFatalFailure()) return;
  }
}

TEST(ProblemText, RandomProblemsHaveEveryFeature) {
  RandomProblemText random(11);
  std::set<Feature> seen;
  for (int i = 0; i < 2000; ++i)
    for (const Feature feature : features_of(random.next().problem)) seen.insert(feature);
  for (const Feature feature : all_features())
    EXPECT_EQ(seen.count(feature), 1U) << to_string(feature);
}

}  // namespace
}  // namespace attest
