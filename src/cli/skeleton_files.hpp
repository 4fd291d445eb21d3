// The files of src/cli/skeletons, with @NAME@ and @SOURCE@ still in them.
#pragma once

#include <string_view>

namespace attest::cli {

enum class SkeletonText {
  c_kernel,
  c_cmake,
  cpp_kernel,
  cpp_wrapper,
  cpp_cmake,
  readme,
  pipe_kernel,
  pipe_module,
  pipe_readme,
  header
};

std::string_view skeleton_text(SkeletonText text);

}  // namespace attest::cli
