// The replay lines are problems, say what they expect, and cite the reports that they are from.
#include "properties/hard_cases.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "attest/problem_text.hpp"
#include "properties/expected_values.hpp"
#include "properties/test_exact_results.hpp"

namespace attest::properties {
namespace {

/// Of the public reports, not of the lines that cite them.
constexpr std::size_t kReports = 90;

Expectation expectation(const HardCaseLine& line) {
  Result<Expectation> read = parse_expectation(line.comment);
  EXPECT_TRUE(read.ok()) << line.problem << " #" << line.comment << "\n" << read.status().message();
  return read.ok() ? std::move(read).value() : Expectation{};
}

ProblemText parsed(std::string_view problem) {
  ProblemText text;
  TextError error;
  EXPECT_TRUE(parse_problem_text(problem, text, error)) << with_caret(problem, error);
  return text;
}

/// Elements of a result; none where the problem does not ask for it, or not in one number.
Index elements(const Problem& problem, const std::string& tensor) {
  const auto count = [](const Extents& extents) {
    return extents[0] * extents[1] * extents[2] * extents[3];
  };
  if (tensor == "out") return count(problem.out_extents());
  if (tensor == "lse")
    return problem.lse == LseForm::max_sum || problem.lse == LseForm::none
               ? 0
               : count(problem.lse_extents());
  if (!problem.backward) return 0;
  if (tensor == "dq") return count(problem.q_extents());
  if (tensor == "dk") return count(problem.k_extents());
  if (tensor == "dv") return count(problem.v_extents());
  if (tensor == "dbias") return problem.backward->dbias ? count(problem.bias_extents()) : 0;
  return problem.backward->dsink ? count(problem.sink_extents()) : 0;
}

TEST(HardCases, EveryLineIsAProblemAndReadsBackFromItsShortestText) {
  for (const HardCaseLine& line : annotated_hard_cases()) {
    const ProblemText text = parsed(line.problem);
    const ProblemText again = parsed(minimal_text(text));
    EXPECT_EQ(again.problem, text.problem) << line.problem;
    EXPECT_EQ(again.tiling, text.tiling) << line.problem;
    EXPECT_EQ(again.law, text.law) << line.problem;
    EXPECT_EQ(minimal_text(again), minimal_text(text)) << line.problem;
  }
}

TEST(HardCases, EveryLineSaysWhatItExpectsOrWhyItDoesNot) {
  std::size_t numbers = 0;
  for (const HardCaseLine& line : annotated_hard_cases()) {
    const Expectation expected = expectation(line);
    const Problem problem = parsed(line.problem).problem;
    EXPECT_NE(expected.free, !expected.want.empty()) << line.problem;
    EXPECT_FALSE(expected.words.empty()) << line.problem;
    for (const ExpectedTensor& tensor : expected.want) {
      EXPECT_EQ(static_cast<Index>(tensor.numbers.size()), elements(problem, tensor.name))
          << line.problem << " " << tensor.name;
      numbers += static_cast<std::size_t>(
          std::count_if(tensor.numbers.begin(), tensor.numbers.end(),
                        [](const ExpectedNumber& number) { return number.stated; }));
    }
  }
  EXPECT_GT(numbers, annotated_hard_cases().size());
}

/// Compares what a line says about one tensor with the oracle; what does not exist must be `_`.
void expect_agreement(const HardCaseLine& line, const Case& of, const ExpectedTensor& tensor) {
  const ExactList exact = exact_result(of, tensor.name);
  ASSERT_EQ(exact.size(), tensor.numbers.size()) << line.problem;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const ExpectedNumber& number = tensor.numbers[i];
    if (!number.stated) continue;
    ASSERT_TRUE(exact[i].has_value()) << line.problem << " " << tensor.name << "[" << i << "]";
    EXPECT_TRUE(number.agrees(*exact[i]))
        << line.problem << " " << tensor.name << "[" << i << "] want " << number.value << " exact "
        << exact[i]->high << " + " << exact[i]->low << " +- " << exact[i]->radius;
  }
}

TEST(HardCases, TheOracleAgreesWithEveryExpectedNumber) {
  for (const HardCaseLine& line : annotated_hard_cases()) {
    const Expectation expected = expectation(line);
    const Result<Case> of = make_case(parsed(line.problem), nullptr);
    ASSERT_TRUE(of.ok()) << line.problem << " " << of.status().message();
    for (const ExpectedTensor& tensor : expected.want) expect_agreement(line, of.value(), tensor);
  }
}

TEST(HardCases, CiteEachReportOnceAndItsFurtherLinesAsSuch) {
  std::set<std::string> reports;
  for (const HardCaseLine& line : annotated_hard_cases()) {
    const Expectation expected = expectation(line);
    if (expected.report.empty()) continue;
    EXPECT_EQ(reports.insert(expected.report).second, !expected.also) << expected.report;
  }
  EXPECT_GE(reports.size(), kReports);
}

}  // namespace
}  // namespace attest::properties
