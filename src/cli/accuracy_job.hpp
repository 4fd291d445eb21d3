// The main job: every kernel on real tensors under several tilings, every row against its
// enclosure.
#pragma once

#include <functional>
#include <vector>

#include "attest/kernel.hpp"
#include "reports/report.hpp"
#include "tensors/library.hpp"

namespace attest::cli {

struct AccuracyJob {
  std::vector<const Kernel*> kernels;
  const tensors::TensorLibrary* library = nullptr;
  int jobs = 1;
  std::function<void(const std::string&)> progress;  ///< called with the tensor's name
};

struct AccuracyFindings {
  std::vector<reports::AccuracyRow> rows;
  reports::Measurements measured;  ///< statistics and the heat map of the worst row
};

/// One row a kernel, dtype, tensor and tiling. The f64 rows run on the same values, exactly
/// converted. What a kernel does not declare is left out. Fails when a kernel returns an error.
Result<AccuracyFindings> run_accuracy(const AccuracyJob& job);

}  // namespace attest::cli
