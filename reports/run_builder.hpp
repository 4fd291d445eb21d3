// Makes a Run of what happens one after the other, while running or while reading: the same events
// give the same model, so that a report made later says what the run itself said.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "attest/status.hpp"
#include "reports/run_model.hpp"

namespace attest::reports {

/// The last line of one run, as far as it says what the other lines do not.
struct RunEnd {
  bool interrupted = false;
  double seconds = 0;
  std::string oracle;
  std::string unfinished;
};

class RunBuilder {
 public:
  /// With `several`, a case that was seen before is not counted again; this takes memory for each.
  explicit RunBuilder(bool several = false) : several_(several) {}

  /// A run, or the next shard.
  void begin(const RunHeader& header);

  /// False: the case is known. An error: another case had this number.
  Result<bool> add(const CaseResult& result);
  void add(Violation violation);
  void add(const AccuracyRow& row);
  void add_statistics(const StatisticsRow& row, bool of_tensors);
  void add_power(const PowerCount& row, const std::string& kernel);
  void add_bit_equality(const BitEquality& row, bool of_tensors);
  void add_heat_map(const HeatMap& heat, bool of_tensors);
  /// Kernel, distribution, seconds, folder and whether it was interrupted are read.
  void end_check(const CheckReport& end);
  void add_sweep_point(const SweepReport& of, const SweepPoint& point);
  /// Of a condensed run: a row that counts its cases.
  void add_law(const std::string& kernel, const LawRow& row);
  void set_total_cases(std::int64_t total) { run_.cases.set_total(total); }
  void end(const RunEnd& end);
  /// Instead of end(): what is there is all there is.
  void end_unfinished();

  const Run& run() const { return run_; }
  CheckReport& check_of(const std::string& kernel);
  /// What was read, with a word about shards that are missing. The builder is then empty.
  Run finish();

 private:
  Measurements& measured(const std::string& kernel, bool of_tensors);
  void count(const CaseResult& result);
  bool is_new(const CaseResult& result, bool& contradicts);

  bool several_ = false;
  bool condensed_ = false;
  Run run_;
  RunHeader current_;
  std::vector<std::string> ended_checks_;  ///< of the current run
  std::vector<int> shards_;
  int unfinished_runs_ = 0;
  std::map<std::pair<std::string, std::string>, std::unordered_map<std::int64_t, std::size_t>>
      seen_;
};

}  // namespace attest::reports
