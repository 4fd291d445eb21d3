// --format: the reports of a run beside its own files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "attest/status.hpp"
#include "reports/run_model.hpp"

namespace attest::cli {

struct Format {
  std::string name;
  std::string file;  ///< empty: standard output
};

/// NAME and NAME=FILE.
Result<std::vector<Format>> parse_formats(const std::vector<std::string>& texts);

/// Whether the text for people goes to standard output: where it is asked for, and where nothing
/// else is.
bool prints_text(const std::vector<Format>& formats);

/// A run that has ended, as its reports need it.
struct EndedRun {
  reports::RunHistory history;
  std::filesystem::path folder;  ///< with run.jsonl
  std::string text;              ///< for people
};

/// summary.md and report.html in the folder.
Status write_pages(const EndedRun& run);

/// What is asked for. Text on standard output is left to the caller, who writes it while the run
/// goes on.
Status write_formats(const EndedRun& run, const std::vector<Format>& formats);

}  // namespace attest::cli
