#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "foreign/loaded_kernels.hpp"
#include "foreign/worker.hpp"

namespace attest::cli {
namespace {

foreign::CallLimits limits_of(double case_timeout, std::int64_t mem_limit) {
  return {std::chrono::duration<double>(case_timeout), mem_limit};
}

void add_limits(CLI::App& command, double& case_timeout, std::int64_t& mem_limit) {
  command
      .add_option("--case-timeout", case_timeout,
                  "seconds that one call of a foreign kernel may take (60)")
      ->check(CLI::PositiveNumber);
  command
      .add_option("--mem-limit", mem_limit,
                  "MiB of data that its process may have; 0 = no limit (8192)")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 30));
}

}  // namespace

void add_isolation(CLI::App& app, IsolationOptions& options) {
  for (const char* const name :
       {"check", "replay", "shrink", "accuracy", "sweep", "bound", "fuzz"}) {
    CLI::App& command = *app.get_subcommand(name);
    command
        .add_option("--isolate", options.isolate,
                    "worker: a shared object runs in a process of its own, none: in this one")
        ->check(CLI::IsMember({"worker", "none"}));
    add_limits(command, options.case_timeout, options.mem_limit);
  }
}

void isolate(const IsolationOptions& options) {
  foreign::set_isolation({options.isolate == "worker", "/proc/self/exe",
                          limits_of(options.case_timeout, options.mem_limit)});
}

void add_worker(CLI::App& app, WorkerOptions& options) {
  CLI::App* const worker =
      app.add_subcommand("worker", "the process in which a shared object runs")->group("");
  worker->add_option("PLUGIN", options.plugin)->required();
  add_limits(*worker, options.case_timeout, options.mem_limit);
}

int worker_command(const WorkerOptions& options) {
  return foreign::run_worker(options.plugin, limits_of(options.case_timeout, options.mem_limit));
}

}  // namespace attest::cli
