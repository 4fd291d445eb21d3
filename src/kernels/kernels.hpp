// The built-in kernels, one factory a line.
#pragma once

#include <memory>
#include <vector>

#include "attest/kernel.hpp"

namespace attest::kernels {

std::unique_ptr<Kernel> make_textbook();            ///< three passes, materialised weights
std::unique_ptr<Kernel> make_scalar_sequential();   ///< one running summary a kv split
std::unique_ptr<Kernel> make_scalar_tree();         ///< one summary a tile, merged by any tree
std::unique_ptr<Kernel> make_eigen_materialised();  ///< dense matrix products of Eigen

/// One for each instruction set that was compiled and that this machine has, best first.
std::vector<std::unique_ptr<Kernel>> make_simd_kernels();
/// The same for those whose bits depend on no split, and on no order either.
std::vector<std::unique_ptr<Kernel>> make_simd_canonical_kernels();
std::vector<std::unique_ptr<Kernel>> make_simd_order_free_kernels();

// The tiled pass in the forms that accelerators use; what each does differently: flash.cpp.
std::unique_ptr<Kernel> make_flash_bf16p();
std::unique_ptr<Kernel> make_flash_bf16p_sum();
std::unique_ptr<Kernel> make_flash_f16p();
std::unique_ptr<Kernel> make_flash_e4m3p();
std::unique_ptr<Kernel> make_flash_e5m2p();
std::unique_ptr<Kernel> make_flash_exp2();
std::unique_ptr<Kernel> make_flash_lazy();
std::unique_ptr<Kernel> make_flash_reciprocal();
std::unique_ptr<Kernel> make_flash_bf16out();
std::unique_ptr<Kernel> make_flash_flush();
std::unique_ptr<Kernel> make_flash_combined();

}  // namespace attest::kernels
