// Speed of attention kernels beside the limits of the machine and beside other libraries.
//
//   attention_bench [--filter REGEX] [--kernel NAME]... [--quick | --long] [--seconds S]
//                   [--markdown | --json] [--out FILE]
//
// Everything runs in one process in turns. A kernel that breaks its bound gets no row, and the exit
// code is then 1; 2 is wrong use.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>

#include "bench/limits.hpp"
#include "bench/machine.hpp"
#include "bench/peers.hpp"
#include "bench/session.hpp"
#include "kernels/registry.hpp"

namespace attest::bench {
namespace {

struct Options {
  std::string filter;
  double seconds = 1;
  int repetitions = 11;
  std::vector<std::string> kernels;
  bool no_peers = false;
  bool no_memory = false;
  bool quick = false;
  bool long_run = false;
  bool tiny = false;
  bool markdown = false;
  bool json = false;
  bool list = false;
  std::string out;
  std::string memory_of;
  std::string competitor;
};

int fail(const std::string& message) {
  std::cerr << "attention_bench: " << message << "\n";
  return 2;
}

void add_options(CLI::App& app, Options& options) {
  app.add_option("--filter", options.filter, "workloads in whose name this regex finds something");
  app.add_option("--seconds", options.seconds, "of each row of a table")
      ->check(CLI::PositiveNumber);
  app.add_option("--repetitions", options.repetitions, "of each row, taken in turns")
      ->check(CLI::Range(1, 10000));
  app.add_option("--kernel", options.kernels,
                 "built-in kernel, or the part of its name before a slash; may be repeated "
                 "(builtin:simd)");
  app.add_flag("--no-peers", options.no_peers, "only the kernels and the limits of the machine");
  app.add_flag("--no-memory", options.no_memory, "leave out the column of extra memory");
  CLI::Option* const quick = app.add_flag("--quick", options.quick, "fewer and smaller workloads");
  CLI::Option* const long_run =
      app.add_flag("--long", options.long_run, "squares up to 65536 keys as well");
  CLI::Option* const tiny =
      app.add_flag("--tiny", options.tiny, "one of each kind, too small to time: a smoke run");
  quick->excludes(long_run)->excludes(tiny);
  long_run->excludes(tiny);
  CLI::Option* const markdown = app.add_flag("--markdown", options.markdown, "tables in Markdown");
  app.add_flag("--json", options.json, "one JSON object")->excludes(markdown);
  app.add_option("--out", options.out, "file to write instead of standard output");
  app.add_flag("--list", options.list, "only name the workloads");
  // For the processes that measure memory.
  app.add_option("--memory-of", options.memory_of)->group("");
  app.add_option("--competitor", options.competitor)->group("");
}

Sizes sizes_of(const Options& options) {
  if (options.tiny) return Sizes::tiny;
  if (options.quick) return Sizes::quick;
  return options.long_run ? Sizes::long_run : Sizes::full;
}

std::string sizes_flag(const Options& options) {
  if (options.tiny) return "--tiny";
  if (options.quick) return "--quick";
  return options.long_run ? "--long" : "";
}

/// Where the tables go: standard output, or a file that is complete or not there.
class Sink {
 public:
  explicit Sink(std::string path) : path_(std::move(path)) {
    if (!path_.empty()) draft_.open(path_ + ".part");
  }
  /// False where the file cannot be written, which is known before anything is timed.
  bool good() const { return path_.empty() || draft_; }
  void add(const std::string& text) {
    if (path_.empty()) {
      std::cout << text << std::flush;
    } else {
      draft_ << text;
      std::cerr << "." << std::flush;
    }
  }
  /// False when something could not be written.
  bool finish() {
    if (path_.empty()) return static_cast<bool>(std::cout.flush());
    std::cerr << "\n";
    draft_.close();
    return draft_ && std::rename((path_ + ".part").c_str(), path_.c_str()) == 0;
  }

 private:
  std::string path_;
  std::ofstream draft_;
};

Result<Field> field_of(const Options& options, std::vector<std::string>& notes) {
  Field field;
  const bool by_default = options.kernels.empty();
  auto kernels =
      kernels_named(by_default ? std::vector<std::string>{"builtin:simd"} : options.kernels);
  if (kernels.ok())
    field.kernels = std::move(kernels.value());
  else if (by_default)
    notes.emplace_back("no kernel of this build begins with builtin:simd");
  else
    return kernels.status();
  if (!options.no_peers) field.peers = all_peers(notes);
  return field;
}

int print_memory(const std::vector<Workload>& all, const Options& options) {
  std::vector<std::string> names;
  for (const auto& kernel : kernels::builtin_kernels()) names.push_back(kernel->description().name);
  std::vector<std::string> ignored;
  const Field field{kernels_named(names).value(), all_peers(ignored)};
  for (const Workload& workload : all) {
    if (workload.name != options.memory_of) continue;
    const auto bytes = memory_of(workload, field, options.competitor);
    if (!bytes.ok()) return fail(bytes.status().message());
    std::printf("%.0f\n", bytes.value());
    return 0;
  }
  return fail("there is no workload " + options.memory_of);
}

int run_all(const std::vector<Workload>& all, const Options& options) {
  const Format format = options.json       ? Format::json
                        : options.markdown ? Format::markdown
                                           : Format::text;
  Sink sink(options.out);
  if (!sink.good()) return fail("cannot write " + options.out);
  Report report;
  const auto field = field_of(options, report.notes);
  if (!field.ok()) return fail(field.status().message());
  report.header = machine();
  for (auto& limit : measured_limits()) report.header.push_back(std::move(limit));
  const SessionOptions session{
      {options.seconds, options.repetitions}, !options.no_memory, sizes_flag(options)};
  if (!options.json) sink.add(render_header(report, format));
  for (const Workload& workload : all) {
    report.tables.push_back(run_workload(workload, field.value(), session));
    sink.add(options.json ? "" : render_table(report.tables.back(), format));
  }
  sink.add(options.json ? render_json(report) : render_end(report, format));
  if (!sink.finish()) return fail("cannot write the output");
  const auto violated = [](const WorkloadTable& table) { return table.violated; };
  return std::any_of(report.tables.begin(), report.tables.end(), violated) ? 1 : 0;
}

int run(int count, char** arguments) {
  start_with_clean_environment(arguments);
  CLI::App app{"speed of attention kernels beside the machine's limits and other libraries"};
  Options options;
  add_options(app, options);
  try {
    app.parse(count, arguments);
  } catch (const CLI::ParseError& error) {
    return error.get_exit_code() == 0 ? app.exit(error) : fail(error.what());
  }
  std::vector<Workload> all;
  try {
    all = workloads(sizes_of(options), std::regex(options.filter));
  } catch (const std::regex_error& error) {
    return fail("--filter: " + std::string(error.what()));
  }
  if (all.empty()) return fail("--filter: no workload has '" + options.filter + "' in its name");
  if (!options.memory_of.empty()) return print_memory(all, options);
  if (!options.list) return run_all(all, options);
  for (const Workload& workload : all) std::cout << workload.name << "\n";
  return std::cout.flush() ? 0 : fail("cannot write the output");
}

}  // namespace
}  // namespace attest::bench

int main(int count, char** arguments) {
  try {
    return attest::bench::run(count, arguments);
  } catch (const std::exception& error) {
    std::cerr << "attention_bench: " << error.what() << "\n";
    return 2;
  }
}
