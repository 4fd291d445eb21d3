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

}  // namespace attest::reports
