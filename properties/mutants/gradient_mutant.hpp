// A backward pass with other steps, described as a mutant. The forward pass is correct.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/kernels.hpp"
#include "kernels/tiled_backward.hpp"
#include "mutants/mutants.hpp"
#include "mutants/tiled_mutant.hpp"

namespace attest::mutants {

/// A description with a backward pass and further features.
inline KernelDescription describe_gradients(std::string_view name, std::string_view mistake,
                                            std::vector<Feature> features = {}) {
  KernelDescription description = describe(name, mistake);
  features.push_back(Feature::backward);
  features.push_back(Feature::dlse);
  description.capabilities.features = std::move(features);
  return description;
}

class GradientMutant : public Kernel {
 public:
  explicit GradientMutant(KernelDescription description) : description_(std::move(description)) {}

  const KernelDescription& description() const override { return description_; }
  DeclaredAccuracy accuracy(const Problem& problem) const override {
    return correct_->accuracy(problem);
  }
  DeclaredGradientAccuracy gradient_accuracy(const Problem& problem) const override {
    return correct_->gradient_accuracy(problem);
  }
  Status forward(const Problem& problem, const Tiling& tiling,
                 const ForwardViews& views) const override {
    if (Status status = check_call(description_.capabilities, problem, tiling, views); !status.ok())
      return status;
    return correct_->forward(problem, tiling, views);
  }
  Status backward(const Problem& problem, const Tiling& tiling,
                  const BackwardViews& views) const override {
    if (Status status = kernels::check_backward(description_.capabilities, problem, tiling, views);
        !status.ok())
      return status;
    return wrong_backward(problem, tiling, views);
  }

 protected:
  /// Precondition: the call is checked.
  virtual Status wrong_backward(const Problem& problem, const Tiling& tiling,
                                const BackwardViews& views) const = 0;
  Status correct_backward(const Problem& problem, const Tiling& tiling,
                          const BackwardViews& views) const {
    return correct_->backward(problem, tiling, views);
  }

 private:
  KernelDescription description_;
  std::unique_ptr<Kernel> correct_ = kernels::make_scalar_tree();
};

template <template <class> class Steps>
class WrongBackwardSteps : public GradientMutant {
 public:
  using GradientMutant::GradientMutant;

 protected:
  Status wrong_backward(const Problem& problem, const Tiling& tiling,
                        const BackwardViews& views) const override {
    with_real_type(problem.compute_dtype(), [&]<class Real>(Real) {
      const Steps<Real> steps;
      kernels::TiledBackward<Real>(steps, problem, tiling, views).run();
    });
    return {};
  }
};

template <template <class> class Steps>
Mutant gradient_mutant(KernelDescription description, std::string_view killed_by) {
  return {std::make_unique<WrongBackwardSteps<Steps>>(std::move(description)), killed_by};
}

}  // namespace attest::mutants
