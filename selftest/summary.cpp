#include "selftest/summary.hpp"

#include <algorithm>

namespace attest::selftest {
namespace {

Index median_of(std::vector<Index> numbers) {
  if (numbers.empty()) return 0;
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>((numbers.size() - 1) / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle;
}

/// Median and largest of one dimension of all sizes.
void measure(const std::vector<CaseSize>& sizes, Index CaseSize::*dimension, Summary& into) {
  std::vector<Index> numbers;
  for (const CaseSize& size : sizes) numbers.push_back(size.*dimension);
  into.median.*dimension = median_of(numbers);
  for (const Index number : numbers)
    into.largest.*dimension = std::max(into.largest.*dimension, number);
}

std::vector<LawPower> powers(const Matrix& matrix) {
  std::vector<LawPower> laws(matrix.laws.size());
  for (std::size_t i = 0; i < laws.size(); ++i) laws[i].law = &matrix.laws[i];
  for (std::size_t bug = 0; bug < matrix.bugs.size(); ++bug) {
    const BugResult& row = matrix.bugs[bug];
    const auto killers = std::count_if(row.cells.begin(), row.cells.end(),
                                       [](const Cell& cell) { return cell.killed; });
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      if (row.bug.law == matrix.laws[i].name) laws[i].named.push_back(bug);
      if (!row.cells[i].killed) continue;
      laws[i].kills.push_back(bug);
      if (killers == 1) laws[i].only.push_back(bug);
    }
  }
  return laws;
}

}  // namespace

CaseSize size_of(const properties::Case& of) {
  return {of.problem.seq_kv, of.problem.seq_q,
          std::max(of.problem.head_dim, of.problem.head_dim_v)};
}

bool has_size(const Counterexample& counterexample) {
  return counterexample.law->depends_on_case;
}

bool is_printable(const Counterexample& counterexample) {
  return minimal_text(properties::to_text(counterexample.shrunk.smallest)).size() <=
         kPrintableLength;
}

Summary summarise(const Matrix& matrix, bool all_bugs) {
  Summary summary;
  std::vector<CaseSize> sizes;
  for (std::size_t i = 0; i < matrix.bugs.size(); ++i) {
    const BugResult& row = matrix.bugs[i];
    if (!row.is_caught()) {
      if (row.complete) summary.survivors.push_back(i);
      continue;
    }
    ++summary.caught;
    if (!row.is_caught_as_named()) summary.missed.push_back(i);
    if (has_size(*row.counterexample))
      sizes.push_back(size_of(row.counterexample->shrunk.smallest));
    if (!is_printable(*row.counterexample)) summary.unprintable.push_back(i);
  }
  for (const auto dimension : {&CaseSize::keys, &CaseSize::queries, &CaseSize::head_dim})
    measure(sizes, dimension, summary);
  summary.measured = sizes.size();
  for (std::size_t i = 0; i < matrix.correct.size(); ++i)
    if (!matrix.correct[i].alarms.empty()) summary.accused.push_back(i);
  summary.laws = powers(matrix);
  if (all_bugs && matrix.complete)
    for (const LawPower& law : summary.laws)
      if (law.kills.empty()) summary.idle.push_back(law.law);
  summary.passed = matrix.complete && summary.survivors.empty() && summary.missed.empty() &&
                   summary.idle.empty() && summary.accused.empty();
  return summary;
}

}  // namespace attest::selftest
