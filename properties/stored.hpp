// The tensors of a case as a kernel gets them: in the storage that the problem says.
//
// What belongs to no row and no key (padding of rows, rows beyond the lengths, unused slots and
// pages) is poison: a kernel that reads it shows it.
#pragma once

#include "attest/kernel.hpp"
#include "properties/case.hpp"

namespace attest::properties {

/// Whether logical tensors are stored as they are: nothing is packed and nothing is poisoned.
bool stores_rows_densely(const Problem& problem);
bool stores_keys_densely(const Problem& problem);

/// A stored tensor of rows (like q) or of keys (like k), all poison.
Tensor poisoned_rows(const Problem& problem, Dtype dtype, Index columns);
Tensor poisoned_keys(const Problem& problem, Dtype dtype, Index columns);

/// A logical tensor in storage.
Tensor pack_rows(const Problem& problem, const Tensor& logical);
Tensor pack_keys(const Problem& problem, const Tensor& logical);

/// A stored tensor as a logical one; rows and keys that do not exist are poison.
Tensor unpack_rows(const Problem& problem, Tensor stored);
Tensor unpack_keys(const Problem& problem, Tensor stored);

/// The inputs of a case in storage. v has no memory of its own where it is a view of k.
struct StoredInputs {
  Tensor q, k, v, bias, sink, qv, dout, dlse;
};
StoredInputs store(const Case& of);

/// What a call gets of them. The views live as long as the inputs.
ForwardViews forward_views(const Problem& problem, const StoredInputs& inputs);
BackwardViews backward_views(const Problem& problem, const StoredInputs& inputs);

/// The memory of a tensor as a view; null where the problem does not have it.
inline ConstTensorRef view_of(const Tensor& tensor) {
  return tensor.extents() == Extents{} ? ConstTensorRef{} : tensor.ref();
}

}  // namespace attest::properties
