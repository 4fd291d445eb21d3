#include "kernels/registry.hpp"

#include <array>

#include "kernels/kernels.hpp"

namespace attest::kernels {

std::span<const std::unique_ptr<Kernel>> builtin_kernels() {
  static const std::array kernels{make_textbook(), make_scalar_sequential(), make_scalar_tree(),
                                  make_eigen_materialised()};
  return kernels;
}

const Kernel* find_builtin(std::string_view name) {
  for (const auto& kernel : builtin_kernels())
    if (kernel->description().name == name) return kernel.get();
  return nullptr;
}

}  // namespace attest::kernels
