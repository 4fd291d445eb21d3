// Strided tensors of rank 4, index order (batch, head, row, column); strides in elements.
// The index order is logical: a bshd tensor is the same view with other strides.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>

#include "attest/dtype.hpp"
#include "attest/status.hpp"

namespace attest {

using Extents = std::array<Index, 4>;
using Strides = std::array<Index, 4>;

/// Elements from the first element of a tensor to another one.
constexpr Index element_offset(const Strides& strides, Index b, Index h, Index row, Index column) {
  return b * strides[0] + h * strides[1] + row * strides[2] + column * strides[3];
}

/// Non-owning view with a known element type.
template <class Element>
struct TensorView {
  Element* data = nullptr;
  Extents extents{};
  Strides strides{};

  Element& operator()(Index b, Index h, Index row, Index column) const {
    return data[element_offset(strides, b, h, row, column)];
  }
};

/// Non-owning view whose element type is known only at run time.
template <class Void>
struct ErasedTensorView {
  Void* data = nullptr;
  Dtype dtype = Dtype::f32;
  Extents extents{};
  Strides strides{};

  /// Precondition: Element is the C++ type of `dtype`.
  template <class Element>
  TensorView<Element> as() const {
    static_assert(std::is_const_v<Element> || !std::is_const_v<Void>);
    return {static_cast<Element*>(data), extents, strides};
  }
};

/// Address of an element, whatever its type.
template <class Void>
Void* address_of(const ErasedTensorView<Void>& view, Index b, Index h, Index row, Index column) {
  using Byte = std::conditional_t<std::is_const_v<Void>, const std::byte, std::byte>;
  return static_cast<Byte*>(view.data) +
         element_offset(view.strides, b, h, row, column) * static_cast<Index>(size_of(view.dtype));
}

using TensorRef = ErasedTensorView<void>;
using ConstTensorRef = ErasedTensorView<const void>;

constexpr ConstTensorRef read_only(const TensorRef& view) {
  return {view.data, view.dtype, view.extents, view.strides};
}

/// Dense strides with the physical order batch, row, head, column ("bshd").
constexpr Strides bshd_strides(const Extents& extents) {
  return {extents[1] * extents[2] * extents[3], extents[3], extents[1] * extents[3], 1};
}

}  // namespace attest
