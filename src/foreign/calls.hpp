// The functions of a kernel that is not ours, wherever they run: in this process, in a worker, in
// a program behind a pipe.
#pragma once

#include "attest/kernel.hpp"
#include "attest/kernel_abi.h"

namespace attest::foreign {

/// Functions may be called from several threads at once.
/// Errors: what the kernel returns (unsupported, all_masked_row, kernel_failed); kernel_failed for
/// anything else that it does; where it runs in a process of its own kernel_ended, timed_out and
/// broken_contract as well.
class ForeignCalls {
 public:
  ForeignCalls() = default;
  ForeignCalls(const ForeignCalls&) = delete;
  ForeignCalls& operator=(const ForeignCalls&) = delete;
  virtual ~ForeignCalls() = default;

  virtual bool has_merge() const noexcept = 0;
  virtual bool has_partial() const noexcept = 0;

  virtual Status forward(const Problem& problem, const Tiling& tiling, const ForwardViews& views,
                         bool with_tiles) const = 0;
  virtual Status backward(const Problem& problem, const Tiling& tiling, const BackwardViews& views,
                          bool with_tiles) const = 0;
  virtual Status partial(const Problem& problem, KeyRange keys, const ForwardViews& inputs,
                         const attest_part& part) const = 0;
  virtual Status merge(const Problem& problem, const attest_part& left, const attest_part& right,
                       const attest_part& part) const = 0;
  /// What it states for this problem; `stated` holds that of the description.
  virtual Status accuracy(const Problem& problem, attest_accuracy& stated) const = 0;
};

}  // namespace attest::foreign
