// An owning dense tensor of rank 4 whose element type is known at run time.
#pragma once

#include <cstddef>
#include <vector>

#include "attest/element.hpp"
#include "attest/tensor_view.hpp"

namespace attest {

class Tensor {
 public:
  Tensor() = default;
  /// Dense in bshd order, every byte zero.
  Tensor(Dtype dtype, const Extents& extents)
      : Tensor(dtype, extents, bshd_strides(extents),
               extents[0] * extents[1] * extents[2] * extents[3]) {}
  /// `elements` must cover the largest offset that extents and strides reach.
  Tensor(Dtype dtype, const Extents& extents, const Strides& strides, Index elements)
      : dtype_(dtype),
        extents_(extents),
        strides_(strides),
        bytes_(static_cast<std::size_t>(elements) * size_of(dtype)) {}

  Dtype dtype() const noexcept { return dtype_; }
  const Extents& extents() const noexcept { return extents_; }
  const Strides& strides() const noexcept { return strides_; }
  std::vector<std::byte>& bytes() noexcept { return bytes_; }
  const std::vector<std::byte>& bytes() const noexcept { return bytes_; }

  TensorRef ref() { return {bytes_.data(), dtype_, extents_, strides_}; }
  ConstTensorRef ref() const { return {bytes_.data(), dtype_, extents_, strides_}; }

  /// Element as a double: exact for every element type.
  double get(Index b, Index h, Index row, Index column) const {
    return load_element(dtype_, bytes_.data() + offset(b, h, row, column));
  }
  /// Rounds to the element type.
  void set(Index b, Index h, Index row, Index column, double value) {
    store_element(dtype_, bytes_.data() + offset(b, h, row, column), value);
  }

 private:
  std::size_t offset(Index b, Index h, Index row, Index column) const {
    return static_cast<std::size_t>(element_offset(strides_, b, h, row, column)) * size_of(dtype_);
  }
  Dtype dtype_ = Dtype::f32;
  Extents extents_{};
  Strides strides_{};
  std::vector<std::byte> bytes_;
};

/// An element of a view as a double: exact for every element type.
inline double number_at(const ConstTensorRef& view, Index b, Index h, Index row, Index column) {
  return load_element(view.dtype, address_of(view, b, h, row, column));
}

/// Calls body(b, h, row, column) for every element, last index fastest. Takes no time where an
/// extent is 0, however large the others are.
template <class Body>
void for_each_index(const Extents& extents, Body&& body) {
  if (extents[1] == 0 || extents[2] == 0 || extents[3] == 0) return;
  for (Index b = 0; b < extents[0]; ++b)
    for (Index h = 0; h < extents[1]; ++h)
      for (Index row = 0; row < extents[2]; ++row)
        for (Index column = 0; column < extents[3]; ++column) body(b, h, row, column);
}

}  // namespace attest
