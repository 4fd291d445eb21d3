#include "attest/problem.hpp"

#include <cmath>

#include "attest/element.hpp"

namespace attest {

double scale_value(const Problem& problem) {
  const Index dims = problem.head_dim + (problem.qv ? problem.head_dim_v : 0);
  const double exact = problem.scale.reciprocal_sqrt ? 1.0 / std::sqrt(static_cast<double>(dims))
                                                     : problem.scale.value;
  return rounded_to(problem.compute_dtype(), exact);
}

}  // namespace attest
