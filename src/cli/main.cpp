#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <iostream>
#include <system_error>

#include "cli/commands.hpp"
#include "cli/describe_app.hpp"
#include "cli/exhaustive_command.hpp"
#include "reference/oracle.hpp"
#include "reports/numbers.hpp"

namespace {

using namespace attest::cli;

constexpr const char* kExitCodes =
    "Exit codes: 0 all good, 1 a law is violated, 2 wrong use or bad input, 3 undecided (too much\n"
    "weak or unproven, or interrupted), 4 the kernel returned an error, crashed or hung, 5 a "
    "known\n"
    "failure passed, 6 attest's own oracles contradict each other.\n";

constexpr const char* kKernelHelp =
    "builtin:NAME, mutant:NAME, ./libmine.so[:SYMBOL], or 'pipe:COMMAND'";

void add_check(CLI::App& app, CheckOptions& options) {
  CLI::App* const check = app.add_subcommand("check", "run laws on given or generated problems");
  check->add_option("KERNEL", options.kernel, kKernelHelp)->required();
  check->add_option("PROBLEM", options.problems,
                    "problem lines; then only these are checked, unless --cases is given");
  check->add_option("-f,--file", options.problem_file, "file of problem lines");
  check->add_option("--seed", options.seed, "number or 'random'")->envname("ATTEST_SEED");
  check->add_option("--tier", options.tier, "smoke, ci or nightly")->envname("ATTEST_TIER");
  check->add_option("--cases", options.cases, "generated cases a law, instead of the tier's")
      ->check(CLI::NonNegativeNumber);
  check->add_option("--time", options.time, "seconds after which no new case starts")
      ->check(CLI::NonNegativeNumber);
  check->add_option("--shrink-time", options.shrink_time, "seconds a violation; 0 = off")
      ->check(CLI::NonNegativeNumber);
  check->add_option("--only", options.only, "laws to run, as globs")->delimiter(',');
  check->add_option("--skip", options.skip, "laws to leave out, as globs")->delimiter(',');
  check
      ->add_option("--dtype", options.dtypes, "only generated cases whose q has one of these types")
      ->delimiter(',');
  check->add_option("-j,--jobs", options.jobs, "threads; 0 = one a core")
      ->check(CLI::Range(0, 1024));
  check->add_option("--out", options.out, "folder of this run (attest-out/TIME)");
  check->add_option(
      "--format", options.formats,
      "text, jsonl, md, accuracy, json, junit, sarif, csv or html, to standard output or as "
      "NAME=FILE; may be repeated");
  check->add_option("--rule", options.rule,
                    "bound, twin:N or abs:A,rel:R: what outputs and lse are compared by (bound)");
  check->add_option("--worst", options.worst,
                    "folder of stored worst cases, which run first (" + std::string(kWorstFolder) +
                        " if it exists)");
  check->add_option("--shard", options.shard,
                    "only part I of N of the cases, as I/N; attest report merges the parts");
  check->add_option("--known", options.known, "ledger of known failures");
  check->add_option("--tensors", options.tensors, "folder of real tensors; may be repeated")
      ->delimiter(',');
}

void add_replay(CLI::App& app, ReplayOptions& options) {
  CLI::App* const replay = app.add_subcommand("replay", "run saved cases or problem lines again");
  replay->add_option("WHAT", options.what, "a kernel, and problem lines or folders of saved cases")
      ->required();
  replay->add_option("--known", options.known, "ledger of known failures");
  replay->add_option("--tensors", options.tensors, "folder of real tensors; may be repeated")
      ->delimiter(',');
}

void add_shrink(CLI::App& app, ShrinkOptions& options) {
  CLI::App* const shrink =
      app.add_subcommand("shrink", "find smaller cases that violate the same law");
  shrink->add_option("WHAT", options.what, "a kernel, and problem lines or folders of saved cases")
      ->required();
  shrink->add_option("--time", options.time, "seconds a violation")->check(CLI::PositiveNumber);
  shrink->add_option("--out", options.out, "folder to save the smaller cases in");
  shrink->add_option("--tensors", options.tensors, "folder of real tensors; may be repeated")
      ->delimiter(',');
}

void add_accuracy(CLI::App& app, AccuracyOptions& options) {
  CLI::App* const accuracy =
      app.add_subcommand("accuracy", "the main job: kernels on real tensors, with a report");
  accuracy->add_option("KERNEL", options.kernels, "kernels; every built-in one if none is named");
  accuracy->add_option("--tensors", options.tensors, "folder of real tensors; may be repeated")
      ->delimiter(',');
  accuracy->add_option("--out", options.out, "folder for the report and run.jsonl");
  accuracy->add_option("--known", options.known, "ledger of known failures, for generated cases");
  accuracy->add_option("--cases", options.cases, "generated cases a law beside the tensors")
      ->check(CLI::NonNegativeNumber);
  accuracy->add_option("-j,--jobs", options.jobs, "threads; 0 = one a core")
      ->check(CLI::Range(0, 1024));
}

void add_report(CLI::App& app, ReportOptions& options) {
  CLI::App* const report = app.add_subcommand(
      "report", "a report of runs: of shards of one run, or of a run and the earlier ones");
  report->add_option("RUN", options.runs, "run.jsonl, or the folder of a run")->required();
  report->add_option("-o,--output", options.out,
                     "file whose ending says the format (.html .md .json .jsonl .xml .sarif .csv "
                     ".txt), or - for standard output");
  report->add_option("--format", options.format,
                     "text, md, accuracy, json, jsonl, junit, sarif, csv or html");
  report->add_flag("--comment", options.comment, "Markdown that fits into a comment of GitHub");
}

void add_compare(CLI::App& app, CompareOptions& options) {
  CLI::App* const compare =
      app.add_subcommand("compare", "two runs side by side; a gate for what may become worse");
  compare->add_option("OLD", options.old_run, "run.jsonl, or the folder of a run")->required();
  compare->add_option("NEW", options.new_run, "the same")->required();
  compare->add_option("--gate", options.gate,
                      "rule such as 'ratio<=1.25 & new_fail==0 & rms<=1.1 & power>=0.99'");
  compare->add_flag("--allow-other-kernel", options.allow_other_kernel,
                    "the runs may be of kernels with different names");
}

void add_bound(CLI::App& app, BoundOptions& options) {
  CLI::App* const bound = app.add_subcommand(
      "bound", "what error is typical, what is impossible, what a tolerance would wrongly accept");
  bound->add_option("PROBLEM", options.problem, "problem line; its vals= say the values")
      ->required();
  bound->add_option("--kernel", options.kernel, "kernel to look at (builtin:scalar_tree)");
  bound->add_option("--seed", options.seed, "seed of the values, instead of the line's");
  bound->add_option("--atol", options.atol, "absolute tolerance to look at")
      ->check(CLI::NonNegativeNumber);
  bound->add_option("--rtol", options.rtol, "relative tolerance to look at")
      ->check(CLI::NonNegativeNumber);
  bound->add_option("--rows", options.rows, "rows to look at; 0 = all (by size)")
      ->check(CLI::NonNegativeNumber);
  bound->add_option("--format", options.format, "text or json");
  bound->add_option("-j,--jobs", options.jobs, "threads; 0 = one a core")
      ->check(CLI::Range(0, 1024));
  bound->add_option("--tensors", options.tensors, "folder of real tensors; may be repeated")
      ->delimiter(',');
}

void add_sweep(CLI::App& app, SweepOptions& options) {
  CLI::App* const sweep = app.add_subcommand(
      "sweep", "the error of a kernel along key length, head_dim, spread of scores or dtype");
  sweep->add_option("KERNEL", options.kernel, kKernelHelp)->required();
  sweep->add_option("PROBLEM", options.problem, "problem line to vary (1x4:4x1024:64 f32)");
  sweep
      ->add_option("--over", options.over,
                   "lk=64:64k:x4, d=32,64,128, spread=1:9:+2 or dtype=f32,bf16; k is 1024")
      ->required();
  sweep->add_option("--dtype", options.dtypes, "dtypes, one curve each (that of the problem)")
      ->delimiter(',');
  sweep->add_option("--cases", options.cases, "cases a point, with other values (4)")
      ->check(CLI::Range(1, 100000));
  sweep->add_option("--seed", options.seed, "seed of the values, instead of the line's");
  sweep->add_option("-j,--jobs", options.jobs, "threads; 0 = one a core")
      ->check(CLI::Range(0, 1024));
  sweep->add_option("--out", options.out,
                    "folder for run.jsonl, sweep.csv and the page (attest-out/TIME)");
  sweep->add_option("--tensors", options.tensors, "folder of real tensors; may be repeated")
      ->delimiter(',');
}

void add_world(CLI::App& app, WorldOptions& options) {
  CLI::App* const world = app.add_subcommand(
      "world", "every FP4 input of a few keys, in every tiling and merge tree, exhaustively");
  world->add_option("KERNEL", options.kernel,
                    "builtin:NAME, mutant:NAME, or all (every built-in kernel)");
  world
      ->add_option("--tier", options.tier,
                   "smoke (1 key, 2^12 inputs), ci (2 keys, 2^20) or nightly (3 keys, 2^28)")
      ->envname("ATTEST_TIER");
  world->add_option("-j,--jobs", options.jobs, "threads; 0 = one a core")
      ->check(CLI::Range(0, 1024));
  world->add_option("--out", options.out, "folder of this run (attest-out/TIME)");
  world->add_option("--resume", options.resume,
                    "folder of an interrupted or killed run to go on with");
}

void add_fuzz(CLI::App& app, FuzzOptions& options) {
  CLI::App* const fuzz =
      app.add_subcommand("fuzz", "search for the case with the largest error of a kernel");
  fuzz->add_option("KERNEL", options.kernel, kKernelHelp)->required();
  fuzz->add_option("PROBLEM", options.problem,
                   "search values and tiling of this problem only, instead of small ones");
  fuzz->add_flag("--climb", options.climb,
                 "maximise error / bound, law by law and type by type, and keep the worst cases");
  fuzz->add_option("--time", options.time,
                   "seconds, shared among laws and types (60, unless --evaluations is given)")
      ->check(CLI::PositiveNumber);
  fuzz->add_option("--evaluations", options.evaluations, "cases judged for each law and type")
      ->check(CLI::PositiveNumber);
  fuzz->add_option("--seed", options.seed, "number or 'random'")->envname("ATTEST_SEED");
  fuzz->add_option("--only", options.only, "laws, as globs")->delimiter(',');
  fuzz->add_option("--dtype", options.dtypes, "types of q, k, v; all that the kernel takes if none")
      ->delimiter(',');
  fuzz->add_option("--max-keys", options.max_keys, "keys of a drawn problem (16)")
      ->check(CLI::Range(1, 4096));
  fuzz->add_option("--worst", options.worst,
                   "store of worst cases (" + std::string(kWorstFolder) + ")");
  fuzz->add_option("--shrink-time", options.shrink_time, "seconds for a violation; 0 = off")
      ->check(CLI::NonNegativeNumber);
  fuzz->add_flag("--compare-random", options.compare_random,
                 "then judge equally many random cases, twice: small normal ones, and those of "
                 "attest check");
  fuzz->add_option("-j,--jobs", options.jobs, "threads; 0 = one a core; they change no result")
      ->check(CLI::Range(0, 1024));
}

void add_selftest(CLI::App& app, SelftestOptions& options) {
  CLI::App* const selftest = app.add_subcommand(
      "selftest", "planted bugs: which law finds which, and is any correct kernel accused");
  selftest
      ->add_option(
          "--tier", options.tier,
          "smoke (each bug and its law), ci (20 cases of every other law) or nightly (200)")
      ->envname("ATTEST_TIER");
  selftest->add_option("--seed", options.seed, "number or 'random'")->envname("ATTEST_SEED");
  selftest
      ->add_option("--only", options.only, "planted bugs, as globs; of --alarms: correct kernels")
      ->delimiter(',');
  selftest->add_option("--json", options.json, "file for the whole matrix, law by law");
  selftest->add_flag("--laws", options.laws, "print which bugs each law kills, and which only it");
  selftest
      ->add_option("--alarms", options.runs,
                   "instead: correct kernels alone, in this many runs with other seeds")
      ->check(CLI::Range(1, 1000));
  selftest
      ->add_flag("--compare", options.compare,
                 "instead: what acceptance rules of other projects catch, as Markdown")
      ->excludes("--alarms");
  selftest->add_option("-j,--jobs", options.jobs, "threads; 0 = one a core; they change no result")
      ->check(CLI::Range(0, 1024));
}

void add_exhaustive(CLI::App& bench, ExhaustiveOptions& options) {
  CLI::Option* const function =
      bench.add_option("--exhaustive", options.function,
                       "instead: error of exp, exp_non_positive, tanh or log for every float");
  bench
      .add_option("--target", options.targets,
                  "instruction set, as AVX2; may be repeated; every one if none is named")
      ->needs(function);
  bench.add_option("-j,--threads", options.threads, "threads; 0 = one a core")
      ->check(CLI::Range(0, 1024))
      ->needs(function);
  bench
      .add_option("--state", options.state,
                  "file of what was found so far; the run goes on with it if it exists")
      ->needs(function);
}

void add_bench(CLI::App& app, BenchOptions& options, ExhaustiveOptions& exhaustive) {
  CLI::App* const bench = app.add_subcommand(
      "bench", "speed of kernels beside the machine's limits and other libraries");
  bench->add_option("--filter", options.filter,
                    "workloads in whose name this regex finds something");
  bench->add_option("--kernel", options.kernels,
                    "built-in kernel, or its name up to a slash; may be repeated (builtin:simd)");
  bench->add_option("--seconds", options.seconds, "of each row of a table")
      ->check(CLI::PositiveNumber);
  CLI::Option* const quick =
      bench->add_flag("--quick", options.quick, "fewer and smaller workloads");
  bench->add_flag("--long", options.long_run, "squares up to 65536 keys as well")->excludes(quick);
  CLI::Option* const markdown =
      bench->add_flag("--markdown", options.markdown, "tables in Markdown");
  bench->add_flag("--json", options.json, "one JSON object")->excludes(markdown);
  bench->add_flag("--no-peers", options.no_peers, "leave out other libraries");
  bench->add_flag("--no-memory", options.no_memory, "leave out the column of extra memory");
  bench->add_flag("--list", options.list, "only name the workloads");
  bench->add_option("--out", options.out, "file to write instead of standard output");
  add_exhaustive(*bench, exhaustive);
}

bool has_command(const CLI::App& app, const std::string& name) {
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  return std::any_of(commands.begin(), commands.end(),
                     [&](const CLI::App* command) { return command->get_name() == name; });
}

}  // namespace

// What throws outside of the try blocks is the set-up of CLI11: a mistake in this file.
// NOLINTNEXTLINE(bugprone-exception-escape)
int main(int argc, char** argv) {
  CLI::App app{"attest: is this difference rounding, or a bug?"};
  app.set_version_flag("--version", std::string("attest ") + ATTEST_VERSION);
  app.footer(kExitCodes);
  app.require_subcommand(1);
  CheckOptions check;
  ReplayOptions replay;
  ShrinkOptions shrink;
  AccuracyOptions accuracy;
  ReportOptions report;
  CompareOptions compare;
  BoundOptions bound;
  WorldOptions world;
  FuzzOptions fuzz;
  SweepOptions sweep;
  SelftestOptions selftest;
  ProbeOptions probe;
  BenchOptions bench;
  ExhaustiveOptions exhaustive;
  VerifyOptions verify;
  std::string what;
  add_check(app, check);
  add_replay(app, replay);
  add_shrink(app, shrink);
  add_accuracy(app, accuracy);
  add_report(app, report);
  add_compare(app, compare);
  add_bound(app, bound);
  add_world(app, world);
  add_fuzz(app, fuzz);
  add_sweep(app, sweep);
  add_selftest(app, selftest);
  add_bench(app, bench, exhaustive);
  NewOptions new_kernel;
  add_new(app, new_kernel);
  IsolationOptions isolation;
  add_isolation(app, isolation);
  WorkerOptions worker;
  add_worker(app, worker);
  add_verify(app, verify);
  add_probe(app, probe);
  app.add_subcommand("list", "what this build knows")
      ->add_option("WHAT", what,
                   "kernels, mutants, reports, laws, families, masks, features, tiers or dtypes")
      ->required();
  std::string form;
  app.add_subcommand("completion",
                     "completions for a shell, or the manual page, on standard output")
      ->add_option("FORM", form, "bash, zsh, fish or man")
      ->required();
  app.add_subcommand("doctor", "environment, versions, what this build can do");
  if (argc > 1 && argv[1][0] != '-' && !has_command(app, argv[1]))
    return usage("unknown command '" + std::string(argv[1]) + "' (attest --help)");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // CLI11 prints help and errors itself; its own exit codes are many.
    if (error.get_exit_code() == 0) {
      app.exit(error);
      return std::cout.flush() ? all_good : usage("cannot write the output");
    }
    const std::vector<std::string> unknown = app.remaining(true);
    return usage((unknown.empty() ? std::string(error.what()) : "unknown argument " + unknown[0]) +
                 " (attest --help)");
  }
  isolate(isolation);
  const auto run = [&] {
    if (app.got_subcommand("check")) return check_command(check);
    if (app.got_subcommand("new")) return new_command(new_kernel);
    if (app.got_subcommand("worker")) return worker_command(worker);
    if (app.got_subcommand("replay")) return replay_command(replay);
    if (app.got_subcommand("shrink")) return shrink_command(shrink);
    if (app.got_subcommand("accuracy")) return accuracy_command(accuracy);
    if (app.got_subcommand("report")) return report_command(report);
    if (app.got_subcommand("compare")) return compare_command(compare);
    if (app.got_subcommand("bound")) return bound_command(bound);
    if (app.got_subcommand("world")) return world_command(world);
    if (app.got_subcommand("fuzz")) return fuzz_command(fuzz);
    if (app.got_subcommand("sweep")) return sweep_command(sweep);
    if (app.got_subcommand("probe")) return probe_command(probe);
    if (app.got_subcommand("selftest")) return selftest_command(selftest);
    if (app.got_subcommand("bench"))
      return exhaustive.function.empty() ? bench_command(bench) : exhaustive_command(exhaustive);
    if (app.got_subcommand("verify")) return verify_command(verify);
    if (app.got_subcommand("completion")) return completion_command(form, describe_app(app));
    if (app.got_subcommand("doctor")) return doctor_command();
    return list_command(what);
  };
  try {
    const int code = run();
    if (std::fflush(stdout) != 0) return usage("cannot write the output");
    const std::int64_t contradictions = attest::reference::oracle_counts().contradictions;
    if (contradictions == 0) return code;
    std::cerr << "attest: the two oracles contradict each other on "
              << attest::reports::count_text(contradictions, "row")
              << ": a defect of attest, please report it\n";
    return oracle_contradiction;
  } catch (const std::system_error& error) {
    return usage(std::string("cannot write the output: ") + error.what());
  } catch (const std::exception& error) {
    return usage(error.what());
  }
}
