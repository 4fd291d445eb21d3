// The sections of the page, one function each. Internal to this room.
#pragma once

#include "reports/json_write.hpp"

namespace attest::reports {

Json page_laws(const Run& run);
Json page_cases(const Run& run);
Json page_ratio_by_keys(const Run& run);
Json page_ulp(const Measurements& measured);
Json page_bias(const Measurements& measured);
Json page_heat(const HeatMap& heat);
Json page_witnesses(const Run& run);
Json page_violations(const Run& run);
Json page_history(const std::vector<RunPoint>& points);
Json page_accuracy(const Run& run);
Json page_sweep(const Run& run);

}  // namespace attest::reports
