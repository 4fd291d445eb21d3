#include "cli/file_output.hpp"

#include <fmt/chrono.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>

namespace attest::cli {
namespace {

namespace fs = std::filesystem;

Status cannot(const std::string& what, const fs::path& path) {
  return {StatusCode::io_error, "cannot " + what + " " + path.string()};
}

/// attest-out/TIME that does not exist yet.
fs::path fresh_run_path() {
  const char* const base = std::getenv("ATTEST_OUT");
  const fs::path folder = base != nullptr ? base : "attest-out";
  const std::string time = fmt::format("{:%Y-%m-%dT%H-%M-%S}", fmt::gmtime(std::time(nullptr)));
  fs::path path = folder / time;
  std::error_code ignored;
  for (int again = 2; fs::exists(path, ignored); ++again)
    path = folder / (time + "-" + std::to_string(again));
  return path;
}

}  // namespace

Status write_file(const fs::path& path, std::string_view content) {
  PartialFile file(path);
  file.append(content);
  return file.finish();
}

PartialFile::PartialFile(fs::path path) : path_(std::move(path)), written_(path_) {
  std::error_code ignored;
  if (!fs::exists(path_, ignored) || fs::is_regular_file(path_, ignored))
    written_ += ".tmp" + std::to_string(::getpid());
  stream_.open(written_, std::ios::binary);
}

PartialFile::~PartialFile() {
  std::error_code ignored;
  if (written_ != path_) fs::remove(written_, ignored);
}

Status PartialFile::finish() {
  stream_ << std::flush;
  const bool whole = static_cast<bool>(stream_);
  stream_.close();
  if (!whole) return cannot("write", path_);
  if (written_ == path_) return {};
  std::error_code error;
  fs::rename(written_, path_, error);
  return error ? cannot("write", path_) : Status{};
}

Result<fs::path> make_run_folder(const std::string& wanted) {
  const fs::path path = wanted.empty() ? fresh_run_path() : fs::path(wanted);
  std::error_code error;
  fs::create_directories(path, error);
  if (error || !fs::is_directory(path, error)) return cannot("create the folder", path);
  if (wanted.empty()) {
    // A convenience: a file system without links still has the run itself.
    const fs::path link = path.parent_path() / "latest";
    if (fs::is_symlink(link, error)) fs::remove(link, error);
    fs::create_directory_symlink(path.filename(), link, error);
  }
  return path;
}

Result<LineFile> LineFile::create(const fs::path& path) {
  std::ofstream stream(path, std::ios::binary | std::ios::trunc);
  if (!stream) return cannot("write", path);
  return LineFile(std::move(stream));
}

bool LineFile::append(std::string_view line) {
  stream_ << line << '\n' << std::flush;
  return static_cast<bool>(stream_);
}

}  // namespace attest::cli
