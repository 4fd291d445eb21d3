// For the targets of attest itself, which choose among the built-in kernels.
#include "fuzz/law_target.hpp"

const attest::Kernel* attest::fuzz::linked_kernel() {
  return nullptr;
}
