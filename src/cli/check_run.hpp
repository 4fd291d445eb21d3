// One run of laws against one kernel: collects the report, writes results as they come, and turns
// every violation into a shrunk, saved and replayable case.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "cli/ledger.hpp"
#include "cli/run_stream.hpp"
#include "properties/check.hpp"
#include "reports/report.hpp"

namespace attest::cli {

struct CheckRun {
  const Kernel* kernel = nullptr;
  properties::CheckPlan plan;
  double shrink_time = 10;    ///< seconds a violation; 0: no shrinking
  Index bit_cases = 0;        ///< a dtype, for bit equality, if contract.repeat_bits is checked
  std::filesystem::path out;  ///< folder for cases; empty: none are saved
  bool progress = false;      ///< a line on stderr that is rewritten
  const Ledger* ledger = nullptr;                 ///< of known failures; null: there are none
  std::function<void(const std::string&)> print;  ///< text for the person, as it comes
};

/// Every line goes to `lines`, up to the one that ends this check. The report is that of the
/// kernel there. Fails only when a file cannot be written.
Result<reports::CheckReport> run_checks(const CheckRun& run, RunStream& lines);

}  // namespace attest::cli
