#include "kernels/registry.hpp"

#include <array>

#include "kernels/kernels.hpp"

namespace attest::kernels {

std::span<const std::unique_ptr<Kernel>> builtin_kernels() {
  static const std::array kernels{
      make_textbook(),           make_scalar_sequential(), make_scalar_tree(),
      make_eigen_materialised(), make_flash_bf16p(),       make_flash_bf16p_sum(),
      make_flash_f16p(),         make_flash_e4m3p(),       make_flash_e5m2p(),
      make_flash_exp2(),         make_flash_lazy(),        make_flash_reciprocal(),
      make_flash_bf16out(),      make_flash_flush(),       make_flash_combined()};
  return kernels;
}

const Kernel* find_builtin(std::string_view name) {
  for (const auto& kernel : builtin_kernels())
    if (kernel->description().name == name) return kernel.get();
  return nullptr;
}

}  // namespace attest::kernels
