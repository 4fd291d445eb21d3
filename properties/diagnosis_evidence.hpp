// The runs that a diagnosis must explain.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "properties/diagnosis_run.hpp"
#include "properties/laws.hpp"

namespace attest::properties {

using Runs = std::vector<std::unique_ptr<DiagnosedRun>>;

/// What a kernel gives on a case; nothing where it refuses, throws or gives no results.
std::optional<Outputs> run_of(const Kernel& kernel, const Case& on);

/// What the law saw, the cases themselves, and the wrong problems with other values and in other
/// shapes. Cases that are large are left out.
class Evidence {
 public:
  Evidence(const Kernel& kernel, const Law& law, std::span<const Case> cases);

  /// Wrong ones first: most mistakes are ruled out by the first wrong row.
  const Runs& runs() const { return runs_; }
  const std::vector<BackwardRun>& backward() const { return backward_; }
  bool is_wrong() const { return !runs_.empty() && runs_.front()->wrong_rows() > 0; }

 private:
  void add_recorded(const std::vector<ForwardRun>& recorded);
  void add_fresh();

  const Kernel& kernel_;
  Runs runs_;
  std::vector<BackwardRun> backward_;
};

}  // namespace attest::properties
