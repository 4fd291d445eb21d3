#include <fmt/core.h>

#include "cli/commands.hpp"
#include "cli/environment.hpp"
#include "cli/inputs.hpp"
#include "kernels/registry.hpp"
#include "properties/laws.hpp"

namespace attest::cli {

int doctor_command() {
  bool healthy = true;
  for (const auto& [name, value] : environment()) {
    fmt::print("{:<16} {}\n", name, value);
    const bool bad = (name == "rounding" && value != "to nearest") ||
                     (name == "subnormals" && value != "gradual underflow");
    if (bad)
      fmt::print("{:<16} the declared accuracy of the kernels does not hold here\n", "WARNING");
    healthy = healthy && !bad;
  }
  fmt::print("{:<16} {}\n", "kernels", kernels::builtin_kernels().size());
  fmt::print("{:<16} {}\n", "laws", properties::laws().size());
  const auto library = open_tensors({});
  if (!library.ok()) {
    fmt::print("{:<16} {}\n", "real tensors", library.status().message());
    healthy = false;
  } else {
    fmt::print("{:<16} {}\n", "real tensors",
               library.value() == nullptr
                   ? "none (name their folder with --tensors DIR or ATTEST_TENSORS)"
                   : std::to_string(library.value()->all().size()));
  }
  const auto stored = hard_cases(library.ok() ? library.value().get() : nullptr);
  fmt::print("{:<16} {}\n", "hard cases",
             stored.ok() ? std::to_string(stored.value().size()) : stored.status().message());
  return healthy && stored.ok() ? all_good : undecided;
}

}  // namespace attest::cli
