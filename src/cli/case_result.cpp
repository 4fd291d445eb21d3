#include "cli/case_result.hpp"

#include "cli/case_text.hpp"

namespace attest::cli {

reports::CaseResult case_result(const std::string& kernel, const properties::Law& law,
                                const properties::Case& on, const Verdict& verdict) {
  reports::CaseResult result;
  result.kernel = kernel;
  result.law = law.name;
  // Literal values belong into the replay line; a problem is recognised by its shape.
  result.problem = problem_text(on);
  result.dtype = to_string(on.problem.dtype);
  result.mask = mask_word(on.problem.mask);
  result.variant = variant_word(on.problem);
  result.keys = on.problem.seq_kv;
  result.verdict = verdict;
  if (verdict.statistics && verdict.statistics->measured() > 0)
    result.ulp = verdict.statistics->largest;
  return result;
}

}  // namespace attest::cli
