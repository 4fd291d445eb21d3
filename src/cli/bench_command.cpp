// Timing is a program of its own: it links other libraries, and attest must run without them.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/commands.hpp"

namespace attest::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kProgram = "attention_bench";

/// Beside this program, where the build puts it or where it is installed; empty where it is not.
fs::path bench_program() {
  std::error_code ignored;
  const fs::path folder = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const fs::path& place : {folder / kProgram, folder / "bench" / kProgram,
                                folder.parent_path() / "libexec" / "attest" / kProgram})
    if (access(place.c_str(), X_OK) == 0 && !fs::is_directory(place, ignored)) return place;
  return {};
}

std::vector<std::string> words_of(const BenchOptions& options) {
  std::vector<std::string> words;
  const auto option = [&](const char* name, const std::string& value) {
    if (value.empty()) return;
    words.emplace_back(name);
    words.push_back(value);
  };
  const auto flag = [&](const char* name, bool given) {
    if (given) words.emplace_back(name);
  };
  option("--filter", options.filter);
  for (const std::string& kernel : options.kernels) option("--kernel", kernel);
  option("--seconds", options.seconds ? std::to_string(*options.seconds) : std::string());
  option("--out", options.out);
  flag("--quick", options.quick);
  flag("--long", options.long_run);
  flag("--markdown", options.markdown);
  flag("--json", options.json);
  flag("--no-peers", options.no_peers);
  flag("--no-memory", options.no_memory);
  flag("--list", options.list);
  return words;
}

}  // namespace

int bench_command(const BenchOptions& options) {
  const fs::path program = bench_program();
  if (program.empty())
    return usage(std::string("bench/") + kProgram +
                 " is not built (./run build, or CMake with ATTEST_BENCH=ON)");
  std::vector<std::string> words = words_of(options);
  words.insert(words.begin(), program.string());
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  if (std::fflush(stdout) != 0) return usage("cannot write the output");
  execv(program.c_str(), arguments.data());
  return usage("cannot start " + program.string() + ": " + std::strerror(errno));
}

}  // namespace attest::cli
