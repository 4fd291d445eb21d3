// The tensors of a message: where each lies in the data of its frame.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attest/kernel_abi.h"
#include "attest/status.hpp"
#include "attest/tensor.hpp"

namespace attest::foreign {

/// A tensor that is sent, and, where it is a result, comes back into the same memory.
struct WireTensor {
  std::string_view name;   ///< a literal
  std::string_view dtype;  ///< a literal: a word of attest/kernel_abi.h, "u8" or "i64"
  std::size_t element_bytes = 0;
  void* data = nullptr;
  Extents extents{};
  Strides strides{};
  bool writable = false;
  std::optional<Strides> far_strides = std::nullopt;  ///< in the memory that it was gathered from

  /// From the first element to the last one; nothing where the strides reach beyond what a frame
  /// can hold, or backwards.
  std::optional<std::uint64_t> span_bytes() const;
};

/// Those of a call that exist.
std::vector<WireTensor> tensors_of(const attest_forward_tensors& call);
std::vector<WireTensor> tensors_of(const attest_backward_tensors& call);
/// Facts of a problem that are large enough to be tensors: bits, blocks, pages and so on.
std::vector<WireTensor> facts_of(const attest_problem& problem);
/// The tensors of a part, with this before their names: "", "left_" or "right_".
std::vector<WireTensor> tensors_of_part(const attest_part& part, std::string_view side);

/// Offsets of tensors one behind the other, each at a multiple of 64, and the bytes of all.
struct Placement {
  std::vector<std::uint64_t> offsets;
  std::vector<std::uint64_t> bytes;
  std::uint64_t end = 0;
};
/// Errors: unsupported where they do not fit into `most` bytes.
Result<Placement> place(std::span<const WireTensor> tensors, std::uint64_t most);

/// The bytes of tensors as parts of a frame, with the gaps between them.
std::vector<std::span<const std::byte>> data_parts(std::span<const WireTensor> tensors,
                                                   const Placement& placement);

/// Calls body(a, b) with the offsets, in bytes, of each element in two orders of strides.
template <class Body>
void for_each_element(const Extents& extents, const Strides& a, const Strides& b,
                      std::size_t element_bytes, Body&& body) {
  const auto size = static_cast<Index>(element_bytes);
  for_each_index(extents, [&](Index i, Index h, Index row, Index column) {
    body(element_offset(a, i, h, row, column) * size, element_offset(b, i, h, row, column) * size);
  });
}

/// Elements of tensors that reach further than a frame does, next to one another. They are gathered
/// when this is made; `scatter` brings results back.
class NearTensors {
 public:
  /// Tensors that span at most `most` bytes stay where they are, and so do those of more elements
  /// than a worker spreads out again.
  NearTensors(std::span<const WireTensor> tensors, std::uint64_t most);

  const std::vector<WireTensor>& tensors() const { return near_; }
  void scatter() const;

 private:
  std::vector<WireTensor> far_, near_;
  std::vector<std::vector<std::byte>> elements_;
};

/// A tensor as a message names it, checked against the data that came with it.
struct ReceivedTensor {
  std::string name;
  std::string dtype;
  Extents extents{};
  Strides strides{};
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  bool writable = false;
  std::optional<Strides> far_strides = std::nullopt;  ///< to spread it out again, in a worker
};

}  // namespace attest::foreign
