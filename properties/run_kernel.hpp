// Runs a kernel on a case, into buffers that were poisoned beforehand.
#pragma once

#include <optional>

#include "attest/kernel.hpp"
#include "attest/verdict.hpp"
#include "properties/case.hpp"

namespace attest::properties {

struct Outputs {
  Status status;
  Tensor out;
  Tensor lse;  ///< no elements when the problem asks for none

  bool has_lse() const { return !lse.bytes().empty(); }
};

/// A NaN that no arithmetic makes, so that an element nobody wrote is recognised.
double poison(Dtype dtype);
bool is_poison(const Tensor& tensor, Index b, Index h, Index row, Index column);
void fill_with_poison(Tensor& tensor);

/// The kernel gets its own copy of the inputs, so that one that writes to them harms no other run.
Outputs run_kernel(const Kernel& kernel, const Case& on);

/// The kernel gets the case's own memory.
Outputs run_in_place(const Kernel& kernel, const Case& on);

/// The verdict for a run that gave no outputs; nothing when it did give some.
std::optional<Verdict> stopped(const Outputs& outputs, const Case& on);

}  // namespace attest::properties
