// Holds the results of a dump against the truth.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/dump_kernel.hpp"
#include "properties/laws.hpp"

namespace attest::cli {

struct VerifyJob {
  const Dump* dump = nullptr;
  AssumedAccuracy assumed;
  std::string name;  ///< of the dump
  Index rows = 0;    ///< of out and lse that are judged; 0: all
  int jobs = 1;

  std::string kernel_name() const { return "dump:" + name; }
};

/// One tensor of results and what was found.
struct VerifiedTensor {
  std::string tensor;
  const properties::Law* law = nullptr;
  Verdict verdict;
  std::string acts_like;  ///< of a violation
};

struct VerifyReport {
  std::vector<VerifiedTensor> tensors;
  Index rows = 0;     ///< that were judged
  Index of_rows = 0;  ///< that there are
};

/// In the order out, lse, gradients.
VerifyReport run_verify(const VerifyJob& job);

}  // namespace attest::cli
