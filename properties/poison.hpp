// A NaN that no arithmetic makes, so that an element nobody wrote, or one that nobody may read, is
// recognised.
#pragma once

#include "attest/tensor.hpp"

namespace attest::properties {

double poison(Dtype dtype);
bool is_poison(const Tensor& tensor, Index b, Index h, Index row, Index column);
/// Of the element at an offset into the memory of the tensor.
bool is_poison_at(const Tensor& tensor, Index offset);
void fill_with_poison(Tensor& tensor);

/// A tensor in the strides of a layout, of which every byte is poison.
Tensor poisoned(Dtype dtype, const Extents& extents);
Tensor poisoned(Dtype dtype, const Extents& extents, const Strides& strides, Index elements);

}  // namespace attest::properties
