// What `attest selftest` found, as a person reads it and as a program does.
#pragma once

#include <string>

#include "selftest/comparison.hpp"
#include "selftest/summary.hpp"

namespace attest::cli {

struct SelftestReport {
  const selftest::Matrix& matrix;
  const selftest::Summary& summary;
  std::uint64_t seed = 0;
  std::string tier;
};

/// A row a planted bug, a column a family of laws.
std::string matrix_text(const selftest::Matrix& matrix);

/// What went wrong, a line each, with the command that shows it; empty if nothing did.
std::string complaints_text(const SelftestReport& report);

/// Laws and what they are worth: how many bugs they kill, and which nobody else does.
std::string laws_text(const SelftestReport& report);

/// The last line.
std::string summary_text(const SelftestReport& report);

std::string selftest_json(const SelftestReport& report);

/// What rules of others catch, as Markdown: totals, then a row a planted bug.
std::string comparison_text(const selftest::Comparison& comparison);

/// Correct kernels in several runs: a line each.
std::string alarms_text(const std::vector<selftest::CorrectResult>& results);

}  // namespace attest::cli
