#include "bench/inputs.hpp"

#include <memory>

#include "attest/element.hpp"
#include "attest/random.hpp"

namespace attest::bench {
namespace {

constexpr std::size_t kLine = 64;

/// Four 16-bit parts of one draw; their sum has variance 4 (2^32 - 1) / 12.
double nearly_normal(SplitMix64& random) {
  const std::uint64_t bits = random.next();
  const std::uint64_t sum =
      (bits & 0xFFFF) + ((bits >> 16) & 0xFFFF) + ((bits >> 32) & 0xFFFF) + (bits >> 48);
  return (static_cast<double>(sum) - 131070) / 37837.2;
}

void fill(const TensorRef& tensor, std::uint64_t seed) {
  SplitMix64 random(seed);
  const Extents& of = tensor.extents;
  const Index elements = of[0] * of[1] * of[2] * of[3];
  for (Index i = 0; i < elements; ++i)
    store_element(
        tensor.dtype,
        static_cast<std::byte*>(tensor.data) + i * static_cast<Index>(size_of(tensor.dtype)),
        nearly_normal(random));
}

}  // namespace

Buffer::Buffer(std::size_t bytes)
    : bytes_((bytes + kLine - 1) / kLine * kLine), memory_(bytes_ + kLine), data_(memory_.data()) {
  std::size_t space = memory_.size();
  std::align(kLine, bytes_, data_, space);
}

Dense::Dense(const Layout& layout, Dtype dtype, const Extents& extents)
    : dtype_(dtype),
      extents_(extents),
      strides_(layout_strides(layout, extents)),
      buffer_(static_cast<std::size_t>(layout_elements(layout, extents)) * size_of(dtype)) {}

Inputs::Inputs(const Problem& problem)
    : q(problem.layout, problem.dtype, problem.q_extents()),
      k(problem.layout, problem.k_dtype(), problem.k_extents()),
      v(problem.layout, problem.v_dtype(), problem.v_extents()),
      dout(problem.layout, problem.out_dtype(),
           problem.backward ? problem.out_extents() : Extents{1, 1, 1, 1}) {
  fill(q.ref(), 1);
  fill(k.ref(), 2);
  fill(v.ref(), 3);
  fill(dout.ref(), 4);
}

}  // namespace attest::bench
