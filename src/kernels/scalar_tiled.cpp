#include "kernels/kernels.hpp"
#include "kernels/tiled_steps.hpp"

namespace attest::kernels {

std::unique_ptr<Kernel> make_scalar_sequential() {
  return std::make_unique<TiledKernel<TiledSteps>>(
      KernelDescription{"builtin:scalar_sequential", "1",
                        "tiled online softmax, one running summary a kv split, splits merged by "
                        "the merge tree",
                        scalar_capabilities()},
      SummaryScope::split);
}

std::unique_ptr<Kernel> make_scalar_tree() {
  return std::make_unique<TiledKernel<TiledSteps>>(
      KernelDescription{"builtin:scalar_tree", "1",
                        "every tile its own summary, merged by any given binary tree and order",
                        scalar_capabilities()},
      SummaryScope::tile);
}

}  // namespace attest::kernels
