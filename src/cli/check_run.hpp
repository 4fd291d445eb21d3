// One run of laws against one kernel: collects the report, writes results as they come, and turns
// every violation into a shrunk, saved and replayable case.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "cli/file_output.hpp"
#include "properties/check.hpp"
#include "reports/report.hpp"

namespace attest::cli {

struct CheckRun {
  const Kernel* kernel = nullptr;
  properties::CheckPlan plan;
  std::string tier;
  double shrink_time = 10;    ///< seconds a violation; 0: no shrinking
  std::filesystem::path out;  ///< folder for run.jsonl and cases; empty: write nothing
  bool progress = false;      ///< a line on stderr that is rewritten
  std::function<void(const std::string&)> print;  ///< text for the person, as it comes
};

/// The report; fails only when the folder cannot be written.
Result<reports::CheckReport> run_checks(const CheckRun& run);

/// "attest replay KERNEL 'LINE'", or the saved folder when the line would be unwieldy.
std::string replay_command_line(const Kernel& kernel, const properties::Case& of,
                                std::string_view law, const std::filesystem::path& saved);

/// q, k and v in decimal and hex floats, one line a tensor.
std::string values_text(const properties::Case& of);

/// One line: what the kernel can do.
std::string declares_text(const Kernel& kernel);

}  // namespace attest::cli
