// One law on one case as a report has it.
#pragma once

#include <string>

#include "properties/laws.hpp"
#include "reports/report.hpp"

namespace attest::cli {

/// All but number, seconds, seed and the replay line.
reports::CaseResult case_result(const std::string& kernel, const properties::Law& law,
                                const properties::Case& on, const Verdict& verdict);

}  // namespace attest::cli
