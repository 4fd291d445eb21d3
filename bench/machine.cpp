#include "bench/machine.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "bench/git_id.hpp"

namespace attest::bench {
namespace {

/// A field of the first processor in /proc/cpuinfo.
std::string processor(const std::string& name) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with(name) && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  return std::getline(file, line) ? line : "unknown";
}

std::string caches() {
  const auto size = [](int name) {
    const long bytes = sysconf(name);
    return bytes > 0 ? fmt::format("{} KiB", bytes / 1024) : std::string("unknown");
  };
  return "L1d " + size(_SC_LEVEL1_DCACHE_SIZE) + ", L2 " + size(_SC_LEVEL2_CACHE_SIZE) + ", L3 " +
         size(_SC_LEVEL3_CACHE_SIZE);
}

}  // namespace

std::vector<std::pair<std::string, std::string>> machine() {
  return {{"processor", processor("model name") + ", " +
                            std::to_string(std::thread::hardware_concurrency()) + " threads"},
          {"clock", processor("cpu MHz") + " MHz at the start"},
          {"caches", caches()},
          {"load average", first_line("/proc/loadavg")},
#ifdef __clang__
          {"compiler", "clang " __clang_version__},
#else
          {"compiler", "gcc " __VERSION__},
#endif
          {"build", ATTEST_BUILD_TYPE},
          {"commit", ATTEST_GIT_ID}};
}

void start_with_clean_environment(char** arguments) {
  bool changed = false;
  for (const char* const name : {"OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"}) {
    changed = changed || std::getenv(name) != nullptr;
    unsetenv(name);
  }
  const char* const threads = std::getenv("OMP_NUM_THREADS");
  if (threads == nullptr || std::string(threads) != "1") {
    changed = true;
    setenv("OMP_NUM_THREADS", "1", 1);
  }
  if (changed) execv("/proc/self/exe", arguments);
}

}  // namespace attest::bench
