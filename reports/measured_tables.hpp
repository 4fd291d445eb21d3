// Tables of what was measured beside the verdicts, for text and Markdown.
#pragma once

#include <vector>

#include "reports/run_model.hpp"
#include "reports/table.hpp"

namespace attest::reports {

Table statistics_table(const Measurements& measured);
Table power_table(const Measurements& measured);
Table bits_table(const Measurements& measured);
Table sweep_table(const SweepReport& sweep);
Table history_table(const std::vector<RunPoint>& points);

/// "power 99.7 %: 6 of 2050 trials would have let a stand-in pass"; empty if none was made.
std::string power_line_text(const Measurements& measured);

}  // namespace attest::reports
