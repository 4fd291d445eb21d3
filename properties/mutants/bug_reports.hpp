// Public bug reports of attention kernels, by the number that ../shared/bugs gives them, and the
// wrong kernels that have the same mechanism. What has none says why.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attest::mutants {

struct BugReport {
  std::string_view id;
  std::string_view mechanism;             ///< one line, in our words
  std::vector<std::string_view> mutants;  ///< without "mutant:"; none: out of reach
  std::string_view out_of_reach = {};     ///< why no wrong kernel here can have it
};

/// All of them, in the order of the reports.
std::span<const BugReport> bug_reports();

/// The ids of the reports that a wrong kernel stands for; `name` with "mutant:".
std::vector<std::string> reports_of(std::string_view name);

}  // namespace attest::mutants
