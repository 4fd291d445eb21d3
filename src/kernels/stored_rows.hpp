// Rows of stored tensors of any element type as numbers of the compute type, and back.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "attest/element.hpp"
#include "attest/tensor_view.hpp"

namespace attest::kernels {

/// Row `row` of head `h`: StoredRow with a head.
struct RowPlace {
  Index b = 0;
  Index h = 0;
  Index row = 0;
};

/// Bytes from the first element of a tensor to the first of a row.
template <class Ref>
std::ptrdiff_t row_offset(const Ref& ref, const RowPlace& at) {
  return (at.b * ref.strides[0] + at.h * ref.strides[1] + at.row * ref.strides[2]) *
         static_cast<std::ptrdiff_t>(size_of(ref.dtype));
}

/// Whether rows are elements of type Real side by side.
template <class Real, class Ref>
bool is_contiguous(const Ref& ref) {
  return ref.dtype == dtype_of<Real>() && ref.strides[3] == 1;
}

/// Writes the elements of a row to `to`, each rounded at most once.
/// Precondition: `to` has as many elements as the row.
template <class Real>
void convert_row(const ConstTensorRef& ref, const RowPlace& at, std::span<Real> to) {
  const auto* const first = static_cast<const std::byte*>(ref.data) + row_offset(ref, at);
  const std::ptrdiff_t step = ref.strides[3] * static_cast<std::ptrdiff_t>(size_of(ref.dtype));
  for (std::size_t c = 0; c < to.size(); ++c)
    to[c] =
        static_cast<Real>(load_element(ref.dtype, first + static_cast<std::ptrdiff_t>(c) * step));
}

/// The elements of a row: the row itself where it is contiguous, else a copy in `buffer`.
template <class Real>
std::span<const Real> read_row(const ConstTensorRef& ref, const RowPlace& at,
                               std::vector<Real>& buffer) {
  const auto columns = static_cast<std::size_t>(ref.extents[3]);
  if (is_contiguous<Real>(ref))
    return {&ref.template as<const Real>()(at.b, at.h, at.row, 0), columns};
  buffer.resize(columns);
  convert_row(ref, at, std::span<Real>(buffer));
  return buffer;
}

/// Stores a row, each element rounded once to the type of the tensor.
/// Precondition: `from` has as many elements as the row.
template <class Real>
void write_row(const TensorRef& ref, const RowPlace& at, std::span<const Real> from) {
  if (is_contiguous<Real>(ref)) {
    std::copy(from.begin(), from.end(), &ref.template as<Real>()(at.b, at.h, at.row, 0));
    return;
  }
  auto* const first = static_cast<std::byte*>(ref.data) + row_offset(ref, at);
  const std::ptrdiff_t step = ref.strides[3] * static_cast<std::ptrdiff_t>(size_of(ref.dtype));
  for (std::size_t c = 0; c < from.size(); ++c)
    store_element(ref.dtype, first + static_cast<std::ptrdiff_t>(c) * step,
                  static_cast<double>(from[c]));
}

/// One element as a number of type Real.
template <class Real>
Real read_element(const ConstTensorRef& ref, const RowPlace& at, Index column) {
  const std::ptrdiff_t offset =
      row_offset(ref, at) + column * ref.strides[3] * static_cast<Index>(size_of(ref.dtype));
  return static_cast<Real>(
      load_element(ref.dtype, static_cast<const std::byte*>(ref.data) + offset));
}

}  // namespace attest::kernels
