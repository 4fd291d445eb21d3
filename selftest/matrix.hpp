// The matrix of planted bugs and laws: which law finds which bug, after how many cases, and how
// small the case can be made that shows it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "properties/check.hpp"
#include "properties/shrink.hpp"

namespace attest::selftest {

using properties::Law;

/// A kernel that is wrong on purpose.
struct PlantedBug {
  const Kernel* kernel = nullptr;
  std::string_view law;  ///< that must kill it
};

/// All of properties/mutants.
std::vector<PlantedBug> planted_bugs();

/// How many drawn cases a law gets. Work is counted in cases, never in seconds.
struct Effort {
  Index named = 200;         ///< of a bug and the law that must kill it
  Index others = 20;         ///< of a bug and each other law
  Index correct = 20;        ///< of a correct kernel and each law
  int shrink_tries = 30000;  ///< cases judged to make a counterexample smaller
};

struct Plan {
  std::vector<PlantedBug> bugs;
  std::vector<const Kernel*> correct;
  std::span<const Law> laws = properties::laws();
  std::uint64_t seed = 0x5EED1A77;
  Effort effort = {};
  int jobs = 1;
  const std::atomic<bool>* stop = nullptr;  ///< set: what is not finished stays unfinished
};

/// One law on one bug.
struct Cell {
  Index cases = 0;  ///< judged; the last of them is the one that was violated
  bool killed = false;
};

struct Counterexample {
  const Law* law = nullptr;
  properties::Shrunk shrunk;
};

/// A row of the matrix.
struct BugResult {
  PlantedBug bug;
  std::vector<Cell> cells;  ///< in the order of the plan's laws
  /// Of the law that must kill the bug, or, if that one did not, of the first one that did.
  std::optional<Counterexample> counterexample;
  bool complete = false;  ///< false: interrupted

  bool is_caught() const { return counterexample.has_value(); }
  bool is_caught_as_named() const { return counterexample && counterexample->law->name == bug.law; }
};

/// A correct kernel that a law accuses.
struct Alarm {
  const Law* law = nullptr;
  std::uint64_t seed = 0;
  properties::Case value;
  Verdict verdict;
};

struct CorrectResult {
  const Kernel* kernel = nullptr;
  std::uint64_t seed = 0;
  Index cases = 0;
  Index judged = 0;  ///< of them those with the outcome ok
  std::vector<Alarm> alarms;
  bool complete = false;
};

struct Matrix {
  std::span<const Law> laws;
  std::vector<BugResult> bugs;
  std::vector<CorrectResult> correct;
  bool complete = true;
};

/// `done` gets the number of finished rows and of all rows, on the calling thread. The result is a
/// function of the plan without its jobs.
Matrix run_matrix(const Plan& plan, const std::function<void(Index, Index)>& done = {});

/// Correct kernels alone, `runs` times with the seeds that follow the plan's.
std::vector<CorrectResult> run_correct(const Plan& plan, Index runs,
                                       const std::function<void(Index, Index)>& done = {});

}  // namespace attest::selftest
