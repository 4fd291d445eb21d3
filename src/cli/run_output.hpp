// Reports of a run, to files and to standard output.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "attest/status.hpp"
#include "reports/render_run.hpp"

namespace attest::cli {

/// To a file, or to standard output for "-".
Status write_text(const std::string& file, std::string_view text);

/// Every case of the runs, however many, as CSV.
Status write_csv(const std::string& file, const std::vector<std::filesystem::path>& runs);

/// The latest of a run that has just ended.
reports::RunHistory history_of(reports::Run run);

/// The exit code of a run whose kernels did not crash.
int exit_code_of(reports::RunOutcome outcome);

/// The same with a code of its own for a run in which nothing is wrong but that known failures
/// passed.
int exit_code_of(reports::RunOutcome outcome, const std::vector<reports::CheckReport>& checks);

}  // namespace attest::cli
