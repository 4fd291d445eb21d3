// A dump as a kernel: asked for what was dumped, it hands back the stored results; anything else it
// does not support. What is not known of the kernel that wrote the dump is assumed, and said.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attest/kernel.hpp"
#include "cli/dump_case.hpp"

namespace attest::cli {

/// What is taken for granted about the arithmetic of an unknown kernel.
struct AssumedAccuracy {
  Dtype accumulators = Dtype::f32;  ///< of every operation that nothing else is said of
  std::optional<Dtype> weights;     ///< of P before it multiplies v; none: the accumulators
  double exp_ulp = 2;               ///< of exp and tanh
  Index tile_kv = 16;               ///< keys that share a maximum, at least
};

/// The defaults for a problem: f32 accumulators (f64 for f64), P in the type of v if that is
/// narrower.
AssumedAccuracy usual_accuracy(const Problem& problem);

/// One line without a newline.
std::string to_text(const AssumedAccuracy& assumed);

/// The declarations that follow. Sums and rescales are in any order.
DeclaredAccuracy declared(const AssumedAccuracy& assumed, const Problem& problem);
DeclaredGradientAccuracy declared_gradients(const AssumedAccuracy& assumed, const Problem& problem);

class DumpKernel final : public Kernel {
 public:
  /// `dump` is kept by reference.
  DumpKernel(std::string name, const Dump& dump, const AssumedAccuracy& assumed);

  /// A call that it answers: the dumped one, and the same with the natural lse that laws about
  /// gradients ask for. Nothing may be missing in the results.
  void knows(const properties::Case& value, const properties::Outputs& outputs);

  const KernelDescription& description() const override { return description_; }
  DeclaredAccuracy accuracy(const Problem& problem) const override {
    return declared(assumed_, problem);
  }
  DeclaredGradientAccuracy gradient_accuracy(const Problem& problem) const override {
    return declared_gradients(assumed_, problem);
  }
  Status forward(const Problem& problem, const Tiling& tiling,
                 const ForwardViews& views) const override;
  Status backward(const Problem& problem, const Tiling& tiling,
                  const BackwardViews& views) const override;

 private:
  struct Answer {
    Problem problem;
    properties::StoredInputs inputs;
    Tensor out, lse;  ///< in storage
  };
  /// The answer of this problem whose stored inputs are the `same`; null: there is none.
  template <class Same>
  const Answer* find(const Problem& problem, const Same& same) const;

  KernelDescription description_;
  const Dump& dump_;
  AssumedAccuracy assumed_;
  std::vector<Answer> answers_;
};

}  // namespace attest::cli
