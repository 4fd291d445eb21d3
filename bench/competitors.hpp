// Who takes part in a workload.
#pragma once

#include <string>
#include <vector>

#include "attest/kernel.hpp"
#include "bench/call.hpp"

namespace attest::bench {

struct Field {
  std::vector<const Kernel*> kernels;
  std::vector<Competitor> peers;
};

/// Built-in kernels by name; a name also stands for all that begin with it and a slash. An error
/// for a name that stands for nothing.
Result<std::vector<const Kernel*>> kernels_named(const std::vector<std::string>& names);

/// The limit of the machine first, then the peers, then the kernels.
std::vector<Competitor> competitors(const Field& field, const Workload& workload);

}  // namespace attest::bench
