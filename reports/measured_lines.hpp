// What was measured beside the verdicts, in a line each, for the terminal.
#pragma once

#include <string>
#include <vector>

#include "reports/report.hpp"

namespace attest::reports {

/// "power 99.7 %: 6 of 2050 accept/reject trials would have let a stand-in pass"; empty without
/// trials. Never 100 % while one was accepted.
std::string power_line(const std::vector<PowerCount>& counts);

/// One line a stand-in and law that accepted it: the most often accepted first.
std::string accepted_lines(const std::vector<PowerCount>& counts);

/// "bits  rerun equal | batch 39 of 240 cases differ (not required) | ..."; over all dtypes, empty
/// if nothing was measured.
std::string bits_line(const std::vector<BitEquality>& rows);

}  // namespace attest::reports
