// A run as it is kept and read back: what run.jsonl says, in memory that does not grow with the
// number of cases. Written while running (run_lines.hpp), read by read_run.hpp, rendered by
// render_run.hpp.
#pragma once

#include <string>
#include <vector>

#include "reports/case_sample.hpp"
#include "reports/report.hpp"

namespace attest::reports {

struct KernelEntry {
  std::string name;
  std::string version;
  std::string declares;  ///< one line: dtypes, masks, policies
  std::string source;    ///< file of the repository that registers it; empty if not known
  std::int64_t line = 0;

  friend bool operator==(const KernelEntry&, const KernelEntry&) = default;
};

struct LawText {
  std::string law;
  std::string sentence;
  std::string formula;

  friend bool operator==(const LawText&, const LawText&) = default;
};

/// Part `index` of `count`, counted from 1.
struct Shard {
  int index = 1;
  int count = 1;

  friend bool operator==(const Shard&, const Shard&) = default;
};

/// The first line of run.jsonl.
struct RunHeader {
  std::string kind = "check";  ///< check, accuracy or sweep
  std::string command;         ///< command line
  std::string started;         ///< UTC, "2026-12-01T07:33:01Z"
  std::vector<KernelEntry> kernels;
  std::uint64_t seed = 0;
  std::string tier;
  std::string rule;  ///< what bound.out and bound.lse compare by instead of the bound; empty: it
  int jobs = 1;
  Shard shard;
  std::vector<LawText> laws;  ///< that the run was asked for
  Environment environment;
  bool condensed = false;  ///< law rows are counted, and the cases are a sample
};

/// Several shards of one run, or the runs of several kernels, may have become one of these.
struct Run {
  RunHeader header;
  std::vector<CheckReport> checks;  ///< one a kernel of which a law was run
  std::vector<AccuracyRow> accuracy;
  Measurements measured;  ///< of `accuracy`; those of `checks` are theirs
  std::vector<SweepReport> sweeps;
  std::string oracle;
  CaseSample cases;
  double seconds = 0;
  std::string unfinished;  ///< why something is missing, one line; empty if nothing is
  bool interrupted = false;
};

/// One kernel in one run, for the plot over runs.
struct RunPoint {
  std::string started;
  std::string kernel;
  std::string git;
  double worst_ratio = 0;
  double rms_ulp = 0;  ///< NaN: not measured
  std::int64_t violations = 0;
  std::int64_t cases = 0;
};

/// The latest run, and what the earlier ones of the same kernels came to.
struct RunHistory {
  Run latest;
  std::vector<RunPoint> points;  ///< in order of time, the latest included
};

/// Violated, or passed and complete, or undecided; over all kernels and tensors.
RunOutcome run_outcome(const Run& run);
std::string undecided_reason(const Run& run);

/// Of laws and of tensors together.
Measurements all_measured(const Run& run);

/// Adds what another shard or law measured: rows of the same name are added up, and of two heat
/// maps that of the worse case stays.
void add(Measurements& into, const Measurements& more);

std::vector<RunPoint> points_of(const Run& run);

/// Runs of different kernels or kinds as one, in this order; the last one names it.
Run merged(std::vector<Run> runs);

/// One document for the renderers of accuracy reports.
AccuracyReport accuracy_report(const Run& run);

}  // namespace attest::reports
