// What is timed: problems of production size, and how much work each of them is.
#pragma once

#include <regex>
#include <string>
#include <vector>

#include "attest/problem.hpp"
#include "attest/tiling.hpp"

namespace attest::bench {

enum class Pass { forward, backward };
enum class Unit { gflops, gbytes };  ///< gbytes: of k and v, each read once

struct Workload {
  std::string name;
  Problem problem;
  Pass pass = Pass::forward;
  Unit unit = Unit::gflops;
  int threads = 1;  ///< above 1: kernels run with one thread and with so many; by the wall clock
  bool beside_dense = false;  ///< kernels run without the mask, too
};

/// Useful flops, or bytes, of one call. A causal mask counts half of the square, a block mask its
/// share of it.
double work_of(const Workload& workload);

/// Tiles as long as they can be: a kernel cuts them where shorter ones are faster.
Tiling free_tiling(const Problem& problem);

enum class Sizes { tiny, quick, full, long_run };

/// The table of workloads whose name `filter` finds something in. `tiny` has one of each kind, too
/// small to time; `long_run` adds squares up to 65536 keys.
std::vector<Workload> workloads(Sizes sizes, const std::regex& filter);

/// A problem of the same kind that is small enough to be judged in every row.
Workload small_like(const Workload& workload);

/// The workload without its mask.
Workload without_mask(Workload workload);

}  // namespace attest::bench
