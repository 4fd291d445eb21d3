#include <fmt/core.h>

#include <filesystem>
#include <optional>

#include "cli/case_store.hpp"
#include "cli/case_text.hpp"
#include "cli/commands.hpp"
#include "cli/replay_inputs.hpp"
#include "properties/diagnosis.hpp"
#include "properties/shrink.hpp"
#include "reports/report.hpp"

namespace attest::cli {
namespace {

struct Tally {
  std::int64_t shrunk = 0;
  std::int64_t passed = 0;
  std::int64_t undecided = 0;
  std::int64_t skipped = 0;
  bool crashed = false;
};

/// Prints the smallest case that was found and saves it where that is asked for.
Status show(const ReplayInput& input, const properties::Law& law, const properties::Shrunk& shrunk,
            const std::string& out) {
  const Kernel& kernel = *input.kernel;
  std::filesystem::path saved;
  if (!out.empty()) {
    const auto path =
        save_case(out, {kernel.description().name, std::string(law.name),
                        shrunk.smallest.values.seed, shrunk.verdict, shrunk.smallest});
    if (!path.ok()) return path.status();
    saved = path.value();
  }
  reports::CaseResult result;
  result.law = law.name;
  result.problem = problem_text(shrunk.smallest);
  result.verdict = shrunk.verdict;
  const std::vector<properties::Case> cases{shrunk.smallest, input.value};
  if (!gave_no_results(shrunk.verdict.outcome))
    result.acts_like = properties::acts_like(properties::explain(kernel, law, cases));
  fmt::print("{}", render_found_text(result));
  fmt::print("{}shrunk     {} tried, {} kept{}\n", values_text(shrunk.smallest), shrunk.tried,
             shrunk.kept, shrunk.finished ? "" : "; the time is over, a smaller case may exist");
  if (!saved.empty()) fmt::print("saved      {}\n", saved.string());
  fmt::print("replay     {}\n", replay_command_line(kernel, shrunk.smallest, law.name, saved));
  return {};
}

Status shrink_one(const ReplayInput& input, const properties::Law& law,
                  const ShrinkOptions& options, Tally& tally) {
  const Verdict verdict = properties::check_case(*input.kernel, law, input.value);
  if (!is_violation(verdict.outcome)) {
    ++(verdict.outcome == Outcome::ok        ? tally.passed
       : verdict.outcome == Outcome::skipped ? tally.skipped
                                             : tally.undecided);
    // Of every law, those that hold are no news.
    if (input.law != nullptr)
      fmt::print("{:<9} {:<30} nothing to shrink: the law is not violated  {}\n",
                 to_string(verdict.outcome), law.name, problem_text(input.value));
    return {};
  }
  const properties::Shrunk shrunk =
      properties::shrink(*input.kernel, law, input.value, verdict, options.time);
  ++tally.shrunk;
  tally.crashed = tally.crashed || gave_no_results(shrunk.verdict.outcome);
  return show(input, law, shrunk, options.out);
}

}  // namespace

int shrink_command(const ShrinkOptions& options) {
  const auto library = open_tensors(options.tensors);
  if (!library.ok()) return usage(library.status().message());
  const auto inputs = load_replay_inputs("shrink", options.what, library.value().get());
  if (!inputs.ok()) return usage(inputs.status().message());

  Tally tally;
  for (const ReplayInput& input : inputs.value())
    for (const properties::Law& law : properties::laws()) {
      if (input.law != nullptr && input.law != &law) continue;
      if (const Status status = shrink_one(input, law, options, tally); !status.ok())
        return usage(status.message());
    }
  const bool nothing = tally.passed == 0 && tally.shrunk == 0;
  const bool open = tally.undecided > 0 || nothing;
  fmt::print("{}  {} shrunk  {} passed  {} undecided  {} skipped\n",
             tally.shrunk > 0 ? "FAILED"
             : open           ? "UNDECIDED"
                              : "PASSED",
             tally.shrunk, tally.passed, tally.undecided, tally.skipped);
  if (tally.crashed) return kernel_crashed;
  if (tally.shrunk > 0) return violation;
  return open ? undecided : all_good;
}

}  // namespace attest::cli
