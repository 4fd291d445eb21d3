#include "properties/run_kernel.hpp"

#include <bit>
#include <cstring>

namespace attest::properties {
namespace {

constexpr std::uint32_t kPoisonF32 = 0x7FC0BEEF;
constexpr std::uint64_t kPoisonF64 = 0x7FF800000000BEEF;

std::size_t first_byte(const Tensor& tensor, Index b, Index h, Index row, Index column) {
  const Strides& strides = tensor.strides();
  return static_cast<std::size_t>(b * strides[0] + h * strides[1] + row * strides[2] +
                                  column * strides[3]) *
         size_of(tensor.dtype());
}

template <class Bits>
void fill_with(std::vector<std::byte>& bytes, Bits pattern) {
  for (std::size_t at = 0; at + sizeof pattern <= bytes.size(); at += sizeof pattern)
    std::memcpy(bytes.data() + at, &pattern, sizeof pattern);
}

}  // namespace

double poison(Dtype dtype) {
  return dtype == Dtype::f32 ? static_cast<double>(std::bit_cast<float>(kPoisonF32))
                             : std::bit_cast<double>(kPoisonF64);
}

bool is_poison(const Tensor& tensor, Index b, Index h, Index row, Index column) {
  const std::byte* at = tensor.bytes().data() + first_byte(tensor, b, h, row, column);
  if (tensor.dtype() == Dtype::f32) return std::memcmp(at, &kPoisonF32, sizeof kPoisonF32) == 0;
  return std::memcmp(at, &kPoisonF64, sizeof kPoisonF64) == 0;
}

void fill_with_poison(Tensor& tensor) {
  if (tensor.dtype() == Dtype::f32)
    fill_with(tensor.bytes(), kPoisonF32);
  else
    fill_with(tensor.bytes(), kPoisonF64);
}

Outputs run_kernel(const Kernel& kernel, const Case& on) {
  const Case copy = on;  // NOLINT(performance-unnecessary-copy-initialization)
  return run_in_place(kernel, copy);
}

Outputs run_in_place(const Kernel& kernel, const Case& on) {
  Outputs outputs;
  outputs.out = Tensor(on.problem.dtype, on.problem.out_extents());
  fill_with_poison(outputs.out);
  ForwardViews views{on.q.ref(), on.k.ref(), on.v.ref(), outputs.out.ref(), {}};
  if (on.problem.lse != LseForm::none) {
    outputs.lse = Tensor(on.problem.dtype, on.problem.lse_extents());
    fill_with_poison(outputs.lse);
    views.lse = outputs.lse.ref();
  }
  outputs.status = kernel.forward(on.problem, on.tiling, views);
  return outputs;
}

std::optional<Verdict> stopped(const Outputs& outputs, const Case& on) {
  const Status& status = outputs.status;
  if (status.ok()) return std::nullopt;
  if (status.code() == StatusCode::unsupported) return Verdict::skipped(status.message());
  if (status.code() == StatusCode::all_masked_row &&
      on.problem.all_masked == AllMaskedPolicy::reject)
    return Verdict::skipped("rejected, as the policy asks: " + status.message());
  if (status.code() == StatusCode::invalid_argument &&
      on.tiling.merge.kind == MergeOrder::Kind::explicit_tree)
    return Verdict::skipped(status.message());
  return Verdict::of(Outcome::crash, "kernel returned an error: " + status.message());
}

}  // namespace attest::properties
