// A file that this process and one other have open, for the data of large messages
// (docs/pipe-protocol.md). It is read and written as a file, never mapped: whatever the other side
// does to its size is an error here and no signal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "attest/status.hpp"
#include "foreign/spawn.hpp"

namespace attest::foreign {

class SharedFile {
 public:
  SharedFile() = default;
  /// A new file that nobody else had and only this user may open; without bytes. In memory where
  /// the system has /dev/shm, else in the folder for temporary files. Errors: io_error.
  static Result<SharedFile> make();
  /// That of another process. Errors: io_error.
  static Result<SharedFile> open_other(const std::string& path);

  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;
  SharedFile(SharedFile&& other) noexcept { *this = std::move(other); }
  SharedFile& operator=(SharedFile&& other) noexcept {
    std::swap(file_, other.file_);
    std::swap(path_, other.path_);
    return *this;
  }
  /// Its name is removed.
  ~SharedFile();

  bool open() const { return file_.open(); }
  /// Empty where it has none any more, and for that of another process.
  const std::string& path() const { return path_; }
  /// Whoever has it open keeps it.
  void remove_name();

  /// All of the bytes, from `offset` on; false: there is no room for them.
  bool write(std::uint64_t offset, std::span<const std::byte> bytes) const;
  /// False: there are not so many.
  bool read(std::uint64_t offset, std::span<std::byte> bytes) const;

 private:
  Descriptor file_;
  std::string path_;
};

}  // namespace attest::foreign
