// What is special about this program: a project may build it with kernels of its own in it
// (cmake/attest_kernel_test.cmake).
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "attest/kernel.hpp"

namespace attest::cli {

struct LinkedProgram {
  std::string command = "attest";   ///< how a replay line calls it; $ATTEST_COMMAND
  std::filesystem::path data = {};  ///< folder of real tensors; empty: the usual ones
  std::vector<std::unique_ptr<Kernel>> kernels = {};  ///< the first is also called `linked`
};

/// The library has one without kernels. A program that defines its own gets that: the linker takes
/// from an archive only what is still missing.
const LinkedProgram& linked_program();

}  // namespace attest::cli
