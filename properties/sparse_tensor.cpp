#include "properties/sparse_tensor.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace attest::properties {

std::optional<SparseTensor> SparseTensor::make(Dtype dtype, const Extents& extents) {
  const auto longest = static_cast<std::size_t>(
      std::max_element(extents.begin(), extents.end() - 1) - extents.begin());
  Strides strides{0, 0, 0, 1};
  Index next = extents[3];
  for (const std::size_t axis : {std::size_t{2}, std::size_t{1}, std::size_t{0}}) {
    if (axis == longest) continue;
    strides[axis] = next;
    next *= std::max(extents[axis], Index{1});
  }
  strides[longest] = kWideStride;
  const Index elements = std::max(extents[longest] - 1, Index{0}) * kWideStride + next;
  const auto bytes = static_cast<std::size_t>(std::max(elements, Index{1})) * size_of(dtype);
  void* const data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED) return std::nullopt;
  return SparseTensor(TensorRef{data, dtype, extents, strides}, bytes);
}

std::optional<SparseTensor> SparseTensor::copy_of(const ConstTensorRef& from) {
  std::optional<SparseTensor> copy = make(from.dtype, from.extents);
  if (!copy) return copy;
  const TensorRef to = copy->ref();
  for_each_index(from.extents, [&](Index b, Index h, Index row, Index column) {
    std::memcpy(address_of(to, b, h, row, column), address_of(from, b, h, row, column),
                size_of(from.dtype));
  });
  return copy;
}

SparseTensor::SparseTensor(SparseTensor&& other) noexcept
    : view_(std::exchange(other.view_, {})), bytes_(std::exchange(other.bytes_, 0)) {}

SparseTensor& SparseTensor::operator=(SparseTensor&& other) noexcept {
  std::swap(view_, other.view_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

SparseTensor::~SparseTensor() {
  if (bytes_ != 0) munmap(view_.data, bytes_);
}

}  // namespace attest::properties
