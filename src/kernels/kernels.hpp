// The built-in kernels, one factory a line.
#pragma once

#include <memory>

#include "attest/kernel.hpp"

namespace attest::kernels {

std::unique_ptr<Kernel> make_textbook();            ///< three passes, materialised weights
std::unique_ptr<Kernel> make_scalar_sequential();   ///< one running summary a kv split
std::unique_ptr<Kernel> make_scalar_tree();         ///< one summary a tile, merged by any tree
std::unique_ptr<Kernel> make_eigen_materialised();  ///< dense matrix products of Eigen

}  // namespace attest::kernels
