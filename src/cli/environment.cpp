#include "cli/environment.hpp"

#include <fmt/core.h>
#include <hwy/highway.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <Eigen/Core>
#include <algorithm>
#include <cctype>
#include <cfenv>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/case_text.hpp"
#include "cli/git_id.hpp"
#include "reference/oracle.hpp"

namespace attest::cli {
namespace {

/// A field of the first processor in /proc/cpuinfo; empty when there is none.
std::string processor_field(std::string_view name) {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    if (!line.starts_with(name)) continue;
    const std::size_t colon = line.find(": ");
    return colon == std::string::npos ? std::string{} : line.substr(colon + 2);
  }
  return {};
}

std::string vector_features() {
  const std::string flags = " " + processor_field("flags") + " ";
  std::string found;
  for (const char* const feature :
       {"sse4_2", "avx", "f16c", "fma", "avx2", "avx512f", "avx512bw", "avx512_bf16", "amx_tile"})
    if (flags.find(" " + std::string(feature) + " ") != std::string::npos)
      found += (found.empty() ? "" : " ") + std::string(feature);
  return found.empty() ? "unknown" : found;
}

std::string compiler() {
#ifdef __clang__
  return "clang " __clang_version__;
#else
  return "gcc " __VERSION__;
#endif
}

std::string standard_library() {
#ifdef _GLIBCXX_RELEASE
  return fmt::format("libstdc++ {}", _GLIBCXX_RELEASE);
#else
  return "unknown";
#endif
}

std::string rounding_mode() {
  switch (std::fegetround()) {
    case FE_TONEAREST:
      return "to nearest";
    case FE_UPWARD:
      return "upward";
    case FE_DOWNWARD:
      return "downward";
    default:
      return "toward zero";
  }
}

/// Whether results (FTZ) and operands (DAZ) below the normal range survive.
std::string subnormal_state() {
  const volatile float smallest_normal = std::numeric_limits<float>::min();
  const volatile float half = 0.5F;
  const volatile float result = smallest_normal * half;
  const volatile float subnormal = std::numeric_limits<float>::denorm_min();
  const volatile float doubled = subnormal + subnormal;
  if (result == 0) return "results flushed to zero";
  return doubled == 0 ? "operands taken as zero" : "gradual underflow";
}

std::string host() {
  utsname names{};
  if (uname(&names) != 0) return "unknown";
  return std::string(names.sysname) + " " + names.release + " " + names.machine;
}

}  // namespace

std::string command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string line;
  std::string word;
  for (bool first = true; std::getline(file, word, '\0'); first = false) {
    if (first) {
      line = std::filesystem::path(word).filename().string();
      continue;
    }
    const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
             std::string_view("-_=+:,./@%").find(c) != std::string_view::npos;
    });
    line += ' ' + (plain ? word : shell_quoted(word));
  }
  return line;
}

reports::Environment environment() {
  reports::Environment entries{{"attest", ATTEST_VERSION},
                               {"commit", ATTEST_GIT_ID},
                               {"build", ATTEST_BUILD_TYPE},
                               {"compiler", compiler()},
                               {"flags", ATTEST_BUILD_FLAGS},
                               {"contraction", "off"},
                               {"host", host()},
                               {"processor", processor_field("model name")},
                               {"vector features", vector_features()},
                               {"cores", std::to_string(std::thread::hardware_concurrency())},
                               {"rounding", rounding_mode()},
                               {"subnormals", subnormal_state()},
                               {"eigen", fmt::format("{}.{}.{}", EIGEN_WORLD_VERSION,
                                                     EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION)}};
  entries.emplace_back("fmt", fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100,
                                          FMT_VERSION % 100));
  entries.emplace_back("highway", fmt::format("{}.{}.{}", HWY_MAJOR, HWY_MINOR, HWY_PATCH));
  entries.emplace_back("nlohmann-json",
                       fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR,
                                   NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH));
  entries.emplace_back("c++ library", standard_library());
  for (auto& entry : reference::oracle_versions()) entries.push_back(std::move(entry));
  return entries;
}

}  // namespace attest::cli
