#include "harness/usual_accuracy.hpp"

#include "kernels/registry.hpp"

namespace attest::harness {

DeclaredAccuracy usual_accuracy(const Problem& problem) {
  DeclaredAccuracy accuracy = kernels::find_builtin("builtin:textbook")->accuracy(problem);
  const double u = accuracy.format.unit_roundoff;
  accuracy.exp_relative_error = 4 * u;
  accuracy.log_relative_error = 4 * u;
  accuracy.scope = SummaryScope::any;
  accuracy.keys_of_a_part = 16;
  accuracy.ordered_sums = false;
  return accuracy;
}

}  // namespace attest::harness
