// The error bounds grow with everything that a kernel declares.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "test_error_bound.hpp"

namespace attest {
namespace {

/// What a kernel declares and the paths that follow, every number large enough to be seen.
struct Declaration {
  DeclaredAccuracy accuracy;
  std::vector<PathCounts> paths;

  explicit Declaration(std::size_t keys) : paths(keys, {4, 2}) {
    accuracy.format.rounding_underflow = 0x1p-30;
    accuracy.dot_roundings = 4;
    accuracy.exp_relative_error = 0x1p-22;
    accuracy.exp_absolute_error = 0x1p-28;
    accuracy.log_relative_error = 0x1p-22;
  }
};

struct DeclaredNumber {
  std::string name;
  std::function<void(Declaration&)> enlarge;
  bool moves_output = true;
  bool moves_lse = true;
};

std::vector<DeclaredNumber> declared_numbers() {
  return {
      {"u", [](Declaration& it) { it.accuracy.format.unit_roundoff *= 2; }},
      {"om", [](Declaration& it) { it.accuracy.format.rounding_underflow *= 2; }},
      {"h", [](Declaration& it) { it.accuracy.dot_roundings *= 2; }},
      {"eps", [](Declaration& it) { it.accuracy.exp_relative_error *= 2; }},
      {"eta", [](Declaration& it) { it.accuracy.exp_absolute_error *= 2; }},
      {"eps_log", [](Declaration& it) { it.accuracy.log_relative_error *= 2; }, false, true},
      {"r", [](Declaration& it) { it.accuracy.division_roundings *= 2; }, true, false},
      {"A",
       [](Declaration& it) {
         for (PathCounts& path : it.paths) path.additions *= 2;
       }},
      {"R",
       [](Declaration& it) {
         for (PathCounts& path : it.paths) path.rescales *= 2;
       }},
  };
}

TEST(ErrorBound, GrowsWithEveryDeclaredNumber) {
  const RowFacts facts = ordinary_facts();
  for (const DeclaredNumber& number : declared_numbers()) {
    Declaration declaration(facts.keys.size());
    RowBound before = error_bound(declaration.accuracy, facts, declaration.paths);
    ASSERT_TRUE(before.proven()) << before.unproven;
    number.enlarge(declaration);
    const RowBound after = error_bound(declaration.accuracy, facts, declaration.paths);
    for (std::size_t c = 0; c < facts.output.size(); ++c) {
      if (number.moves_output)
        EXPECT_GT(after.output[c], before.output[c]) << number.name;
      else
        EXPECT_EQ(after.output[c], before.output[c]) << number.name;
    }
    if (number.moves_lse)
      EXPECT_GT(after.lse, before.lse) << number.name;
    else
      EXPECT_EQ(after.lse, before.lse) << number.name;
  }
}

TEST(ErrorBound, NeverFallsWhileADeclaredNumberGrowsUntilItIsUnproven) {
  const RowFacts facts = ordinary_facts();
  for (const DeclaredNumber& number : declared_numbers()) {
    Declaration declaration(facts.keys.size());
    RowBound before = error_bound(declaration.accuracy, facts, declaration.paths);
    for (int doubling = 0; doubling < 40; ++doubling) {
      number.enlarge(declaration);
      const RowBound after = error_bound(declaration.accuracy, facts, declaration.paths);
      for (std::size_t c = 0; c < facts.output.size(); ++c)
        ASSERT_GE(after.output[c], before.output[c]) << number.name << ", " << doubling;
      ASSERT_GE(after.lse, before.lse) << number.name << ", " << doubling;
      before = after;
    }
  }
}

TEST(ScoreErrorBound, IsZeroForScoresThatAreGiven) {
  DeclaredAccuracy accuracy;
  accuracy.dot_roundings = 0;
  EXPECT_EQ(score_error_bound(accuracy, 3, 64, 1e30), 0);
}

TEST(ScoreErrorBound, GrowsWithMagnitudeRoundingsScaleAndHeadDim) {
  DeclaredAccuracy accuracy;
  accuracy.dot_roundings = 4;
  accuracy.format.rounding_underflow = accuracy.format.unit_roundoff;  // large enough to be seen
  const double bound = score_error_bound(accuracy, 2, 8, 5);
  EXPECT_GT(score_error_bound(accuracy, 2, 8, 6), bound);
  EXPECT_GT(score_error_bound(accuracy, -3, 8, 5), bound);
  EXPECT_GT(score_error_bound(accuracy, 2, 9, 5), bound);
  accuracy.dot_roundings = 5;
  EXPECT_GT(score_error_bound(accuracy, 2, 8, 5), bound);
}

}  // namespace
}  // namespace attest
