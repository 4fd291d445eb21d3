// A tiled kernel with other steps, described as a mutant.
#pragma once

#include <string>

#include "kernels/tiled_steps.hpp"
#include "mutants/mutants.hpp"

namespace attest::mutants {

inline KernelDescription describe(std::string_view name, std::string_view mistake) {
  return {"mutant:" + std::string(name),
          "1",
          std::string(mistake),
          {.dtypes = {Dtype::f32, Dtype::f64}}};
}

template <template <class> class Steps>
Mutant tiled_mutant(std::string_view name, std::string_view mistake, std::string_view killed_by,
                    SummaryScope scope = SummaryScope::split) {
  return {std::make_unique<kernels::TiledKernel<Steps>>(describe(name, mistake), scope), killed_by};
}

}  // namespace attest::mutants
