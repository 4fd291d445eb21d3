// What the page shows, as JSON: every section of report.html, thinned so that the page stays small
// however long the run was. Violations and extremes stay.
#pragma once

#include <cstddef>
#include <string>

#include "reports/run_model.hpp"

namespace attest::reports {

/// Bytes of the longest sections. Their sum, the plots' library and the rest of the page are below
/// 3 MiB.
inline constexpr std::size_t kPageCases = std::size_t{600} << 10;
inline constexpr std::size_t kPageViolations = std::size_t{300} << 10;
inline constexpr std::size_t kPageAccuracy = std::size_t{300} << 10;
inline constexpr std::size_t kPageOther = std::size_t{128} << 10;

/// One line. The form is described in docs/reports.md.
std::string page_json(const RunHistory& history);

/// "attest check builtin:simd"; of several kernels their number.
std::string run_title(const Run& run);

/// "PASSED  2050 cases  48 s": the last line of the run.
std::string run_outcome_line(const Run& run);

}  // namespace attest::reports
