// Several runs as one: shards become one run, the runs of several kernels one report, and earlier
// runs of the same kernels the history of the latest.
#pragma once

#include <filesystem>
#include <vector>

#include "reports/run_reader.hpp"

namespace attest::reports {

/// Each path is a run.jsonl, or the folder of one. Two copies of one run count once, and the
/// longer one is read. `on_case` sees the cases of the latest run.
Result<RunHistory> read_runs(const std::vector<std::filesystem::path>& paths,
                             const CaseHook& on_case = {});

}  // namespace attest::reports
