// What `attest sweep` measures: the error of one kernel along one parameter of a problem.
#pragma once

#include <atomic>
#include <functional>
#include <vector>

#include "attest/kernel.hpp"
#include "cli/sweep_range.hpp"
#include "reports/report.hpp"
#include "tensors/library.hpp"

namespace attest::cli {

struct SweepJob {
  const Kernel* kernel = nullptr;
  ProblemText base;
  SweepRange range;
  std::vector<Dtype> dtypes;  ///< one after the other; only of the base, if it is swept over
  Index cases = 1;            ///< a point: the values of case n have seed base + n
  const tensors::TensorLibrary* library = nullptr;
  int jobs = 1;
  const std::atomic<bool>* stop = nullptr;  ///< set: no new case
};

/// The problem of every point, dtype by dtype, before anything runs; fails where one does not fit.
Result<std::vector<std::pair<SweepValue, ProblemText>>> sweep_problems(const SweepJob& job);

/// One point; nothing when it was stopped. A call that the kernel does not take, and a row without
/// a bound, is a reason of the point. Fails when the kernel returns an error.
Result<std::optional<reports::SweepPoint>> measure_point(const SweepJob& job,
                                                         const SweepValue& value,
                                                         const ProblemText& problem);

}  // namespace attest::cli
