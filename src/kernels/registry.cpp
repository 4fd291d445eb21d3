#include "kernels/registry.hpp"

#include <array>
#include <utility>
#include <vector>

#include "kernels/kernels.hpp"

namespace attest::kernels {

namespace {

std::vector<std::unique_ptr<Kernel>> make_all() {
  using Factory = std::unique_ptr<Kernel> (*)();
  constexpr std::array<Factory, 15> factories{
      make_textbook,      make_scalar_sequential, make_scalar_tree,   make_eigen_materialised,
      make_flash_bf16p,   make_flash_bf16p_sum,   make_flash_f16p,    make_flash_e4m3p,
      make_flash_e5m2p,   make_flash_exp2,        make_flash_lazy,    make_flash_reciprocal,
      make_flash_bf16out, make_flash_flush,       make_flash_combined};
  std::vector<std::unique_ptr<Kernel>> kernels;
  for (const Factory make : factories) kernels.push_back(make());
  using OfTargets = std::vector<std::unique_ptr<Kernel>> (*)();
  for (const OfTargets make :
       {make_simd_kernels, make_simd_canonical_kernels, make_simd_order_free_kernels})
    for (std::unique_ptr<Kernel>& kernel : make()) kernels.push_back(std::move(kernel));
  return kernels;
}

}  // namespace

std::span<const std::unique_ptr<Kernel>> builtin_kernels() {
  static const std::vector<std::unique_ptr<Kernel>> kernels = make_all();
  return kernels;
}

const Kernel* find_builtin(std::string_view name) {
  for (const auto& kernel : builtin_kernels())
    if (kernel->description().name == name) return kernel.get();
  return nullptr;
}

}  // namespace attest::kernels
