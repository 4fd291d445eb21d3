// bound.*: output and lse lie within the derived bound of the exact result.
#include "properties/judge.hpp"
#include "properties/laws.hpp"

namespace attest::properties {
namespace {

Verdict within_bound(const Kernel& kernel, const Case& on, Part part) {
  const Outputs outputs = run_kernel(kernel, on);
  if (const auto verdict = stopped(outputs, on)) return *verdict;
  return judge_outputs(kernel, on, outputs, part);
}

}  // namespace

Verdict bound_out(const Kernel& kernel, const Case& on) {
  return within_bound(kernel, on, Part::out);
}

Verdict bound_lse(const Kernel& kernel, const Case& on) {
  if (on.problem.lse == LseForm::none) return Verdict::skipped("the problem asks for no lse");
  return within_bound(kernel, on, Part::lse);
}

}  // namespace attest::properties
