#include "kernels/simd_dispatch.hpp"

namespace attest::kernels {
namespace {

/// Asked once: under a hypervisor the CPUID instructions behind it take some 30 us.
const std::vector<std::int64_t>& targets_here() {
  static const std::vector<std::int64_t> targets = hwy::SupportedAndGeneratedTargets();
  return targets;
}

}  // namespace

std::vector<std::string> target_names() {
  std::vector<std::string> names;
  for (const std::int64_t target : targets_here()) names.emplace_back(hwy::TargetName(target));
  return names;
}

Result<std::int64_t> find_target(std::string_view name) {
  for (const std::int64_t target : targets_here())
    if (name.empty() || name == hwy::TargetName(target)) return target;
  std::string known;
  for (const std::string& each : target_names()) known += (known.empty() ? "" : ", ") + each;
  return invalid_argument("no target '" + std::string(name) + "' here; known: " + known);
}

}  // namespace attest::kernels
