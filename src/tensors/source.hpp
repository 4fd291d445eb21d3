// Where the bytes of a tensor file come from, for readers that check a header before they read
// what it promises; internal to this room.
#pragma once

#include <algorithm>
#include <cerrno>
#include <exception>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "tensors/message.hpp"

namespace attest::tensors {

class MemorySource {
 public:
  MemorySource(std::span<const std::byte> bytes, std::string_view file_name)
      : bytes_(bytes), file_name_(file_name) {}

  std::string_view file_name() const { return file_name_; }
  Index size() const { return static_cast<Index>(bytes_.size()); }
  Status read(Index offset, std::span<std::byte> into) {
    std::ranges::copy(bytes_.subspan(static_cast<std::size_t>(offset), into.size()), into.begin());
    return {};
  }

 private:
  std::span<const std::byte> bytes_;
  std::string_view file_name_;
};

class FileSource {
 public:
  FileSource(std::ifstream stream, Index size, std::string file_name)
      : stream_(std::move(stream)), size_(size), file_name_(std::move(file_name)) {}

  /// A regular file; its size is that at this moment.
  static Result<FileSource> open(const std::filesystem::path& path) {
    const auto failed = [&path](const std::error_code& code) {
      return Status{StatusCode::io_error, file_label(path.native()) + ": " + code.message()};
    };
    std::error_code code;
    const std::filesystem::file_status kind = std::filesystem::status(path, code);
    if (code) return failed(code);
    // Opening a pipe would wait for its other end.
    if (!std::filesystem::is_regular_file(kind))
      return Status{StatusCode::io_error, file_label(path.native()) + ": not a regular file"};
    const std::uintmax_t size = std::filesystem::file_size(path, code);
    if (code) return failed(code);
    std::ifstream stream(path, std::ios::binary);
    if (!stream) return failed({errno, std::generic_category()});
    return FileSource(std::move(stream), static_cast<Index>(size), path.native());
  }

  std::string_view file_name() const { return file_name_; }
  Index size() const { return size_; }
  Status read(Index offset, std::span<std::byte> into) {
    stream_.seekg(static_cast<std::streamoff>(offset));
    stream_.read(reinterpret_cast<char*>(into.data()), static_cast<std::streamsize>(into.size()));
    if (stream_) return {};
    return located(file_name_, offset + static_cast<Index>(stream_.gcount()),
                   "cannot read on; the file had " + std::to_string(size_) + " bytes when opened");
  }

 private:
  std::ifstream stream_;
  Index size_;
  std::string file_name_;
};

/// Of an exception while a file is read, such as memory that is not there.
inline Status out_of_line(std::string_view file_name, const std::exception& error) {
  return {StatusCode::io_error, file_label(file_name) + ": " + printable(error.what())};
}

}  // namespace attest::tensors
