#include "harness/attention.hpp"

#include "cli/case_text.hpp"
#include "harness/given_results.hpp"
#include "harness/usual_accuracy.hpp"
#include "properties/check.hpp"
#include "properties/diagnosis.hpp"
#include "reports/render_case.hpp"

namespace attest::harness {
namespace {

/// Longer ones help nobody in the output of a test.
constexpr std::size_t kLongestReplay = 1024;

std::string described(const Kernel& kernel, const properties::Law& law, const properties::Case& of,
                      const Verdict& verdict) {
  reports::CaseResult result;
  result.law = law.name;
  result.problem = cli::problem_text(of);
  result.verdict = verdict;
  if (is_violation(verdict.outcome))
    result.acts_like = properties::acts_like(properties::explain(kernel, law, of));
  std::string text = result.law + ": " + std::string(to_string(verdict.outcome)) + "\n" +
                     reports::render_case_text(result);
  const std::string replay = cli::replay_command_line(kernel, of, law.name, {});
  if (replay.size() > kLongestReplay)
    return text + "  the tensors are too large for a replay line\n";
  return text + cli::values_text(of) + "replay     " + replay + "\n";
}

AttentionVerdict refused(const std::string& why) {
  AttentionVerdict verdict;
  verdict.out = Verdict::of(Outcome::unproven, why);
  verdict.message = "this cannot be judged: " + why + "\n";
  return verdict;
}

}  // namespace

AttentionVerdict judge(const Attention& computed) {
  const auto& [problem, views, accuracy] = computed;
  if (Status status = check_call(all_capabilities(), problem, {}, views); !status.ok())
    return refused(status.message());
  if (Status status = properties::check_size(problem); !status.ok())
    return refused(status.message());
  const properties::Case of = case_of(problem, views);
  const GivenResults kernel(of, views, accuracy ? *accuracy : usual_accuracy(problem));

  AttentionVerdict result;
  result.holds = true;
  const auto judged = [&](std::string_view name) {
    const properties::Law& law = *properties::find_law(name);
    Verdict verdict = properties::check_case(kernel, law, of);
    if (verdict.outcome == Outcome::ok || verdict.outcome == Outcome::weak) return verdict;
    result.holds = false;
    result.message += described(kernel, law, of, verdict);
    return verdict;
  };
  result.out = judged("bound.out");
  if (problem.lse != LseForm::none) result.lse = judged("bound.lse");
  return result;
}

}  // namespace attest::harness
