// The tensors of a workload: the same numbers for every competitor.
#pragma once

#include <cstddef>
#include <vector>

#include "attest/problem.hpp"
#include "attest/tensor_view.hpp"

namespace attest::bench {

/// Memory on a cache line boundary, every byte zero and every page touched. std::vector does not
/// promise that boundary, and loads that straddle lines would cost some competitors more than
/// others.
class Buffer {
 public:
  explicit Buffer(std::size_t bytes);
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  Buffer(Buffer&&) = default;
  Buffer& operator=(Buffer&&) = default;
  ~Buffer() = default;

  void* data() const { return data_; }
  float* floats() const { return static_cast<float*>(data_); }
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_;
  std::vector<std::byte> memory_;
  void* data_;
};

/// Dense in the order of the problem's layout.
class Dense {
 public:
  Dense(const Layout& layout, Dtype dtype, const Extents& extents);
  TensorRef ref() const { return {buffer_.data(), dtype_, extents_, strides_}; }
  float* floats() const { return buffer_.floats(); }

 private:
  Dtype dtype_;
  Extents extents_;
  Strides strides_;
  Buffer buffer_;
};

/// Numbers of mean 0 and variance 1, near the normal distribution (sums of four uniform ones).
struct Inputs {
  explicit Inputs(const Problem& problem);
  Dense q;
  Dense k;
  Dense v;
  Dense dout;  ///< one element where there is no backward pass
};

}  // namespace attest::bench
