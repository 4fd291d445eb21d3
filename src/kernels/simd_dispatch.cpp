#include "kernels/simd_dispatch.hpp"

namespace attest::kernels {

std::vector<std::string> target_names() {
  std::vector<std::string> names;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets())
    names.emplace_back(hwy::TargetName(target));
  return names;
}

Result<std::int64_t> find_target(std::string_view name) {
  std::string known;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    if (name.empty() || name == hwy::TargetName(target)) return target;
    known += (known.empty() ? "" : ", ") + std::string(hwy::TargetName(target));
  }
  return invalid_argument("no target '" + std::string(name) + "' here; known: " + known);
}

}  // namespace attest::kernels
