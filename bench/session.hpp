// One workload from its tensors to its table: judge, warm up, time in turns.
#pragma once

#include "bench/competitors.hpp"
#include "bench/rows.hpp"

namespace attest::bench {

struct SessionOptions {
  Effort effort;
  bool memory = true;      ///< measure extra memory, each in a process of its own
  std::string sizes_flag;  ///< how that process finds the same workload
};

/// A competitor that is wrong, or that cannot run, gets a note and no row.
WorkloadTable run_workload(const Workload& workload, const Field& field,
                           const SessionOptions& options);

/// For the process of its own: extra memory of one competitor.
Result<double> memory_of(const Workload& workload, const Field& field,
                         const std::string& competitor);

}  // namespace attest::bench
