// One climb of a kernel over several laws and types: keeps the store, and turns what was found into
// rows and a violation.
#pragma once

#include <atomic>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/worst_store.hpp"
#include "properties/climb.hpp"

namespace attest::cli {

struct ClimbRun {
  const Kernel* kernel = nullptr;
  std::vector<const properties::Law*> laws;
  std::vector<Dtype> dtypes;
  std::optional<properties::Case> shape;  ///< only this problem; the store gives it no start
  std::uint64_t seed = 0;
  Index max_keys = 16;
  Index evaluations = 0;  ///< of each law and type; 0: no limit
  double seconds = 0;     ///< of the whole climb, shared among laws and types; 0: no limit
  bool compare_random = false;
  int jobs = 1;
  const std::atomic<bool>* stop = nullptr;
};

/// What came of one law and type.
struct ClimbRow {
  const properties::Law* law = nullptr;
  Dtype dtype = Dtype::f32;
  std::optional<properties::Climbed> best;
  std::filesystem::path saved;  ///< where the best is stored; empty: nowhere
  Index evaluations = 0;        ///< of this run
  double seconds = 0;
  std::optional<double> random_normal;  ///< ratios of equally many random cases
  std::optional<double> random_drawn;
};

struct ClimbReport {
  std::vector<ClimbRow> rows;  ///< by law, then by type; those that were reached
  std::optional<properties::ClimbViolation> violation;
  const properties::Law* violated = nullptr;
  bool interrupted = false;
};

/// Fails when the store cannot be read or written. Shows progress on standard error.
Result<ClimbReport> run_climb(const ClimbRun& run, const WorstStore& store);

}  // namespace attest::cli
