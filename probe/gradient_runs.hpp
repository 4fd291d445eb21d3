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

/// Every problem is run and certified once.
class GradientRuns {
 public:
  /// Kept by reference.
  explicit GradientRuns(const Subject& subject) : subject_(subject) {}

  const Subject& subject() const { return subject_; }

  struct One {
    properties::BackwardRun run;
    std::unique_ptr<properties::DiagnosedGradients> diagnosed;  ///< of `run`
  };
  Result<const One*> run(const Case& on);

 private:
  const Subject& subject_;
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
