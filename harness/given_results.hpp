// Results that somebody else computed, in the form in which laws are asked.
#pragma once

#include "attest/kernel.hpp"
#include "properties/case.hpp"

namespace attest::harness {

/// The logical tensors that stored views hold. Precondition: the views fit the problem.
properties::Case case_of(const Problem& problem, const ForwardViews& views);

/// A kernel that knows one call: asked for the same problem on the same numbers, it hands out what
/// the views hold; any other call is `unsupported`. The views must outlive it.
class GivenResults : public Kernel {
 public:
  GivenResults(const properties::Case& of, const ForwardViews& views, DeclaredAccuracy accuracy);

  const KernelDescription& description() const override { return description_; }
  DeclaredAccuracy accuracy(const Problem&) const override { return accuracy_; }
  Status forward(const Problem& problem, const Tiling& tiling,
                 const ForwardViews& views) const override;

 private:
  const properties::Case& of_;
  ForwardViews given_;
  DeclaredAccuracy accuracy_;
  KernelDescription description_;
};

/// What every kernel could do: for checks of the form of a call alone.
Capabilities all_capabilities();

}  // namespace attest::harness
