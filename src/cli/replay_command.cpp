#include <fmt/core.h>

#include "cli/case_text.hpp"
#include "cli/check_run.hpp"
#include "cli/commands.hpp"
#include "cli/replay_inputs.hpp"
#include "properties/diagnosis.hpp"

namespace attest::cli {
namespace {

struct Tally {
  std::int64_t passed = 0;
  std::int64_t violated = 0;
  std::int64_t undecided = 0;
  std::int64_t skipped = 0;
  bool crashed = false;
};

void replay_one(const Kernel& kernel, const properties::Law& law, const properties::Case& on,
                Tally& tally) {
  reports::CaseResult result;
  result.law = law.name;
  result.problem = problem_text(on);
  result.verdict = properties::check_case(kernel, law, on);
  const Outcome outcome = result.verdict.outcome;
  if (is_violation(outcome)) {
    ++tally.violated;
    tally.crashed = tally.crashed || gave_no_results(outcome);
    if (!gave_no_results(outcome))
      result.acts_like = properties::acts_like(properties::explain(kernel, law, on));
    fmt::print("{}", render_found_text(result));
    fmt::print("{}  replay  {}\n", values_text(on), replay_command_line(kernel, on, law.name, {}));
    return;
  }
  if (outcome == Outcome::ok)
    ++tally.passed;
  else if (outcome == Outcome::skipped)
    ++tally.skipped;
  else
    ++tally.undecided;
  fmt::print("{:<9} {:<30} {}{}{}\n", to_string(outcome), law.name,
             outcome == Outcome::ok ? fmt::format("err/bound {:.3g}", result.verdict.worst_ratio)
                                    : result.verdict.reason,
             "  ", result.problem);
}

}  // namespace

int replay_command(const ReplayOptions& options) {
  const auto library = open_tensors(options.tensors);
  if (!library.ok()) return usage(library.status().message());
  const auto inputs = load_replay_inputs("replay", options.what, library.value().get());
  if (!inputs.ok()) return usage(inputs.status().message());

  Tally tally;
  for (const ReplayInput& input : inputs.value()) {
    if (input.law != nullptr) {
      replay_one(*input.kernel, *input.law, input.value, tally);
      continue;
    }
    for (const properties::Law& law : properties::laws())
      replay_one(*input.kernel, law, input.value, tally);
  }
  const bool nothing = tally.passed == 0 && tally.violated == 0;
  const bool open = tally.undecided > 0 || nothing;
  fmt::print("{}  {} passed  {} violated  {} undecided  {} skipped\n",
             tally.violated > 0 ? "FAILED"
             : open             ? "UNDECIDED"
                                : "PASSED",
             tally.passed, tally.violated, tally.undecided, tally.skipped);
  if (tally.crashed) return kernel_crashed;
  if (tally.violated > 0) return violation;
  return open ? undecided : all_good;
}

}  // namespace attest::cli
