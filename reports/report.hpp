// The report model: what a run found, as data. Renderers turn it into text and never decide.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attest/verdict.hpp"

namespace attest::reports {

/// One law on one case.
struct CaseResult {
  std::string law;
  std::int64_t number = 0;  ///< of the case within the law, from 0
  std::string problem;      ///< minimal problem text
  Verdict verdict;
  double seconds = 0;
  std::string replay;      ///< full command line; only for violations
  std::uint64_t seed = 0;  ///< of the run that drew the case
};

/// Counts of one law over its cases.
struct LawRow {
  std::string law;
  std::int64_t cases = 0;
  std::int64_t ok = 0;
  std::int64_t weak = 0;
  std::int64_t unproven = 0;
  std::int64_t skipped = 0;
  std::int64_t violations = 0;       ///< fail, flaky and crash
  double worst_ratio = 0;            ///< largest error / bound
  std::string worst_problem;         ///< where it was seen
  std::int64_t values = 0;           ///< elements compared
  std::int64_t beyond_probable = 0;  ///< outputs beyond the probable error: a warning
};

/// Name and value pairs in the order in which they are shown.
using Environment = std::vector<std::pair<std::string, std::string>>;

struct Violation {
  CaseResult found;    ///< as drawn
  CaseResult shrunk;   ///< smallest case of the same violation; law empty if not shrunk
  std::string values;  ///< the shrunk tensors in decimal and hex floats, one line a tensor
  int shrink_tries = 0;
  int shrink_kept = 0;
  bool shrink_finished = true;
  std::string saved;  ///< folder of the case files; empty if none
};

/// A run of `attest check`.
struct CheckReport {
  std::string kernel;
  std::string declares;  ///< one line: dtypes, masks, policies
  std::uint64_t seed = 0;
  std::string tier;
  int jobs = 1;
  Environment environment;
  std::vector<LawRow> laws;
  std::vector<Violation> violations;
  double seconds = 0;
  std::string out_directory;
  std::string distribution;  ///< one line: share of each class of generated cases
  bool interrupted = false;
};

/// Quantiles of an error in units in the last place of the correctly rounded result.
struct UlpQuantiles {
  double median = 0;
  double q99 = 0;
  double max = 0;
};

/// One kernel on one tensor file under one tiling.
struct AccuracyRow {
  std::string kernel;
  std::string tensor;   ///< file name without ending
  std::string problem;  ///< minimal problem text
  std::string dtype;
  std::int64_t outputs = 0;  ///< elements compared, of output and lse
  std::int64_t violations = 0;
  double worst_error = 0;  ///< absolute
  double worst_ratio = 0;  ///< error / bound, output
  double worst_lse_error = 0;
  double worst_lse_ratio = 0;
  UlpQuantiles ulp;
  std::string worst_element;  ///< "out[b,h,i,c]"
};

/// The main job: every built-in kernel on real tensors.
struct AccuracyReport {
  Environment environment;
  std::vector<AccuracyRow> rows;
  std::vector<CheckReport> checks;  ///< short checks on generated cases, one a kernel
  std::string oracle;               ///< one line: how the rows were certified
  double seconds = 0;
};

/// Share of a law's checked cases that may be weak or unproven. Some always are (a row with one
/// key leaves nothing to get wrong); more than one in five means that the generator misses the
/// law, and then green says too little about the kernel.
inline constexpr double kMaxUndecidedShare = 0.2;

enum class RunOutcome {
  passed,
  violated,   ///< a law is broken
  undecided,  ///< nothing is broken, but too little was shown
};

constexpr std::string_view to_string(RunOutcome outcome) {
  switch (outcome) {
    case RunOutcome::passed:
      return "passed";
    case RunOutcome::violated:
      return "violated";
    case RunOutcome::undecided:
      return "undecided";
  }
  return "?";
}

/// The decision that the last line, the files and the exit code share.
RunOutcome run_outcome(const CheckReport& report);

/// Why the run is undecided, one line; empty if it is not.
std::string undecided_reason(const CheckReport& report);

/// The same of one law alone: too many undecided cases, or none checked at all.
std::string undecided_reason(const LawRow& row);

// Renderers. Every string that came from a file, a kernel or a user is escaped for its format.
std::string render_check_text(const CheckReport& report);
std::string render_check_markdown(const CheckReport& report);
std::string render_check_junit(const CheckReport& report);
std::string render_case_jsonl(const CaseResult& result);          ///< one line, no newline
std::string render_environment_jsonl(const CheckReport& report);  ///< first line of run.jsonl
std::string render_summary_jsonl(const CheckReport& report);      ///< last line of run.jsonl
std::string render_violation_text(const Violation& violation);    ///< the two blocks of a failure
std::string render_found_text(const CaseResult& found);           ///< the block before shrinking
std::string render_shrunk_text(const Violation& violation);       ///< the block after shrinking
std::string render_accuracy_text(const AccuracyReport& report);
std::string render_accuracy_markdown(const AccuracyReport& report);
std::string render_accuracy_json(const AccuracyReport& report);

}  // namespace attest::reports
