// The main job: every kernel on real tensors under several tilings, every row against its
// enclosure.
#pragma once

#include <functional>
#include <vector>

#include "attest/kernel.hpp"
#include "cli/run_stream.hpp"
#include "tensors/library.hpp"

namespace attest::cli {

struct AccuracyJob {
  std::vector<const Kernel*> kernels;
  const tensors::TensorLibrary* library = nullptr;
  int jobs = 1;
  std::function<void(const std::string&)> progress;  ///< called with the tensor's name
};

/// One row a kernel, dtype, tensor and tiling. The f64 rows run on the same values, exactly
/// converted. What a kernel does not declare is left out. Rows, statistics, and in the end the heat
/// map of the worst row go to `lines`, tensor by tensor. Fails when a kernel returns an error.
Status run_accuracy(const AccuracyJob& job, RunStream& lines);

}  // namespace attest::cli
