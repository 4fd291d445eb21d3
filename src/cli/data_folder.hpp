// The real tensors that come with attest.
#pragma once

#include <filesystem>

namespace attest::cli {

/// Where they lie: what the project around a linked program says, beside the installed program, in
/// the source tree; empty if in none of these.
std::filesystem::path data_folder();

}  // namespace attest::cli
