// A line on standard error about the bad address that ends a worker.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "attest/status.hpp"
#include "foreign/guarded_memory.hpp"

namespace attest::foreign {

/// A tensor that foreign code works on.
struct GuardedTensor {
  std::string name;
  bool is_input = false;
  GuardedBlock block;
};

/// Begins a line that says why a worker died: what follows is for people.
inline constexpr std::string_view kFaultMark = "attest worker: ";
/// The same where the kernel broke its contract.
inline constexpr std::string_view kContractMark = "attest worker: contract: ";

/// From now on a fault of this process writes such a line before it kills the process, and memory
/// that is refused is said to be so. `memory_limit` in bytes; 0: there is none.
void report_faults(std::size_t memory_limit);

/// While it lives, faults are explained by these tensors.
class WatchedTensors {
 public:
  explicit WatchedTensors(const std::vector<GuardedTensor>& tensors);
  WatchedTensors(const WatchedTensors&) = delete;
  WatchedTensors& operator=(const WatchedTensors&) = delete;
  ~WatchedTensors();
};

/// "past the end of " and so on: what stands before the name of a tensor.
std::string_view side_text(Beside side);

}  // namespace attest::foreign
