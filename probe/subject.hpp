// The kernel under experiment, and what is assumed of its arithmetic.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "attest/kernel.hpp"
#include "properties/diagnosis_run.hpp"

namespace attest::probe {

/// What earlier experiments found out of a kernel's arithmetic; unknown is taken for coarse.
struct Arithmetic {
  bool weights_known = false;
  std::optional<WeightCast> weights;  ///< of what is known: none, if they are not rounded
  bool sum_known = true;              ///< whether row_sum adds them rounded
  std::optional<Format> output;       ///< where outputs are rounded to less than their type
  int sum_bits = 0;                   ///< of sums over keys; 0: unknown, or more than can be seen
};

/// Accuracy of a kernel of which nothing else is known: inputs may be read with 11 bits, exp and
/// tanh may be fast ones, sums may have any order.
DeclaredAccuracy assumed_accuracy(const Problem& problem, const Arithmetic& arithmetic);

/// The same of its backward pass, which may round weights and their gradients to bf16, as products
/// of narrow matrices do.
DeclaredGradientAccuracy assumed_gradient_accuracy(const Problem& problem);

/// Forwards calls, catches what they throw, and declares what is assumed.
class Undeclared : public Kernel {
 public:
  explicit Undeclared(const Kernel& kernel) : kernel_(kernel) {}
  const KernelDescription& description() const override { return kernel_.description(); }
  DeclaredAccuracy accuracy(const Problem& problem) const override {
    return assumed_accuracy(problem, arithmetic);
  }
  Status forward(const Problem& problem, const Tiling& tiling,
                 const ForwardViews& views) const override;
  DeclaredGradientAccuracy gradient_accuracy(const Problem& problem) const override {
    return assumed_gradient_accuracy(problem);
  }
  Status backward(const Problem& problem, const Tiling& tiling,
                  const BackwardViews& views) const override;

  Arithmetic arithmetic;

 private:
  const Kernel& kernel_;
};

using properties::Case;
using Run = std::unique_ptr<properties::DiagnosedRun>;

/// What a kernel writes as its lse, beside what it was asked for.
struct LseReading {
  bool usable = true;
  double unit = 1;  ///< the lse that was asked for, over the one that is written
};

class Subject {
 public:
  Subject(const Kernel& kernel, std::optional<Dtype> dtype);

  const Undeclared& kernel() const { return kernel_; }
  Arithmetic& arithmetic() { return kernel_.arithmetic; }
  const Arithmetic& arithmetic() const { return kernel_.arithmetic; }
  LseReading& lse_reading() { return lse_reading_; }
  const LseReading& lse_reading() const { return lse_reading_; }
  Dtype dtype() const { return dtype_; }
  /// Words that ask for the lse that the kernel is able to write: "lse=ln", or none.
  const std::string& lse_words() const { return lse_words_; }
  bool has_lse() const { return !lse_words_.empty(); }
  /// Why no call succeeds at all.
  const Status& status() const { return status_; }

  /// A problem line in which TYPE stands for the type of the tensors and LSE for lse_words().
  Result<Case> made(const std::string& line) const;
  /// The outputs, beside their truth under the assumed accuracy.
  Result<Run> run(const Case& on) const;
  properties::Outputs outputs(const Case& on) const;

 private:
  Undeclared kernel_;
  Dtype dtype_ = Dtype::f32;
  std::string lse_words_;
  LseReading lse_reading_;
  Status status_;
};

/// The case as a line that makes it again.
std::string line_of(const Case& on);

}  // namespace attest::probe
