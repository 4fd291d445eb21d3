// The functions of attest_kernel_table, wherever they run: in this process, in a worker, in a
// program behind a pipe.
#pragma once

#include <cstdint>

#include "attest/kernel_abi.h"
#include "attest/status.hpp"
#include "foreign/description_json.hpp"

namespace attest::foreign {

/// Functions may be called from several threads at once. Results other than ok mean what
/// attest::Status says; `row` is that of ATTEST_ALL_MASKED_ROW.
class Calls {
 public:
  Calls() = default;
  Calls(const Calls&) = delete;
  Calls& operator=(const Calls&) = delete;
  virtual ~Calls() = default;

  /// Not yet checked by read_description.
  virtual const Description& description() const = 0;

  virtual Status forward(const attest_problem& problem, const attest_tiling& tiling,
                         const attest_forward_tensors& tensors) const = 0;
  virtual Status backward(const attest_problem& problem, const attest_tiling& tiling,
                          const attest_backward_tensors& tensors) const = 0;
  virtual Status partial(const attest_problem& problem, const attest_tiling& tiling,
                         std::int64_t key_begin, std::int64_t key_end,
                         const attest_forward_tensors& tensors, const attest_part& part) const = 0;
  virtual Status merge(const attest_problem& problem, const attest_part& left,
                       const attest_part& right, const attest_part& part) const = 0;
  virtual Status accuracy(const attest_problem& problem, attest_accuracy& accuracy) const = 0;
  virtual void set_threads(std::int32_t count) const = 0;
};

}  // namespace attest::foreign
