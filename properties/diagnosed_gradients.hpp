// Gradients of one run beside what a model says of them.
#pragma once

#include <array>
#include <cmath>
#include <optional>

#include "properties/gradient_model.hpp"

namespace attest::properties {

/// A run, the right gradients, and how far off a kernel may be: a share of the magnitude of the
/// terms, one for each part, which is the largest one that the bound of the exact gradients has.
class DiagnosedGradients {
 public:
  /// Both arguments are kept by reference.
  DiagnosedGradients(const Kernel& kernel, const BackwardRun& run);

  /// Whether there is a bound, and a model: every input that counts is finite.
  bool is_known() const { return right_.has_value(); }
  bool is_wrong() const { return is_wrong_; }
  const BackwardRun& run() const { return run_; }

  /// Whether the model says what the kernel gave, and how much that says.
  struct Shown {
    bool all = true;
    Index rows = 0;
    Index wrong = 0;
    double bits = 0;
  };
  Shown compare(const ModelGradients& model) const;

  /// How far one part is from what the model says of it.
  struct Distance {
    Index rows = 0;
    double worst = 0;  ///< largest difference over its bound; infinite where a number is not finite
  };
  /// `rounding` is how much of the magnitude of its terms a number may be off; none: what the bound
  /// says.
  Distance distance(const ModelGradients& model, ModelPart part,
                    std::optional<double> rounding = {}) const;

 private:
  /// False where a bound is missing.
  bool add_limits(const GradientTruth& truth, const KvHead& head, ModelGradients& limits) const;
  void find_shares(const ModelGradients& limits);
  bool shown(const ModelGradients& model, Shown* into) const;

  const BackwardRun& run_;
  std::optional<ModelGradients> right_;
  std::array<double, 5> share_{};
  bool is_wrong_ = false;
};

}  // namespace attest::properties
