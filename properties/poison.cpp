#include "properties/poison.hpp"

#include <array>
#include <cstdint>
#include <cstring>

namespace attest::properties {
namespace {

/// Least significant byte first. The fp8 types have few NaNs: theirs is the one of negative sign.
struct Pattern {
  std::array<std::uint8_t, 8> bytes;
};

constexpr Pattern pattern_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::f32:
      return {{0xEF, 0xBE, 0xC0, 0x7F}};
    case Dtype::f64:
      return {{0xEF, 0xBE, 0x00, 0x00, 0x00, 0x00, 0xF8, 0x7F}};
    case Dtype::bf16:
      return {{0xEB, 0x7F}};
    case Dtype::f16:
      return {{0xEB, 0x7E}};
    case Dtype::e4m3:
      return {{0xFF}};
    case Dtype::e5m2:
      break;
  }
  return {{0xFD}};
}

}  // namespace

double poison(Dtype dtype) {
  return load_element(dtype, pattern_of(dtype).bytes.data());
}

bool is_poison_at(const Tensor& tensor, Index offset) {
  const std::size_t size = size_of(tensor.dtype());
  const std::byte* at = tensor.bytes().data() + static_cast<std::size_t>(offset) * size;
  return std::memcmp(at, pattern_of(tensor.dtype()).bytes.data(), size) == 0;
}

bool is_poison(const Tensor& tensor, Index b, Index h, Index row, Index column) {
  return is_poison_at(tensor, element_offset(tensor.strides(), b, h, row, column));
}

void fill_with_poison(Tensor& tensor) {
  const Pattern pattern = pattern_of(tensor.dtype());
  const std::size_t size = size_of(tensor.dtype());
  std::vector<std::byte>& bytes = tensor.bytes();
  for (std::size_t at = 0; at + size <= bytes.size(); at += size)
    std::memcpy(bytes.data() + at, pattern.bytes.data(), size);
}

Tensor poisoned(Dtype dtype, const Extents& extents) {
  Tensor tensor(dtype, extents);
  fill_with_poison(tensor);
  return tensor;
}

Tensor poisoned(Dtype dtype, const Extents& extents, const Strides& strides, Index elements) {
  Tensor tensor(dtype, extents, strides, elements);
  fill_with_poison(tensor);
  return tensor;
}

}  // namespace attest::properties
