// Two runs side by side: what became worse, where, and whether a gate lets it pass.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "reports/gate.hpp"
#include "reports/run_model.hpp"

namespace attest::reports {

/// A law on one kernel, or one kernel on one tensor and dtype, in both runs.
struct Compared {
  std::string kernel;
  std::string name;  ///< of the law; of a tensor "TENSOR (DTYPE)"
  bool in_old = false;
  bool in_new = false;
  double old_ratio = 0;  ///< worst error / bound
  double new_ratio = 0;
  std::int64_t old_violations = 0;
  std::int64_t new_violations = 0;
  std::string problem;  ///< of the worst case of the new run, and its replay line
  std::string replay;

  /// New over old; infinite where only the new run has an error, or no number for it.
  double growth() const;
  bool newly_fails() const { return new_violations > 0 && old_violations == 0; }
};

struct ComparedRms {
  std::string kernel;
  std::string dtype;
  std::string tensor;
  double old_rms = 0;  ///< ULP
  double new_rms = 0;

  double growth() const;
};

struct RunComparison {
  std::vector<Compared> laws;
  std::vector<ComparedRms> rms;    ///< of what both runs measured
  std::vector<std::string> notes;  ///< one line each: why the runs may not be comparable
  /// One line each: why a gate cannot pass whatever its rule says.
  std::vector<std::string> obstacles;
  /// What could be computed.
  std::map<Quantity, double> values;
  double old_power = 0;  ///< NaN: not measured
  double new_power = 0;
};

/// An error where the kernels of the runs have different names, unless that is allowed: then a
/// single kernel is compared with a single kernel.
Result<RunComparison> compare_runs(const Run& old_run, const Run& new_run, bool allow_other_kernel);

struct GateResult {
  bool asked = false;  ///< there was a rule
  bool passed = true;
  std::vector<std::string> reasons;  ///< of a failure, one line each; else what holds
};

GateResult judge(const Gate& gate, const RunComparison& comparison);

std::string render_comparison(const RunComparison& comparison);
/// "GATE FAILED  ratio 1.59, not <=1.25"; empty where there was no rule.
std::string render_gate(const GateResult& result);

}  // namespace attest::reports
