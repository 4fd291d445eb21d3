#include "kernels/tiled_backward.hpp"

#include "kernels/backward.hpp"

namespace attest::kernels {

void tiled_backward(const Problem& problem, const Tiling& tiling, const BackwardViews& views) {
  with_real_type(problem.compute_dtype(), [&]<class Real>(Real) {
    const BackwardSteps<Real> steps;
    TiledBackward<Real>(steps, problem, tiling, views).run();
  });
}

}  // namespace attest::kernels
