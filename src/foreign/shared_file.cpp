#include "foreign/shared_file.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace attest::foreign {
namespace {

constexpr const char* kInMemory = "/dev/shm";

Status cannot(const std::string& what) {
  return {StatusCode::io_error, "cannot " + what + ": " + std::strerror(errno)};
}

/// Empty where there is none.
std::filesystem::path folder() {
  std::error_code none;
  if (std::filesystem::is_directory(kInMemory, none)) return kInMemory;
  return std::filesystem::temp_directory_path(none);
}

/// Beyond the limit of a file (ulimit -f) a write would end this process by a signal.
bool may_reach(std::uint64_t end) {
  rlimit limit{};
  return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && end <= limit.rlim_cur;
}

/// Hands what is left from `done` on to `some(bytes, offset)` until all is done.
template <class Byte, class Some>
bool all_of(std::span<Byte> bytes, std::uint64_t offset, Some&& some) {
  while (!bytes.empty()) {
    const ssize_t count = some(bytes, static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
  return true;
}

}  // namespace

Result<SharedFile> SharedFile::make() {
  std::string path = (folder() / "attest-XXXXXX").string();
  SharedFile shared;
  shared.file_ = Descriptor(::mkostemp(path.data(), O_CLOEXEC));  // O_EXCL, mode 0600
  if (!shared.open()) return cannot("make a file for shared memory");
  shared.path_ = std::move(path);
  return shared;
}

Result<SharedFile> SharedFile::open_other(const std::string& path) {
  const Descriptor opened(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  SharedFile shared;
  shared.file_ = Descriptor(::fcntl(opened.number(), F_DUPFD_CLOEXEC, kFirstOwn));
  if (!shared.open()) return cannot("open " + path);
  return shared;
}

SharedFile::~SharedFile() {
  remove_name();
}

void SharedFile::remove_name() {
  if (!path_.empty()) ::unlink(path_.c_str());
  path_.clear();
}

bool SharedFile::write(std::uint64_t offset, std::span<const std::byte> bytes) const {
  if (!may_reach(offset + bytes.size())) return false;
  return all_of(bytes, offset, [&](std::span<const std::byte> rest, off_t at) {
    return ::pwrite(file_.number(), rest.data(), rest.size(), at);
  });
}

bool SharedFile::read(std::uint64_t offset, std::span<std::byte> bytes) const {
  return all_of(bytes, offset, [&](std::span<std::byte> rest, off_t at) {
    return ::pread(file_.number(), rest.data(), rest.size(), at);
  });
}

}  // namespace attest::foreign
