// What a failure says of one case, for those who print it under a heading of their own.
#pragma once

#include <string>

#include "reports/report.hpp"

namespace attest::reports {

/// The block of render_found_text below its first line.
std::string render_case_text(const CaseResult& found);

}  // namespace attest::reports
