#include "foreign/wire_tensor.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "foreign/abi_words.hpp"
#include "foreign/frames.hpp"

namespace attest::foreign {
namespace {

/// More than any frame has; sums of a few such numbers do not overflow.
constexpr std::uint64_t kFar = std::uint64_t{1} << 60;
/// Each may take a page of its own in a worker, and the system allows some 65000 pieces of memory.
constexpr Index kMostFarElements = 4096;

class TensorList {
 public:
  void add(std::string_view name, const attest_tensor* tensor, bool writable) {
    if (tensor == nullptr) return;
    WireTensor wire{name,
                    word_of(kDtypeWords, static_cast<std::uint64_t>(tensor->dtype)),
                    bytes_of_dtype(tensor->dtype),
                    tensor->data,
                    {},
                    {},
                    writable};
    std::copy(std::begin(tensor->extents), std::end(tensor->extents), wire.extents.begin());
    std::copy(std::begin(tensor->strides), std::end(tensor->strides), wire.strides.begin());
    list_.push_back(wire);
  }
  /// Dense facts of the problem: rows x columns, which may be 0.
  void add_fact(std::string_view name, std::string_view dtype, std::size_t element_bytes,
                const void* data, std::int64_t rows, std::int64_t columns) {
    list_.push_back({name,
                     dtype,
                     element_bytes,
                     const_cast<void*>(data),
                     {1, 1, rows, columns},
                     {rows * columns, rows * columns, columns, 1},
                     false});
  }
  std::vector<WireTensor> take() { return std::move(list_); }

 private:
  std::vector<WireTensor> list_;
};

constexpr std::array<std::byte, kDataAlignment> kGap{};

/// Or, beyond kMostFarElements, some number that is larger than that.
Index elements_of(const Extents& extents) {
  Index count = 1;
  for (const Index extent : extents) {
    if (extent > kMostFarElements) return extent;
    count *= extent;
    if (count > kMostFarElements) return count;
  }
  return count;
}

}  // namespace

std::optional<std::uint64_t> WireTensor::span_bytes() const {
  if (std::find(extents.begin(), extents.end(), 0) != extents.end()) return 0;
  std::uint64_t last = 0;
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    const Index steps = extents[axis] - 1;
    if (steps < 0 || (steps > 0 && strides[axis] < 0)) return std::nullopt;
    if (steps == 0) continue;
    std::uint64_t reach = 0;
    if (__builtin_mul_overflow(static_cast<std::uint64_t>(steps),
                               static_cast<std::uint64_t>(strides[axis]), &reach) ||
        reach > kFar)
      return std::nullopt;
    last += reach;
  }
  if (last > kFar) return std::nullopt;
  return (last + 1) * element_bytes;
}

std::vector<WireTensor> tensors_of(const attest_forward_tensors& call) {
  TensorList list;
  list.add("q", call.q, false);
  list.add("k", call.k, false);
  list.add("v", call.v, false);
  list.add("bias", call.bias, false);
  list.add("sink", call.sink, false);
  list.add("qv", call.qv, false);
  list.add("out", call.out, true);
  list.add("lse", call.lse, true);
  return list.take();
}

std::vector<WireTensor> tensors_of(const attest_backward_tensors& call) {
  TensorList list;
  list.add("q", call.q, false);
  list.add("k", call.k, false);
  list.add("v", call.v, false);
  list.add("out", call.out, false);
  list.add("lse", call.lse, false);
  list.add("dout", call.dout, false);
  list.add("dlse", call.dlse, false);
  list.add("bias", call.bias, false);
  list.add("sink", call.sink, false);
  list.add("dq", call.dq, true);
  list.add("dk", call.dk, true);
  list.add("dv", call.dv, true);
  list.add("dbias", call.dbias, true);
  list.add("dsink", call.dsink, true);
  return list.take();
}

std::vector<WireTensor> facts_of(const attest_problem& problem) {
  TensorList list;
  if ((problem.mask & ATTEST_MASK_BITS) != 0)
    list.add_fact("bits", "u8", 1, problem.bits, problem.bits_rows, problem.bits_columns);
  if ((problem.mask & ATTEST_MASK_BLOCKS) != 0)
    list.add_fact("blocks", "u8", 1, problem.blocks, problem.block_rows, problem.block_columns);
  if ((problem.mask & ATTEST_MASK_ADDITIVE) != 0)
    list.add_fact("additive", "f64", 8, problem.additive, problem.additive_rows,
                  problem.additive_columns);
  if ((problem.mask & ATTEST_MASK_SEGMENTS) != 0) {
    list.add_fact("segments_q", "i64", 8, problem.segments_q, 1, problem.seq_q);
    list.add_fact("segments_k", "i64", 8, problem.segments_k, 1, problem.seq_kv);
  }
  if (problem.kv == ATTEST_KV_PAGED)
    list.add_fact("page_table", "i64", 8, problem.page_table, problem.batch,
                  problem.page_table_columns);
  return list.take();
}

std::vector<WireTensor> tensors_of_part(const attest_part& part, std::string_view side) {
  TensorList list;
  if (side == "left_") {
    list.add("left_out", part.out, false);
    list.add("left_lse", part.lse, false);
  } else if (side == "right_") {
    list.add("right_out", part.out, false);
    list.add("right_lse", part.lse, false);
  } else {
    list.add("out", part.out, true);
    list.add("lse", part.lse, true);
  }
  return list.take();
}

Result<Placement> place(std::span<const WireTensor> tensors, std::uint64_t most) {
  Placement placement;
  for (const WireTensor& tensor : tensors) {
    const auto bytes = tensor.span_bytes();
    const std::uint64_t begin = aligned(placement.end);
    if (!bytes || *bytes > most || begin > most - *bytes)
      return Status{StatusCode::unsupported, "tensors that reach over more than " +
                                                 std::to_string(most >> 20) +
                                                 " MiB do not go through a pipe (--isolate none)"};
    placement.offsets.push_back(begin);
    placement.bytes.push_back(*bytes);
    placement.end = begin + *bytes;
  }
  return placement;
}

NearTensors::NearTensors(std::span<const WireTensor> tensors, std::uint64_t most)
    : far_(tensors.begin(), tensors.end()), near_(far_), elements_(far_.size()) {
  for (std::size_t i = 0; i < far_.size(); ++i) {
    WireTensor& near = near_[i];
    const auto span = near.span_bytes();
    if (span && *span <= most) continue;
    const Index count = elements_of(near.extents);
    if (count > kMostFarElements) continue;
    near.far_strides = near.strides;
    near.strides = bshd_strides(near.extents);
    elements_[i].resize(static_cast<std::size_t>(count) * near.element_bytes);
    near.data = elements_[i].data();
    for_each_element(near.extents, near.strides, *near.far_strides, near.element_bytes,
                     [&](Index to, Index from) {
                       std::memcpy(static_cast<std::byte*>(near.data) + to,
                                   static_cast<const std::byte*>(far_[i].data) + from,
                                   near.element_bytes);
                     });
  }
}

void NearTensors::scatter() const {
  for (std::size_t i = 0; i < far_.size(); ++i) {
    const WireTensor& near = near_[i];
    if (!near.far_strides || !near.writable) continue;
    for_each_element(near.extents, near.strides, *near.far_strides, near.element_bytes,
                     [&](Index from, Index to) {
                       std::memcpy(static_cast<std::byte*>(far_[i].data) + to,
                                   static_cast<const std::byte*>(near.data) + from,
                                   near.element_bytes);
                     });
  }
}

std::vector<std::span<const std::byte>> data_parts(std::span<const WireTensor> tensors,
                                                   const Placement& placement) {
  std::vector<std::span<const std::byte>> parts;
  std::uint64_t end = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (placement.offsets[i] > end)
      parts.push_back(std::span(kGap).first(static_cast<std::size_t>(placement.offsets[i] - end)));
    const auto bytes = static_cast<std::size_t>(placement.bytes[i]);
    if (bytes > 0) parts.push_back({static_cast<const std::byte*>(tensors[i].data), bytes});
    end = placement.offsets[i] + placement.bytes[i];
  }
  return parts;
}

}  // namespace attest::foreign
