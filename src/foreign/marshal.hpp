// A call as attest/kernel_abi.h has it. Each object owns what its struct points to, apart from the
// elements of tensors, and lives as long as the call.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "attest/kernel.hpp"
#include "attest/kernel_abi.h"

namespace attest::foreign {

std::int32_t dtype_number(Dtype dtype);

/// Precondition: the problem is valid.
class CProblem {
 public:
  explicit CProblem(const Problem& problem);
  CProblem(const CProblem&) = delete;
  CProblem& operator=(const CProblem&) = delete;

  const attest_problem* get() const noexcept { return &c_; }

 private:
  void shape(const Problem& problem);
  void mask(const Problem& problem);
  void terms(const Problem& problem);
  void descales(const Problem& problem);
  void results(const Problem& problem);
  void storage(const Problem& problem);

  attest_problem c_{};
  std::string text_;
  std::vector<std::int64_t> query_lengths_, key_lengths_, diagonal_, alibi_diagonal_;
  std::vector<std::int64_t> query_batch_, query_row_begin_, key_batch_, key_row_begin_, page_table_;
  std::vector<std::uint8_t> bits_, blocks_;
  std::vector<double> slopes_, descale_q_, descale_k_, descale_v_;
};

/// Precondition: the tiling is valid for the problem. `with_tiles`: the tree over tiles, too.
class CTiling {
 public:
  CTiling(const Problem& problem, const Tiling& tiling, bool with_tiles);
  CTiling(const CTiling&) = delete;
  CTiling& operator=(const CTiling&) = delete;

  const attest_tiling* get() const noexcept { return &c_; }

 private:
  attest_tiling c_{};
  std::vector<std::int64_t> bounds_;
  MergeTree of_splits_, of_tiles_;
};

/// One tensor; null where the view has no extents.
class CTensor {
 public:
  CTensor() = default;
  template <class Void>
  explicit CTensor(const ErasedTensorView<Void>& view)
      : CTensor(const_cast<void*>(static_cast<const void*>(view.data)), view.dtype, view.extents,
                view.strides) {}

  const attest_tensor* get() const noexcept { return exists_ ? &c_ : nullptr; }

 private:
  CTensor(void* data, Dtype dtype, const Extents& extents, const Strides& strides);

  bool exists_ = false;
  attest_tensor c_{};
};

class CForward {
 public:
  CForward(const Problem& problem, const ForwardViews& views);
  CForward(const CForward&) = delete;
  CForward& operator=(const CForward&) = delete;

  const attest_forward_tensors* get() const noexcept { return &c_; }

 private:
  CTensor q_, k_, v_, out_, lse_, bias_, sink_, qv_;
  attest_forward_tensors c_{};
};

class CBackward {
 public:
  CBackward(const Problem& problem, const BackwardViews& views);
  CBackward(const CBackward&) = delete;
  CBackward& operator=(const CBackward&) = delete;

  const attest_backward_tensors* get() const noexcept { return &c_; }

 private:
  CTensor q_, k_, v_, out_, lse_, dout_, dlse_, bias_, sink_, dq_, dk_, dv_, dbias_, dsink_;
  attest_backward_tensors c_{};
};

}  // namespace attest::foreign
