// What `attest world` has found so far, as a file: a run continues from it after any end.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "attest/status.hpp"
#include "properties/fp4_world.hpp"

namespace attest::cli {

struct WorldKernel {
  std::string name;
  std::string version;
  std::vector<Tiling> tilings;  ///< made from the kernel, only their number is stored
  Index groups_done = 0;        ///< of the world
  properties::WorldTally found;
};

struct WorldState {
  std::string tier;
  Index keys = 0;
  std::vector<WorldKernel> kernels;
  double seconds = 0;  ///< of all runs together
};

/// Replaces DIR/world.json atomically.
Status save_world(const std::filesystem::path& folder, const WorldState& state);

/// What save_world writes.
std::string world_text(const WorldState& state);

/// Reads such a text; `name` is that of its file, for messages.
Result<WorldState> parse_world(std::string_view text, const std::string& name);

/// Reads DIR/world.json; the tilings stay empty. An error names the file and what is wrong; the
/// file of another build is one, since its counts would mix with those of other code.
Result<WorldState> load_world(const std::filesystem::path& folder);

}  // namespace attest::cli
