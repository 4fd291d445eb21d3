// Keeps what kernels are asked and what they answer while a law is at work, for diagnosis.
#pragma once

#include <cstddef>
#include <vector>

#include "properties/run_kernel.hpp"

namespace attest::properties {

struct ForwardRun {
  Case of;
  Outputs outputs;
};

struct BackwardRun {
  Case of;
  GradientOutputs outputs;
};

/// While an object of this class lives, the runs of its thread are copied into it; those that gave
/// no results are not. Objects do not nest.
class RunRecorder {
 public:
  /// Runs beyond `most`, of either kind, are not kept.
  explicit RunRecorder(std::size_t most);
  RunRecorder(const RunRecorder&) = delete;
  RunRecorder& operator=(const RunRecorder&) = delete;
  ~RunRecorder();

  const std::vector<ForwardRun>& forward() const { return forward_; }
  const std::vector<BackwardRun>& backward() const { return backward_; }

  static void note(const Case& of, const Outputs& outputs);
  static void note(const Case& of, const GradientOutputs& outputs);

 private:
  std::size_t most_;
  std::vector<ForwardRun> forward_;
  std::vector<BackwardRun> backward_;
};

}  // namespace attest::properties
