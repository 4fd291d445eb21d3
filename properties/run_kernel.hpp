// Runs a kernel on a case: tensors in the storage that the problem says, results into memory that
// was poisoned beforehand, and back to logical tensors.
#pragma once

#include <limits>
#include <optional>

#include "attest/kernel.hpp"
#include "attest/verdict.hpp"
#include "properties/case.hpp"
#include "properties/poison.hpp"
#include "properties/stored.hpp"

namespace attest::properties {

/// What a problem says of its results.
struct Asked {
  LseForm lse = LseForm::natural;
  AllMaskedPolicy all_masked = AllMaskedPolicy::zero;
  std::optional<double> empty_lse = -std::numeric_limits<double>::infinity();
};

/// Logical and dense. Rows that do not exist are poison; what the problem does not look at in rows
/// that see nothing is 0 and -inf, whatever the kernel wrote.
struct Outputs {
  Status status = {};
  Tensor out = {};
  Tensor lse = {};  ///< no elements when the problem asks for none
  Asked asked = {};

  bool has_lse() const { return !lse.bytes().empty(); }
  double at(const RowIndex& row, Index column) const {
    return out.get(row.batch, row.head, row.query, column);
  }
  /// As one number: m + ln(l), rounded once, where the kernel gives m and l.
  double lse_at(const RowIndex& row) const;
};

/// Logical and dense; what the problem does not ask for is empty.
struct GradientOutputs {
  Status status;
  Outputs forward;  ///< lse natural
  Tensor dq, dk, dv, dbias, dsink;
};

/// The kernel gets its own copy of the inputs, so that one that writes to them harms no other run.
Outputs run_kernel(const Kernel& kernel, const Case& on);

/// The kernel gets the case's own memory, which takes no copy.
/// Precondition: the problem stores rows and keys densely, and v is no view of k.
Outputs run_in_place(const Kernel& kernel, const Case& on);

/// The kernel gets this memory; tensors of the case are not read.
Outputs run_kernel(const Kernel& kernel, const Case& on, const StoredInputs& inputs);

/// Results into memory that holds `fill` beforehand, instead of poison; not recorded.
Outputs run_kernel_over(const Kernel& kernel, const Case& on, double fill);

/// The forward pass with a natural lse, and the backward pass on what it gave.
/// Precondition: on.problem.backward.
GradientOutputs run_backward(const Kernel& kernel, const Case& on);

/// The backward pass alone, on these results of a forward pass.
GradientOutputs run_backward(const Kernel& kernel, const Case& on, Outputs forward);

/// What a backward call reads, in storage.
struct BackwardInputs {
  StoredInputs inputs;
  Tensor out, lse;
};
BackwardInputs store(const Case& of, const Outputs& forward);

/// Gradients as a kernel wrote them, in storage.
struct StoredGradients {
  Status status = {};
  Tensor dq = {}, dk = {}, dv = {}, dbias = {}, dsink = {};
};

/// The kernel gets this memory; tensors of the case are not read.
StoredGradients run_stored_backward(const Kernel& kernel, const Case& on,
                                    const BackwardInputs& inputs);

/// Whether the problem looks at the output and the lse of a row: not every policy does where a row
/// sees nothing.
struct LooksAt {
  bool out = true;
  bool lse = true;
};
LooksAt looks_at(const Problem& problem, const RowIndex& row);

/// The verdict for a run that gave no outputs; nothing when it did give some.
std::optional<Verdict> stopped(const Status& status, const Case& on);
inline std::optional<Verdict> stopped(const Outputs& outputs, const Case& on) {
  return stopped(outputs.status, on);
}

}  // namespace attest::properties
