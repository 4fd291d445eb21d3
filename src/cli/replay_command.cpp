#include <fmt/core.h>

#include <optional>

#include "cli/case_store.hpp"
#include "cli/case_text.hpp"
#include "cli/check_run.hpp"
#include "cli/commands.hpp"
#include "cli/inputs.hpp"

namespace attest::cli {
namespace {

namespace fs = std::filesystem;

struct Replay {
  std::string source;  ///< folder of a saved case; empty: a line on the command line
  std::string kernel;  ///< of a saved case; empty: the one on the command line
  properties::GivenCase given;
};

/// A saved case, or every saved case below a folder.
Result<std::vector<Replay>> load_folder(const fs::path& folder) {
  const auto found = find_case_folders(folder);
  if (!found.ok()) return found.status();
  if (found.value().empty())
    return Status{StatusCode::io_error, "no saved case below " + folder.string()};
  std::vector<Replay> replays;
  for (const fs::path& path : found.value()) {
    Result<StoredCase> stored = load_case(path);
    if (!stored.ok()) return stored.status();
    StoredCase value = std::move(stored).value();
    replays.push_back({path.string(), value.kernel, {std::move(value.value), value.law}});
  }
  return replays;
}

bool names_kernel(const std::string& argument) {
  return argument.starts_with("builtin:") || argument.starts_with("mutant:");
}

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
  ProblemText text = properties::to_text(on);
  if (text.values.kind == ValueRecipe::Kind::literal) text.values = {};
  result.problem = minimal_text(text);
  result.verdict = properties::check_case(kernel, law, on);
  const Outcome outcome = result.verdict.outcome;
  if (is_violation(outcome)) {
    ++tally.violated;
    tally.crashed = tally.crashed || outcome == Outcome::crash;
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
  std::string kernel_name;
  std::vector<Replay> replays;
  for (const std::string& argument : options.what) {
    if (names_kernel(argument)) {
      if (!kernel_name.empty())
        return usage(fmt::format("two kernels are named: {}, {}", kernel_name, argument));
      kernel_name = argument;
      continue;
    }
    std::error_code ignored;
    if (fs::is_directory(argument, ignored)) {
      auto loaded = load_folder(argument);
      if (!loaded.ok()) return usage(loaded.status().message());
      for (Replay& replay : loaded.value()) replays.push_back(std::move(replay));
      continue;
    }
    auto given = parse_given(argument, library.value().get());
    if (!given.ok()) return usage(given.status().message());
    replays.push_back({"", "", std::move(given).value()});
  }
  if (replays.empty()) return usage("replay needs a problem line or the folder of a saved case");

  Tally tally;
  for (const Replay& replay : replays) {
    const std::string& name = kernel_name.empty() ? replay.kernel : kernel_name;
    const auto wrong = [&](const std::string& what) {
      return usage(replay.source.empty() ? what : replay.source + "/case.json: " + what);
    };
    if (name.empty()) return wrong("replay of a problem line needs a kernel");
    const auto kernel = find_kernel(name);
    if (!kernel.ok()) return wrong(kernel.status().message());
    if (!replay.given.law.empty()) {
      const properties::Law* const law = properties::find_law(replay.given.law);
      if (law == nullptr) return wrong("unknown law '" + replay.given.law + "'");
      replay_one(*kernel.value(), *law, replay.given.value, tally);
      continue;
    }
    for (const properties::Law& law : properties::laws())
      replay_one(*kernel.value(), law, replay.given.value, tally);
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
