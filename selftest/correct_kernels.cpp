#include "selftest/correct_kernels.hpp"

#include "kernels/registry.hpp"
#include "mutants/correct_kernels.hpp"

namespace attest::selftest {

std::vector<const Kernel*> correct_kernels() {
  std::vector<const Kernel*> kernels;
  for (const auto& kernel : kernels::builtin_kernels()) kernels.push_back(kernel.get());
  for (const auto& kernel : mutants::correct_kernels()) kernels.push_back(kernel.get());
  return kernels;
}

}  // namespace attest::selftest
