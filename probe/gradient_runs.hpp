// Backward passes of the kernel under experiment, and which model of one they fit.
//
// The models are in double, and are formed from the results that the kernel's own forward pass
// gave: a backward pass that fits what the forward pass did is right, whatever that was.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "probe/hypothesis.hpp"
#include "properties/diagnosed_gradients.hpp"

namespace attest::probe {

using properties::GradientMistake;
using properties::ModelPart;

/// One candidate: a step that is wrong, or the problem that the backward pass takes its own for.
struct GradientHypothesis {
  std::string value;
  GradientMistake mistake = {};
  Change change = {};  ///< of what is not a tensor
};

/// The backward pass alone: the models read what the forward pass gave, so that its own errors do
/// not count.
class BackwardAlone : public Kernel {
 public:
  explicit BackwardAlone(const KernelDescription& description) : description_(description) {}
  const KernelDescription& description() const override { return description_; }
  DeclaredAccuracy accuracy(const Problem&) const override { return {}; }
  DeclaredGradientAccuracy gradient_accuracy(const Problem& problem) const override {
    return assumed_gradient_accuracy(problem);
  }
  Status forward(const Problem&, const Tiling&, const ForwardViews&) const override {
    return {StatusCode::unsupported, "bounds alone"};
  }

 private:
  const KernelDescription& description_;
};

/// Every problem is run and certified once.
class GradientRuns {
 public:
  /// Kept by reference.
  explicit GradientRuns(const Subject& subject)
      : subject_(subject), bounds_(subject.kernel().description()) {}

  const Subject& subject() const { return subject_; }

  struct One {
    properties::BackwardRun run;
    std::unique_ptr<properties::DiagnosedGradients> diagnosed;  ///< of `run`
  };
  Result<const One*> run(const Case& on);

 private:
  const Subject& subject_;
  BackwardAlone bounds_;
  std::map<std::string, std::unique_ptr<One>> runs_;
};

/// Which candidate alone fits `part`. `rounding` as DiagnosedGradients::distance takes it.
Finding decide(GradientRuns& runs, std::string name, const std::vector<std::string>& lines,
               ModelPart part, const std::vector<GradientHypothesis>& hypotheses,
               std::optional<double> rounding = {});

/// The same of several parts: one finding where they agree.
std::vector<Finding> decide_parts(GradientRuns& runs, const std::string& name,
                                  const std::vector<std::string>& lines,
                                  const std::vector<ModelPart>& parts,
                                  const std::vector<GradientHypothesis>& hypotheses);

}  // namespace attest::probe
