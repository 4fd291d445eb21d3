// A tensor whose elements lie more than 2^32 elements apart, in address space of which only the
// touched pages are backed by memory.
#pragma once

#include <optional>

#include "attest/tensor.hpp"

namespace attest::properties {

class SparseTensor {
 public:
  /// Stride of the longest of the axes batch, head and row: an offset of 32 bits wraps around to a
  /// place inside the tensor, which reads as wrong numbers and not as a crash.
  static constexpr Index kWideStride = (Index{1} << 32) + 64;

  /// Every byte zero. Nothing when the system gives no such address space.
  static std::optional<SparseTensor> make(Dtype dtype, const Extents& extents);
  /// The same elements, bit for bit.
  static std::optional<SparseTensor> copy_of(const ConstTensorRef& from);

  SparseTensor(SparseTensor&& other) noexcept;
  SparseTensor& operator=(SparseTensor&& other) noexcept;
  ~SparseTensor();

  TensorRef ref() { return view_; }
  ConstTensorRef ref() const { return read_only(view_); }

 private:
  SparseTensor(TensorRef view, std::size_t bytes) : view_(view), bytes_(bytes) {}

  TensorRef view_;
  std::size_t bytes_ = 0;
};

}  // namespace attest::properties
