#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "cli/case_text.hpp"
#include "cli/check_run.hpp"
#include "cli/commands.hpp"
#include "cli/inputs.hpp"
#include "cli/interruption.hpp"
#include "cli/world_progress.hpp"
#include "cli/world_state.hpp"
#include "kernels/registry.hpp"
#include "properties/every_tiling.hpp"
#include "reports/numbers.hpp"
#include "reports/table.hpp"

namespace attest::cli {
namespace {

using properties::Fp4World;
using properties::WorldElement;

/// A kill costs at most this much work, and less at the beginning of a run.
double seconds_between_saves(double elapsed) {
  return std::min(5.0, 0.05 + 0.1 * elapsed);
}

Result<Index> keys_of_tier(const std::string& tier) {
  if (tier == "smoke") return Index{1};
  if (tier == "ci") return Index{2};
  if (tier == "nightly") return Index{3};
  return invalid_argument("unknown tier '" + tier + "'; known: smoke, ci, nightly");
}

WorldKernel begin_kernel(const Kernel& kernel, const Fp4World& world) {
  const Problem problem = world.wide_case(0).problem;
  return {
      kernel.description().name,
      kernel.description().version,
      properties::every_tiling(kernel.description().capabilities,
                               properties::scope_of_tree(kernel.accuracy(problem)), world.keys()),
      0,
      {}};
}

Result<WorldState> begin_state(const WorldOptions& options, const std::string& tier,
                               const Fp4World& world) {
  WorldState state{tier, world.keys(), {}, 0};
  if (options.kernel == "all") {
    for (const auto& kernel : kernels::builtin_kernels())
      state.kernels.push_back(begin_kernel(*kernel, world));
    return state;
  }
  const Result<const Kernel*> kernel = find_kernel(options.kernel);
  if (!kernel.ok()) return kernel.status();
  const Status support =
      check_support(kernel.value()->description().capabilities, world.wide_case(0).problem);
  if (!support.ok()) return invalid_argument(options.kernel + ": " + support.message());
  state.kernels.push_back(begin_kernel(*kernel.value(), world));
  return state;
}

/// Whether a stored element can be one of this world.
bool is_in_world(const std::optional<WorldElement>& element, const WorldKernel& kernel,
                 const Fp4World& world) {
  return !element || (element->pair >= 0 && element->pair < world.pairs() && element->column >= 0 &&
                      element->column < world.columns() && element->tiling < kernel.tilings.size());
}

/// A stored state with its tilings, once it is known to be one of this build and these kernels.
Result<WorldState> continued_state(const WorldOptions& options, WorldState stored,
                                   const Fp4World& world) {
  const auto refused = [&](const std::string& what) {
    return invalid_argument(options.resume + "/world.json: " + what);
  };
  if (stored.kernels.empty()) return refused("has no kernel");
  for (WorldKernel& kernel : stored.kernels) {
    const Result<const Kernel*> found = find_kernel(kernel.name);
    if (!found.ok()) return refused(found.status().message());
    WorldKernel fresh = begin_kernel(*found.value(), world);
    if (fresh.version != kernel.version || fresh.tilings.size() != kernel.tilings.size())
      return refused("has another version of " + kernel.name + " than this program");
    kernel.tilings = std::move(fresh.tilings);
    const properties::WorldTally& tally = kernel.found;
    if (kernel.groups_done < 0 || kernel.groups_done > world.groups() ||
        !is_in_world(tally.worst_out, kernel, world) ||
        !is_in_world(tally.worst_lse, kernel, world) ||
        !is_in_world(tally.first_violation, kernel, world))
      return refused("names inputs that this world does not have");
  }
  const bool is_all = stored.kernels.size() == kernels::builtin_kernels().size();
  const bool is_one = stored.kernels.size() == 1 && stored.kernels[0].name == options.kernel;
  const bool same = options.kernel.empty() || (options.kernel == "all" ? is_all : is_one);
  if (!same) return refused("is a run of other kernels than " + options.kernel);
  return stored;
}

std::string replay_of(const WorldElement& element, const WorldKernel& kernel, const Fp4World& world,
                      std::string_view law) {
  const Result<const Kernel*> named = find_kernel(kernel.name);
  const properties::Case alone =
      world.single_case(element.pair, element.column, kernel.tilings[element.tiling]);
  return replay_command_line(*named.value(), alone, law, {});
}

std::string_view law_of(const WorldElement& element) {
  return element.part == properties::Part::out ? "bound.out" : "bound.lse";
}

/// The usual block of a failure; it is the input alone that is shown and replayed.
std::string failure_text(const WorldElement& element, const WorldKernel& kernel,
                         const Fp4World& world) {
  const properties::Case alone =
      world.single_case(element.pair, element.column, kernel.tilings[element.tiling]);
  ProblemText problem = properties::to_text(alone);
  problem.values = {};
  reports::CaseResult found;
  found.law = law_of(element);
  found.number = element.pair;
  found.problem = minimal_text(problem);
  found.verdict = Verdict::fail({});
  found.verdict.witness = element.witness;
  found.verdict.worst_ratio = element.ratio;
  std::string text = render_found_text(found) + values_text(alone);
  const properties::Law* const law = properties::find_law(found.law);
  const Verdict again = properties::check_case(*find_kernel(kernel.name).value(), *law, alone);
  if (again.outcome != Outcome::fail)
    text += "  (not when it is computed alone: it needs the other columns of its row)\n";
  return text + fmt::format("replay     {}\n\n", replay_of(element, kernel, world, found.law));
}

struct WorldFolder {
  std::filesystem::path path;
  double seconds_before = 0;
  double saved = 0;  ///< seconds of this run
};

/// Judges what is left of one kernel; the state is saved now and then.
Status run_kernel_world(WorldState& state, WorldKernel& kernel, const Fp4World& world, int jobs,
                        const std::atomic<bool>& stop, WorldProgress& progress,
                        WorldFolder& folder) {
  if (!kernel.found.failure.empty()) return {};  // an earlier run ended there
  const Kernel& under_test = *find_kernel(kernel.name).value();
  std::atomic<bool> leave{false};
  Status status;
  properties::WorldPlan plan{&world, &under_test, kernel.tilings, kernel.groups_done, jobs, &leave};
  if (kernel.found.first_violation)
    fmt::print("{}", failure_text(*kernel.found.first_violation, kernel, world));
  properties::run_world(plan, [&](const properties::WorldTally& tally) {
    const bool first = !kernel.found.first_violation && tally.first_violation;
    kernel.found.append(tally);
    ++kernel.groups_done;
    progress.add(tally);
    if (first) {
      progress.clear();
      fmt::print("{}", failure_text(*kernel.found.first_violation, kernel, world));
      std::fflush(stdout);
    }
    progress.show(kernel);
    state.seconds = folder.seconds_before + progress.seconds();
    const bool due = progress.seconds() - folder.saved > seconds_between_saves(progress.seconds());
    if (due || first) {
      folder.saved = progress.seconds();
      status = save_world(folder.path, state);
    }
    leave = leave || stop || !status.ok() || !kernel.found.failure.empty();
  });
  progress.clear();
  return status;
}

std::string ratio_cell(const std::optional<WorldElement>& element) {
  return element ? reports::ratio_text(element->ratio) : "-";
}

std::string table_text(const WorldState& state) {
  reports::Table table;
  using enum reports::Column::Kind;
  table.columns = {{"kernel", text},          {"tilings", number},        {"outputs", number},
                   {"lse values", number},    {"violations", number},     {"undecided", number},
                   {"uninformative", number}, {"worst err/bound", ratio}, {"of the lse", ratio}};
  for (const WorldKernel& kernel : state.kernels)
    table.rows.push_back(
        {kernel.name, std::to_string(kernel.tilings.size()), std::to_string(kernel.found.outputs),
         std::to_string(kernel.found.lse_values), std::to_string(kernel.found.violations),
         std::to_string(kernel.found.undecided), std::to_string(kernel.found.uninformative),
         ratio_cell(kernel.found.worst_out), ratio_cell(kernel.found.worst_lse)});
  return text_of(table);
}

/// Where the largest ratios were seen: lines that replay them.
std::string worst_text(const WorldState& state, const Fp4World& world) {
  std::string text;
  for (const WorldKernel& kernel : state.kernels)
    for (const auto& worst : {kernel.found.worst_out, kernel.found.worst_lse})
      if (worst)
        text += fmt::format("worst {}  {}  {}\n", worst->witness.tensor,
                            reports::ratio_text(worst->ratio),
                            replay_of(*worst, kernel, world, law_of(*worst)));
  return text;
}

int finish(const WorldState& state, const Fp4World& world, const std::filesystem::path& folder,
           double share, int jobs) {
  Index values = 0;
  Index violations = 0;
  bool decided = true;
  bool failed = false;
  bool complete = true;
  for (const WorldKernel& kernel : state.kernels) {
    values += kernel.found.outputs + kernel.found.lse_values;
    violations += kernel.found.violations;
    // Tiny weights in a narrow format leave some outputs with a bound beyond their size.
    decided = decided && kernel.found.undecided == 0 &&
              static_cast<double>(kernel.found.uninformative) <=
                  reports::kMaxUndecidedShare * static_cast<double>(kernel.found.outputs);
    failed = failed || !kernel.found.failure.empty();
    complete = complete && kernel.groups_done == world.groups();
    if (!kernel.found.failure.empty())
      fmt::print("CRASH {}  {}\n", kernel.name, kernel.found.failure);
  }
  fmt::print("{}\n{}\n", table_text(state), worst_text(state, world));
  const bool violated = violations > 0 || failed;
  const char* const word = violated ? "FAILED" : complete && decided ? "PASSED" : "UNDECIDED";
  fmt::print("{}  {} inputs  {} values compared  {}  {}  {} jobs  {}\n", word, world.inputs(),
             values, reports::count_text(violations, "violation"),
             reports::seconds_text(state.seconds), jobs, folder.string());
  if (!complete && !failed)
    fmt::print("interrupted at {:.2f} %; go on with: attest world --resume {}\n", 100 * share,
               shell_quoted(folder.string()));
  if (failed) return kernel_crashed;
  if (violated) return violation;
  return complete && decided ? all_good : undecided;
}

}  // namespace

int world_command(const WorldOptions& options) {
  const std::atomic<bool>& stop = watch_for_interruption();
  const bool continues = !options.resume.empty();
  if (!continues && options.kernel.empty())
    return usage("world needs a KERNEL, or 'all', or --resume DIR (attest --help)");
  if (continues && !options.out.empty()) return usage("--resume and --out exclude each other");
  WorldState stored;
  std::string tier = options.tier.empty() ? "ci" : options.tier;
  if (continues) {
    auto loaded = load_world(options.resume);
    if (!loaded.ok()) return usage(loaded.status().message());
    stored = std::move(loaded).value();
    if (!options.tier.empty() && options.tier != stored.tier)
      return usage("--resume goes on with tier " + stored.tier + ", not " + options.tier);
    tier = stored.tier;
  }
  const Result<Index> keys = keys_of_tier(tier);
  if (!keys.ok()) return usage(keys.status().message());
  const Fp4World world(keys.value());
  auto made = continues ? continued_state(options, std::move(stored), world)
                        : begin_state(options, tier, world);
  if (!made.ok()) return usage(made.status().message());
  WorldState state = std::move(made).value();
  const auto folder = make_run_folder(continues ? options.resume : options.out);
  if (!folder.ok()) return usage(folder.status().message());
  if (Status status = save_world(folder.value(), state); !status.ok())
    return usage(status.message());

  const int jobs = resolve_jobs(options.jobs);
  fmt::print(
      "attest {}  world of e2m1: one query, {}, dimension 1  {} inputs  tier {}  {} jobs\n\n",
      ATTEST_VERSION, reports::count_text(world.keys(), "key"), world.inputs(), tier, jobs);
  std::fflush(stdout);
  WorldProgress progress(state, world);
  WorldFolder place{folder.value(), state.seconds, 0};
  for (WorldKernel& kernel : state.kernels) {
    if (stop) break;
    Status status = run_kernel_world(state, kernel, world, jobs, stop, progress, place);
    if (!status.ok()) return usage(status.message());
  }
  state.seconds = place.seconds_before + progress.seconds();
  if (Status status = save_world(folder.value(), state); !status.ok())
    return usage(status.message());
  return finish(state, world, folder.value(), progress.share(), jobs);
}

}  // namespace attest::cli
