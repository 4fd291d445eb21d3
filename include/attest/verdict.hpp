// What a law says about one case. Results are data; text is made in reports/ and src/cli.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attest/enclosure.hpp"
#include "attest/error_statistics.hpp"
#include "attest/status.hpp"

namespace attest {

enum class Outcome {
  ok,        ///< the law holds
  fail,      ///< the law is broken: a bound exceeded, bits changed, a row written wrongly
  weak,      ///< the case could not have failed: its limit would also accept a stand-in
  unproven,  ///< no bound is informative here, or the oracle cannot tell
  skipped,   ///< the kernel does not declare what the case needs
  flaky,     ///< two runs of the same case disagree
  crash,     ///< the kernel returned an error that the problem does not justify, or ended
  timeout,   ///< the kernel gave no answer within its time
  known,     ///< a violation that the ledger of known failures lists
  xpass,     ///< no violation where the ledger lists one
};

constexpr std::string_view to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::ok:
      return "ok";
    case Outcome::fail:
      return "fail";
    case Outcome::weak:
      return "weak";
    case Outcome::unproven:
      return "unproven";
    case Outcome::skipped:
      return "skipped";
    case Outcome::flaky:
      return "flaky";
    case Outcome::crash:
      return "crash";
    case Outcome::timeout:
      return "timeout";
    case Outcome::known:
      return "known";
    case Outcome::xpass:
      return "xpass";
  }
  return "?";
}

inline constexpr std::array kOutcomes{
    Outcome::ok,    Outcome::fail,  Outcome::weak,    Outcome::unproven, Outcome::skipped,
    Outcome::flaky, Outcome::crash, Outcome::timeout, Outcome::known,    Outcome::xpass};

/// The kernel gave no results that could be judged.
constexpr bool gave_no_results(Outcome outcome) {
  return outcome == Outcome::crash || outcome == Outcome::timeout;
}

/// Red outcomes; `known` is none. `weak` and `unproven` are not passes either, but have a share
/// that is allowed.
constexpr bool is_violation(Outcome outcome) {
  return outcome == Outcome::fail || outcome == Outcome::flaky || outcome == Outcome::xpass ||
         gave_no_results(outcome);
}

/// The one element that shows a violation (or the worst one of a pass).
struct Witness {
  std::string tensor;  ///< "out" or "lse", or what a law compares
  RowIndex row;
  Index column = 0;
  double got = 0;
  Enclosure want;
  double error = 0;  ///< upper bound of |got - want|
  double bound = 0;  ///< admissible error
};

/// One output that a wrong kernel could have given instead, held against the same limits.
struct StandInTrial {
  std::string_view stand_in;  ///< its name, a literal
  bool accepted = false;      ///< no limit refused it, though it differs from the truth
};

struct Verdict {
  Outcome outcome = Outcome::ok;
  std::string reason;      ///< one line; empty for a plain ok
  double worst_ratio = 0;  ///< largest error / bound seen; 0 for laws that compare bits
  std::optional<Witness> witness;
  Index rows_checked = 0;
  Index rows_wrong = 0;
  Index values_compared = 0;  ///< elements that were held against a bound, or against bits
  /// Outputs within their bound, but beyond the probable error (tier 3): a warning.
  Index beyond_probable = 0;
  /// Of laws that hold an output against the truth.
  std::optional<ErrorStatistics> statistics;
  /// Of laws that try them; stand-ins equal to the truth on the case are left out.
  std::vector<StandInTrial> stand_ins;

  static Verdict ok() { return {}; }
  static Verdict of(Outcome outcome, std::string reason) {
    Verdict verdict;
    verdict.outcome = outcome;
    verdict.reason = std::move(reason);
    return verdict;
  }
  static Verdict fail(std::string reason) { return of(Outcome::fail, std::move(reason)); }
  static Verdict skipped(std::string reason) { return of(Outcome::skipped, std::move(reason)); }
  static Verdict weak(std::string reason) { return of(Outcome::weak, std::move(reason)); }
};

}  // namespace attest
