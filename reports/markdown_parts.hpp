// Parts of Markdown that a check, an accuracy report and a whole run share. Internal to this room.
#pragma once

#include <string>

#include "reports/report_tables.hpp"

namespace attest::reports {

/// A literal problem may be thousands of characters long; the block of the failure has it whole.
inline constexpr std::size_t kMarkdownProblem = 120;

std::string outcome_paragraph(const CheckReport& report);
std::string environment_table(const Environment& environment);
/// One failure, folded.
std::string violation_details(const Violation& violation);
/// Verdict, table of laws and distribution.
std::string check_tables(const CheckReport& report);

}  // namespace attest::reports
