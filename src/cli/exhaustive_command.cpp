#include "cli/exhaustive_command.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "cli/commands.hpp"
#include "cli/exhaustive_run.hpp"
#include "cli/exhaustive_state.hpp"
#include "cli/inputs.hpp"
#include "cli/interruption.hpp"
#include "kernels/simd_dispatch.hpp"
#include "reports/numbers.hpp"
#include "reports/table.hpp"

namespace attest::cli {
namespace {

using reference::LargestError;

/// Blocks that a thread judges before the state is looked after; some tenths of a second.
constexpr Index kBlocksAtOnce = 128;

/// A kill costs at most this much work, and less at the beginning of a run.
double seconds_between_saves(double elapsed) {
  return std::min(5.0, 0.05 + 0.1 * elapsed);
}

Result<std::vector<std::string>> wanted_targets(const std::vector<std::string>& names) {
  if (names.empty()) return kernels::target_names();
  for (const std::string& name : names)
    if (const auto found = kernels::find_target(name); !found.ok()) return found.status();
  return names;
}

/// A state that goes on must be one of the same question.
Result<ExhaustiveState> begin_or_continue(const ExhaustiveOptions& options,
                                          const std::vector<std::string>& targets) {
  if (!options.state.empty() && std::filesystem::exists(options.state)) {
    Result<ExhaustiveState> stored = load_exhaustive(options.state);
    if (!stored.ok()) return stored.status();
    std::vector<std::string> names;
    for (const ExhaustiveTarget& target : stored.value().targets) names.push_back(target.name);
    if (stored.value().function != options.function || names != targets)
      return invalid_argument(options.state + ": is a run of another function or other targets");
    if (stored.value().blocks_done < 0 || stored.value().blocks_done > kBlocks)
      return invalid_argument(options.state + ": names blocks that there are not");
    return stored;
  }
  ExhaustiveState state{options.function, 0, 0, {}};
  for (const std::string& target : targets) state.targets.push_back({target, {}});
  return state;
}

class Progress {
 public:
  explicit Progress(const ExhaustiveState& state)
      : begin_(std::chrono::steady_clock::now()),
        is_terminal_(::isatty(STDERR_FILENO) != 0),
        blocks_before_(state.blocks_done) {}

  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

  /// A line that is rewritten on a terminal, and one a minute elsewhere.
  void show(const ExhaustiveState& state) {
    const double now = seconds();
    if (now - shown_ < (is_terminal_ ? 0.2 : 60)) return;
    shown_ = now;
    double worst = 0;
    for (const ExhaustiveTarget& target : state.targets)
      worst = std::max(worst, target.found.ulp.error);
    const double rate = static_cast<double>(state.blocks_done - blocks_before_) / now;
    fmt::print(stderr, "{}{}  {:.2f} %  {:.3g} arguments/s  {} left  largest error {:.4f} ulp{}",
               is_terminal_ ? "\r\x1b[K" : "", state.function,
               100.0 * static_cast<double>(state.blocks_done) / static_cast<double>(kBlocks),
               rate * static_cast<double>(kBlockArguments),
               reports::seconds_text(static_cast<double>(kBlocks - state.blocks_done) / rate),
               worst, is_terminal_ ? "" : "\n");
    std::fflush(stderr);
  }
  void clear() const {
    if (is_terminal_) fmt::print(stderr, "\r\x1b[K");
  }

 private:
  std::chrono::steady_clock::time_point begin_;
  bool is_terminal_;
  Index blocks_before_;
  double shown_ = 0;
};

Status run_blocks(ExhaustiveState& state, const NamedFunction& function, int threads,
                  const std::string& path) {
  const std::atomic<bool>& stop = watch_for_interruption();
  std::vector<std::string> targets;
  for (const ExhaustiveTarget& target : state.targets) targets.push_back(target.name);
  Progress progress(state);
  const double seconds_before = state.seconds;
  double saved = 0;
  while (!stop && state.blocks_done < kBlocks) {
    const Index last = std::min(kBlocks, state.blocks_done + threads * kBlocksAtOnce);
    for (const auto& block : judge_blocks(function, targets, state.blocks_done, last, threads))
      for (std::size_t i = 0; i < targets.size(); ++i) state.targets[i].found.append(block[i]);
    state.blocks_done = last;
    state.seconds = seconds_before + progress.seconds();
    progress.show(state);
    if (path.empty() || progress.seconds() - saved < seconds_between_saves(progress.seconds()))
      continue;
    saved = progress.seconds();
    if (Status status = save_exhaustive(path, state); !status.ok()) return status;
  }
  progress.clear();
  return path.empty() ? Status{} : save_exhaustive(path, state);
}

/// An error that was found, with its argument; small errors were not looked at.
std::string error_text(const LargestError& largest) {
  if (largest.error <= reference::kSmallError) return fmt::format("<= {}", largest.error);
  return fmt::format("{:.4f} at {:a}", largest.error, largest.x);
}

std::string table_text(const ExhaustiveState& state, const NamedFunction& function) {
  using enum reports::Column::Kind;
  reports::Table table;
  table.columns = {{"function", text},        {"target", text},
                   {"arguments", number},     {"largest error, ulp", ratio},
                   {"relative, u", ratio},    {"declared", number},
                   {"subnormal, ulp", ratio}, {"declared", number},
                   {"not rounded", number},   {"wrong", number},
                   {"declared holds", text}};
  for (const ExhaustiveTarget& target : state.targets) {
    const kernels::MathError declared = declared_of(function, target.name);
    table.rows.push_back({state.function, target.name, std::to_string(target.found.arguments),
                          error_text(target.found.ulp), error_text(target.found.relative),
                          fmt::format("{}", declared.relative), error_text(target.found.subnormal),
                          fmt::format("{}", declared.subnormal),
                          std::to_string(target.found.not_rounded),
                          std::to_string(target.found.wrong),
                          declared_holds(function, target.name, target.found) ? "yes" : "NO"});
  }
  return text_of(table);
}

int finish(const ExhaustiveState& state, const NamedFunction& function, const std::string& path) {
  fmt::print("{}\n", table_text(state, function));
  bool all_hold = true;
  for (const ExhaustiveTarget& target : state.targets) {
    all_hold = all_hold && declared_holds(function, target.name, target.found);
    if (target.found.first_wrong)
      fmt::print("wrong value  {}  at {:a}\n", target.name, *target.found.first_wrong);
  }
  const bool complete = state.blocks_done == kBlocks;
  fmt::print("{}  {}\n",
             !all_hold  ? "FAILED"
             : complete ? "PASSED"
                        : "UNDECIDED",
             reports::seconds_text(state.seconds));
  if (!complete)
    fmt::print("interrupted at {:.2f} %; {}\n",
               100.0 * static_cast<double>(state.blocks_done) / static_cast<double>(kBlocks),
               path.empty() ? "nothing was kept (--state FILE)" : "the same command goes on");
  if (!all_hold) return violation;
  return complete ? all_good : undecided;
}

}  // namespace

int exhaustive_command(const ExhaustiveOptions& options) {
  const std::optional<NamedFunction> function = find_function(options.function);
  if (!function)
    return usage("unknown function '" + options.function +
                 "'; known: exp, exp_non_positive, tanh, log");
  const Result<std::vector<std::string>> targets = wanted_targets(options.targets);
  if (!targets.ok()) return usage(targets.status().message());
  Result<ExhaustiveState> state = begin_or_continue(options, targets.value());
  if (!state.ok()) return usage(state.status().message());
  const int threads = resolve_jobs(options.threads);
  fmt::print("attest {}  {} of every float, {} threads (double is sampled by the unit tests)\n\n",
             ATTEST_VERSION, options.function, threads);
  std::fflush(stdout);
  const Status status = run_blocks(state.value(), *function, threads, options.state);
  if (!status.ok()) return usage(status.message());
  return finish(state.value(), *function, options.state);
}

}  // namespace attest::cli
