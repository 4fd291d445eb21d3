// The commands of the program; each returns the exit code.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace attest::cli {

/// Small and stable; listed in --help.
enum ExitCode : int {
  all_good = 0,
  violation = 1,
  usage_error = 2,
  undecided = 3,
  kernel_crashed = 4,
  known_passed = 5,          ///< a known failure passed, and nothing else is wrong
  oracle_contradiction = 6,  ///< the two oracles disagree: a defect of attest
};

/// The store of worst cases: of `attest check` when it exists, of `attest fuzz` when no other one
/// is named.
inline constexpr const char* kWorstFolder = "attest-worst";

struct ProgramText;  // cli/program_text.hpp

struct CheckOptions {
  std::string kernel;
  std::vector<std::string> problems;
  std::string problem_file;
  std::string seed = "0x5EED1A77";  ///< number or "random"
  std::string tier = "ci";
  std::int64_t cases = -1;  ///< a law; -1: by tier
  double time = 0;          ///< seconds; 0: no limit
  double shrink_time = 10;  ///< seconds; 0: no shrinking
  std::vector<std::string> only;
  std::vector<std::string> skip;
  std::vector<std::string> dtypes;  ///< of q in generated cases; empty: all that the kernel takes
  int jobs = 0;                     ///< 0: one a core
  std::string out;                  ///< empty: attest-out/TIME
  std::vector<std::string> formats;
  std::vector<std::string> tensors;
  std::string worst;           ///< folder of stored worst cases; empty: kWorstFolder if it exists
  std::string shard;           ///< "2/3"; empty: all cases
  std::string rule = "bound";  ///< properties/rule.hpp
  std::string known;           ///< ledger of known failures; empty: none
};

struct ReplayOptions {
  std::vector<std::string> what;  ///< a kernel, and texts, case folders or folders of such
  std::vector<std::string> tensors;
  std::string known;  ///< ledger of known failures; empty: none
};

struct ShrinkOptions {
  std::vector<std::string> what;  ///< as replay takes it
  std::vector<std::string> tensors;
  double time = 20;  ///< seconds a violation
  std::string out;   ///< folder for the smaller cases; empty: they are only printed
};

struct AccuracyOptions {
  std::vector<std::string> kernels;  ///< empty: every built-in kernel
  std::vector<std::string> tensors;
  std::string out = "reports/out";
  int jobs = 0;
  std::int64_t cases = 20;  ///< generated cases a law of the short check; 0: none
  std::string known;        ///< ledger of known failures, for the short checks; empty: none
};

struct ReportOptions {
  std::vector<std::string> runs;  ///< files run.jsonl, or their folders
  std::string out = "-";          ///< a file, or "-" for standard output
  std::string format;             ///< empty: by the ending of `out`; text for "-"
  bool comment = false;           ///< Markdown that fits into a comment
};

struct CompareOptions {
  std::string old_run;
  std::string new_run;
  std::string gate;  ///< empty: only the table
  bool allow_other_kernel = false;
};

struct BoundOptions {
  std::string problem;
  std::string kernel = "builtin:scalar_tree";
  std::string seed;            ///< of the values, instead of the problem's; empty: that one
  std::optional<double> atol;  ///< neither: the usual ones
  std::optional<double> rtol;
  std::int64_t rows = -1;  ///< rows to look at; 0: all; -1: by the size of the problem
  std::string format = "text";
  int jobs = 0;
  std::vector<std::string> tensors;
};

struct WorldOptions {
  std::string kernel;  ///< or "all"; with `resume` it may be left out
  std::string tier;    ///< empty: ci, or that of the run that goes on
  int jobs = 0;
  std::string out;     ///< empty: attest-out/TIME
  std::string resume;  ///< folder of an earlier run; empty: begin
};

struct VerifyOptions {
  std::vector<std::string> dump;  ///< files and folders
  std::string problem;            ///< empty: that of the dump
  std::string accumulators;       ///< empty: f32, f64 for f64
  std::string weights;            ///< empty: the type of v, if it is narrower
  double exp_ulp = 2;
  std::int64_t rows = 0;  ///< to judge; 0: all
  std::string save;       ///< folder for the case of a violation; empty: OUT/cases, if there is one
  int jobs = 0;
  std::string out;  ///< empty: attest-out/TIME if there are formats, else nothing is written
  std::vector<std::string> formats;
};

struct FuzzOptions {
  std::string kernel;
  std::string problem;  ///< only this one; empty: drawn ones
  bool climb = false;
  std::optional<double> time;    ///< seconds; neither this nor evaluations: a minute
  std::int64_t evaluations = 0;  ///< of each law and type; 0: no limit
  std::string seed = "0x5EED1A77";
  std::vector<std::string> only;
  std::vector<std::string> dtypes;  ///< empty: all that the kernel takes
  std::int64_t max_keys = 16;
  std::string worst = kWorstFolder;
  double shrink_time = 10;
  bool compare_random = false;
  int jobs = 0;
};

struct SweepOptions {
  std::string kernel;
  std::string problem;              ///< empty: a usual one
  std::string over;                 ///< cli/sweep_range.hpp
  std::vector<std::string> dtypes;  ///< empty: that of the problem
  std::int64_t cases = 4;           ///< a point
  std::string seed;                 ///< of the values; empty: that of the problem
  int jobs = 0;
  std::string out;  ///< empty: attest-out/TIME
  std::vector<std::string> tensors;
};

struct SelftestOptions {
  std::string tier = "ci";
  std::string seed = "0x5EED1A77";
  std::vector<std::string> only;  ///< planted bugs, as globs; empty: all, and the correct kernels
  std::string json;               ///< file for the whole matrix
  bool laws = false;              ///< print what each law is worth
  std::int64_t runs = 0;          ///< instead: correct kernels alone, in this many runs
  bool compare = false;           ///< instead: what rules of other projects catch
  int jobs = 0;
};

struct ProbeOptions {
  std::string kernel;
  std::string dtype;  ///< empty: f32 where the kernel takes it
  bool experiments = false;
  std::string json;  ///< file for everything; empty: none
};

struct BenchOptions {
  std::string filter;  ///< of workloads; empty: all
  std::vector<std::string> kernels;
  std::optional<double> seconds;  ///< of each row of a table
  bool quick = false;
  bool long_run = false;
  bool markdown = false;
  bool json = false;
  bool no_peers = false;
  bool no_memory = false;
  bool list = false;
  std::string out;  ///< empty: standard output
};

struct NewOptions {
  std::string name;
  std::string abi;  ///< c, cpp or pipe
  std::string out;  ///< empty: a folder `name`
};
void add_new(CLI::App& app, NewOptions& options);
int new_command(const NewOptions& options);

/// How kernels of others are run.
struct IsolationOptions {
  std::string isolate = "worker";  ///< or "none"
  double case_timeout = 60;        ///< seconds a call
  std::int64_t mem_limit = 8192;   ///< MiB a process; 0: no limit
};
/// Of every command that takes a kernel; after those commands were added.
void add_isolation(CLI::App& app, IsolationOptions& options);
void isolate(const IsolationOptions& options);

/// Not for people: the program starts itself with it.
struct WorkerOptions {
  std::string plugin;
  double case_timeout = 60;
  std::int64_t mem_limit = 8192;
};
void add_worker(CLI::App& app, WorkerOptions& options);
int worker_command(const WorkerOptions& options);

int check_command(const CheckOptions& options);
int replay_command(const ReplayOptions& options);
int shrink_command(const ShrinkOptions& options);
int list_command(const std::string& what);
int doctor_command();
int accuracy_command(const AccuracyOptions& options);
int report_command(const ReportOptions& options);
int compare_command(const CompareOptions& options);
int bound_command(const BoundOptions& options);
int world_command(const WorldOptions& options);
int verify_command(const VerifyOptions& options);
int fuzz_command(const FuzzOptions& options);
int sweep_command(const SweepOptions& options);
int probe_command(const ProbeOptions& options);
void add_probe(CLI::App& app, ProbeOptions& options);
int selftest_command(const SelftestOptions& options);
/// Becomes the program bench/attention_bench; returns only where it cannot.
int bench_command(const BenchOptions& options);

/// The subcommand of the command line that fills these options.
void add_verify(CLI::App& app, VerifyOptions& options);

/// Prints a completion for a shell, or the manual, made from the options of the program.
int completion_command(const std::string& form, const ProgramText& program);

/// Prints one line to stderr and returns usage_error.
int usage(const std::string& message);

}  // namespace attest::cli
