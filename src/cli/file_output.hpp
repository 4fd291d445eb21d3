// Files that a run leaves behind. Whole files appear atomically; line files grow line by line, so
// that a killed run leaves what it had found.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "attest/status.hpp"

namespace attest::cli {

/// Writes a temporary file beside `path`, then renames it; nothing is left behind on failure.
Status write_file(const std::filesystem::path& path, std::string_view content);

/// The same in pieces. A file that is not finished is removed.
class PartialFile {
 public:
  explicit PartialFile(std::filesystem::path path);
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;
  ~PartialFile();

  void append(std::string_view content) { stream_ << content; }
  Status finish();

 private:
  std::filesystem::path path_;
  std::filesystem::path written_;  ///< what is written to: a pipe or a device is not replaced
  std::ofstream stream_;
};

/// Creates the folder of a run: `wanted`, or attest-out/TIME (UTC) with a link `latest` beside it.
Result<std::filesystem::path> make_run_folder(const std::string& wanted);

/// A file that grows by whole lines, flushed one by one.
class LineFile {
 public:
  static Result<LineFile> create(const std::filesystem::path& path);
  /// False when the line could not be written (a full disk).
  bool append(std::string_view line);

 private:
  explicit LineFile(std::ofstream stream) : stream_(std::move(stream)) {}
  std::ofstream stream_;
};

}  // namespace attest::cli
