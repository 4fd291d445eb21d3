#include <fmt/core.h>

#include <map>
#include <memory>
#include <optional>

#include "cli/case_text.hpp"
#include "cli/check_run.hpp"
#include "cli/commands.hpp"
#include "cli/ledger.hpp"
#include "cli/replay_inputs.hpp"
#include "properties/diagnosis.hpp"

namespace attest::cli {
namespace {

struct Tally {
  std::int64_t passed = 0;
  std::int64_t violated = 0;
  std::int64_t undecided = 0;
  std::int64_t skipped = 0;
  std::int64_t known = 0;
  bool crashed = false;
};

/// What the ledger says, a kernel at a time.
class Known {
 public:
  explicit Known(const Ledger& ledger) : ledger_(ledger) {}

  /// The kernel without calls that are never launched.
  const Kernel& launched(const Kernel& kernel) {
    const auto [at, is_new] = kernels_.try_emplace(&kernel);
    if (is_new) {
      at->second.launched = without_never_launched(kernel, ledger_);
      at->second.check.emplace(ledger_, kernel.description().name);
    }
    return at->second.launched ? *at->second.launched : kernel;
  }
  void judge(const Kernel& kernel, const properties::Law& law, const properties::Case& on,
             Verdict& verdict) {
    kernels_.at(&kernel).check->judge(law, on, verdict);
  }
  /// Prints what became of the entries; the number of failures that are none any more.
  std::int64_t finish() const {
    std::int64_t passes = 0;
    for (const auto& [kernel, of] : kernels_) {
      for (const std::string& line : of.check->lines(true)) fmt::print("{}\n", line);
      passes += std::ssize(of.check->unexpected_passes());
    }
    return passes;
  }

 private:
  struct OfKernel {
    std::unique_ptr<Kernel> launched;
    std::optional<LedgerCheck> check;
  };
  const Ledger& ledger_;
  std::map<const Kernel*, OfKernel> kernels_;
};

void replay_one(const Kernel& given, const properties::Law& law, const properties::Case& on,
                Known& known, Tally& tally) {
  const Kernel& kernel = known.launched(given);
  reports::CaseResult result;
  result.law = law.name;
  result.problem = problem_text(on);
  result.verdict = properties::check_case(kernel, law, on);
  known.judge(given, law, on, result.verdict);
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
  else if (outcome == Outcome::known)
    ++tally.known;
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

  const auto ledger = read_ledger(options.known);
  if (!ledger.ok()) return usage(ledger.status().message());
  Known known(ledger.value());
  Tally tally;
  for (const ReplayInput& input : inputs.value()) {
    if (input.law != nullptr) {
      replay_one(*input.kernel, *input.law, input.value, known, tally);
      continue;
    }
    for (const properties::Law& law : properties::laws())
      replay_one(*input.kernel, law, input.value, known, tally);
  }
  const std::int64_t passes = known.finish();
  const bool nothing = tally.passed == 0 && tally.violated == 0 && tally.known == 0;
  const bool open = tally.undecided > 0 || nothing;
  fmt::print("{}  {} passed  {} violated  {} undecided  {} skipped{}\n",
             tally.violated > 0 || passes > 0 ? "FAILED"
             : open                           ? "UNDECIDED"
                                              : "PASSED",
             tally.passed, tally.violated, tally.undecided, tally.skipped,
             tally.known > 0 ? fmt::format("  {} known", tally.known) : std::string());
  if (tally.crashed) return kernel_crashed;
  if (tally.violated > 0) return violation;
  if (passes > 0) return known_passed;
  return open ? undecided : all_good;
}

}  // namespace attest::cli
