#include "bench/memory.hpp"

#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <vector>

namespace attest::bench {
namespace {

/// A field of a file of /proc/self in bytes.
std::optional<double> field_bytes(const char* path, const std::string& field) {
  std::ifstream file(path);
  for (std::string word; file >> word;) {
    double kibibytes = 0;
    if (word == field + ":" && file >> kibibytes) return kibibytes * 1024;
  }
  return std::nullopt;
}

std::optional<double> status_bytes(const std::string& field) {
  return field_bytes("/proc/self/status", field);
}

/// Counted page by page; the fields of the status may be some hundred KiB off.
std::optional<double> anonymous_bytes() {
  return field_bytes("/proc/self/smaps_rollup", "Anonymous");
}

/// Makes the peak of the resident memory what is resident now.
bool reset_peak() {
  std::ofstream file("/proc/self/clear_refs");
  return static_cast<bool>(file << "5" << std::flush);
}

/// Standard output of a program of these words; nothing when it fails.
std::optional<std::string> output_of(std::vector<std::string> words) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return std::nullopt;
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  close(ends[1]);
  std::string text;
  std::array<char, 256> part{};
  for (ssize_t count = 0; (count = read(ends[0], part.data(), part.size())) > 0;)
    text.append(part.data(), static_cast<std::size_t>(count));
  close(ends[0]);
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0) return std::nullopt;
  return text;
}

}  // namespace

std::optional<double> first_call_bytes(Call& call) {
  malloc_trim(0);  // freed memory that stays resident would hide what the call takes
  if (!reset_peak()) return std::nullopt;
  const auto before = status_bytes("VmRSS");
  const auto files_before = status_bytes("RssFile");
  const auto kept_before = anonymous_bytes();
  if (!before || !files_before || !kept_before || !call.run().ok()) return std::nullopt;
  const auto peak = status_bytes("VmHWM");
  const auto files = status_bytes("RssFile");
  const auto kept = anonymous_bytes();
  if (!peak || !files || !kept) return std::nullopt;
  // What the call loads of program files counts as code, not as memory of the call.
  const double risen = (*peak - *before) - (*files - *files_before);
  return std::max({risen, *kept - *kept_before, 0.0}) + call.workspace_bytes();
}

std::optional<double> first_call_bytes_apart(const std::string& workload,
                                             const std::string& competitor,
                                             const std::string& sizes_flag) {
  std::vector<std::string> words{"/proc/self/exe", "--memory-of", workload, "--competitor",
                                 competitor};
  if (!sizes_flag.empty()) words.push_back(sizes_flag);
  const auto text = output_of(std::move(words));
  if (!text || text->empty()) return std::nullopt;
  return std::strtod(text->c_str(), nullptr);
}

}  // namespace attest::bench
