// What replay and shrink take: a kernel, problem lines, and folders of saved cases.
#pragma once

#include <string>
#include <vector>

#include "cli/inputs.hpp"

namespace attest::cli {

struct ReplayInput {
  const Kernel* kernel = nullptr;
  const properties::Law* law = nullptr;  ///< null: every law
  properties::Case value;
};

/// All of them in the order of the words; a folder stands for every saved case below it. A kernel
/// that is named replaces that of every saved case. `command` is named in errors.
Result<std::vector<ReplayInput>> load_replay_inputs(const std::string& command,
                                                    const std::vector<std::string>& words,
                                                    const tensors::TensorLibrary* library);

}  // namespace attest::cli
