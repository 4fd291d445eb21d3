// The report model: what a run found, as data. Renderers turn it into text and never decide.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attest/verdict.hpp"

namespace attest::reports {

/// One law on one case.
struct CaseResult {
  std::string kernel;
  std::string law;
  std::int64_t number = 0;  ///< of the case within the law, from 0
  std::string problem;      ///< minimal problem text
  std::string dtype;        ///< of q
  std::string mask;         ///< the parts of the mask in a word: "none", "causal", "causal+win"
  std::string variant;      ///< the mask, or the one other feature, or "combined"
  std::int64_t keys = 0;    ///< of the longest batch member
  Verdict verdict;
  /// Largest error in ULP of an output; NaN: not measured.
  double ulp = std::numeric_limits<double>::quiet_NaN();
  double seconds = 0;
  std::string replay;      ///< full command line; empty where it would be unwieldy
  std::uint64_t seed = 0;  ///< of the run that drew the case
  std::string acts_like;   ///< mistakes that explain a violation (properties/diagnosis.hpp)
};

/// Counts of one law over its cases.
struct LawRow {
  std::string law;
  std::int64_t cases = 0;
  std::int64_t ok = 0;
  std::int64_t weak = 0;
  std::int64_t unproven = 0;
  std::int64_t skipped = 0;
  std::int64_t violations = 0;       ///< fail, flaky, crash, timeout and xpass
  double worst_ratio = 0;            ///< largest error / bound
  std::string worst_problem;         ///< where it was seen
  std::string worst_replay;          ///< its command line
  std::int64_t values = 0;           ///< elements compared
  std::int64_t beyond_probable = 0;  ///< outputs beyond the probable error: a warning
  std::int64_t known = 0;            ///< violations that the ledger lists; no worst case of theirs
};

/// Errors in ULP of all numbers of one kernel, dtype and tensor that were held against the truth.
struct StatisticsRow {
  std::string kernel;
  std::string dtype;           ///< of the tensor
  std::string tensor = "out";  ///< out, dq, dk, dv
  ErrorStatistics errors;
};

/// Where in the work of its kernel the worst row goes wrong: error / bound of a row when only the
/// keys of one tile are visible to it.
struct HeatMap {
  std::string kernel;
  std::string law;  ///< that found the case
  std::string problem;
  std::string replay;
  std::string tensor;             ///< "out"
  std::vector<std::string> rows;  ///< "b0 h1 q17", in order of the problem
  std::vector<Index> tile_begin;  ///< first key of each tile, then the number of keys
  Index tile_q = 0;
  Index tile_kv = 0;
  std::vector<double> ratio;  ///< rows x tiles, row by row; NaN: the row sees no key of the tile
  std::string note;           ///< one line: rows and tiles that were left out; or empty
};

/// How often outputs have the same bits when the same case is run in another way.
struct BitEquality {
  std::string kernel;
  std::string dtype;
  std::string kind;         ///< rerun, batch, position, split, threads
  std::int64_t equal = 0;   ///< cases
  std::int64_t differ = 0;  ///< cases
  bool required = false;    ///< of what the kernel declares
  std::string reason;       ///< why there are no cases; empty where there are
};

/// How often the limits of a law would have let a wrong output pass.
struct PowerCount {
  std::string stand_in;
  std::string law;
  std::int64_t trials = 0;  ///< cases on which it differs from the truth
  std::int64_t accepted = 0;
};

/// What was measured beside the verdicts; of a run, or of several together.
struct Measurements {
  std::vector<StatisticsRow> statistics;  ///< one a kernel, dtype and tensor
  std::optional<HeatMap> heat_map;        ///< of the worst case
  std::vector<BitEquality> bit_equality;
  std::vector<PowerCount> power;
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
  std::string rule;  ///< what bound.out and bound.lse compare by instead of the bound; empty: it
  int jobs = 1;
  Environment environment;
  std::vector<LawRow> laws;
  std::vector<Violation> violations;
  double seconds = 0;
  std::string out_directory;
  std::string distribution;  ///< one line: share of each class of generated cases
  bool interrupted = false;
  std::string unfinished;  ///< why cases are missing that nobody gave up: a killed run; else empty
  Measurements measured;
  std::vector<std::string> ledger;  ///< what became of each known failure, one line an entry
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
  std::int64_t keys = 0;      ///< of the longest batch member
  std::string replay;         ///< full command line
  /// Largest absolute error of the output over that of the plain evaluation in the same dtype
  /// (properties/twin.hpp); 0: no error at all; NaN: not measured.
  double twin_ratio = std::numeric_limits<double>::quiet_NaN();
};

/// The main job: every built-in kernel on real tensors.
struct AccuracyReport {
  Environment environment;
  std::vector<AccuracyRow> rows;
  std::vector<CheckReport> checks;  ///< short checks on generated cases, one a kernel
  std::string oracle;               ///< one line: how the rows were certified
  double seconds = 0;
  Measurements measured;  ///< of `rows`; those of `checks` are theirs
};

/// One point of a sweep: `cases` cases of one problem with other values.
struct SweepPoint {
  std::string x;      ///< the swept parameter as it was given or counted: "4096", "bf16"
  double number = 0;  ///< the same; position in the list where it is no number
  std::string dtype;  ///< of the output
  std::string problem;
  std::int64_t outputs = 0;
  double max_error = 0;  ///< absolute
  double rms_error = 0;  ///< absolute
  SampleMeans bias;      ///< of got - exact, absolute; samples as in ErrorStatistics
  double ulp_max = 0;
  double ratio = 0;  ///< error / bound of the worst element
  /// As in AccuracyRow.
  double twin_ratio = std::numeric_limits<double>::quiet_NaN();
  std::int64_t violations = 0;  ///< outputs beyond their bound
  std::string worst_element;    ///< "out[b,h,i,c]"
  std::string replay;           ///< of the case with the worst element
  std::string reason;           ///< why nothing was measured; empty if it was
  ErrorStatistics errors;
};

/// A run of `attest sweep`.
struct SweepReport {
  std::string kernel;
  std::string over;  ///< "lk", "d", "spread" or "dtype"
  std::string base;  ///< problem text that the points vary
  std::uint64_t seed = 0;
  Environment environment;
  std::vector<SweepPoint> points;
  double seconds = 0;
  bool interrupted = false;
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
std::string render_violation_text(const Violation& violation);  ///< the two blocks of a failure
std::string render_found_text(const CaseResult& found);         ///< the block before shrinking
std::string render_shrunk_text(const Violation& violation);     ///< the block after shrinking
std::string render_accuracy_text(const AccuracyReport& report);
std::string render_accuracy_markdown(const AccuracyReport& report);
std::string render_accuracy_json(const AccuracyReport& report);
std::string render_sweep_text(const SweepReport& report);
std::string render_sweep_csv(const SweepReport& report);

}  // namespace attest::reports
