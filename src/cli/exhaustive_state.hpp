// What `attest bench --exhaustive` has found so far, as a file: a run continues from it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "attest/status.hpp"
#include "reference/elementary_error.hpp"

namespace attest::cli {

struct ExhaustiveTarget {
  std::string name;
  reference::ElementaryTally found;
};

struct ExhaustiveState {
  std::string function;
  Index blocks_done = 0;  ///< of the float bit patterns, in ascending order
  double seconds = 0;     ///< of all runs together
  std::vector<ExhaustiveTarget> targets;
};

/// Replaces the file atomically.
Status save_exhaustive(const std::filesystem::path& path, const ExhaustiveState& state);

/// What save_exhaustive writes.
std::string exhaustive_text(const ExhaustiveState& state);

/// Reads such a text; `name` is that of its file, for messages.
Result<ExhaustiveState> parse_exhaustive(std::string_view text, const std::string& name);

/// An error names the file and what is wrong; the file of another build is one.
Result<ExhaustiveState> load_exhaustive(const std::filesystem::path& path);

}  // namespace attest::cli
