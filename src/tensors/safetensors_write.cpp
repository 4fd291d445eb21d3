#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>

#include "tensors/message.hpp"
#include "tensors/safetensors.hpp"
#include "tensors/safetensors_header.hpp"

namespace attest::tensors {
namespace {

/// A new file beside `target` that vanishes unless it is published.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::filesystem::path& target) : target_(target) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (created_) ::unlink(path_.c_str());
  }

  Status create() {
    static std::atomic<unsigned> counter{0};
    do {
      // Without the target's name: that may already be as long as the file system allows.
      path_ = target_.parent_path() / (".attest-" + std::to_string(::getpid()) + "-" +
                                       std::to_string(counter++) + ".partial");
      descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (descriptor_ < 0 && (errno == EEXIST || errno == EINTR));
    created_ = descriptor_ >= 0;
    return created_ ? Status{} : failed("cannot create a file in its folder");
  }

  Status append(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return failed("cannot write");
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return {};
  }

  Status publish() {
    if (::fsync(descriptor_) != 0) return failed("cannot write");
    const int descriptor = descriptor_;
    descriptor_ = -1;
    if (::close(descriptor) != 0) return failed("cannot write");
    if (std::rename(path_.c_str(), target_.c_str()) != 0) return failed("cannot be replaced");
    created_ = false;
    return {};
  }

 private:
  Status failed(std::string_view what) const {
    const std::error_code code(errno, std::generic_category());
    return {StatusCode::io_error,
            file_label(target_.native()) + ": " + std::string(what) + ": " + code.message()};
  }

  std::filesystem::path target_;
  std::filesystem::path path_;
  int descriptor_ = -1;
  bool created_ = false;
};

Status check_entry(const Entry& entry) {
  const std::string label = "tensor " + in_quotes(entry.name);
  if (entry.name == kMetadataKey) return invalid_argument(label + ": the name is reserved");
  const std::optional<Index> bytes = byte_size(entry.dtype, entry.shape);
  if (!bytes || *bytes != static_cast<Index>(entry.bytes.size()))
    return invalid_argument(label + ": " + std::to_string(entry.bytes.size()) +
                            " bytes do not fit the shape " + shape_text(entry.shape));
  return {};
}

/// The header with its length field, padded so that the data starts at a multiple of 8 bytes.
Result<std::string> header_text(const SafetensorsFile& file) {
  // Ordered, so that the header lists the tensors in the order of their bytes.
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!file.metadata.empty()) header[std::string(kMetadataKey)] = file.metadata;
  std::set<std::string_view> names;
  Index begin = 0;
  for (const Entry& entry : file.entries) {
    if (Status status = check_entry(entry); !status.ok()) return status;
    if (!names.insert(entry.name).second)
      return invalid_argument("tensor " + in_quotes(entry.name) + " is there twice");
    const Index end = begin + static_cast<Index>(entry.bytes.size());
    nlohmann::ordered_json described;
    described["dtype"] = format_name(entry.dtype);
    described["shape"] = entry.shape;
    described["data_offsets"] = {begin, end};
    header[entry.name] = std::move(described);
    begin = end;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  if (static_cast<Index>(text.size()) > kMaxHeaderBytes)
    return invalid_argument("the header has over " + std::to_string(kMaxHeaderBytes) + " bytes");
  std::string field;
  for (std::size_t length = text.size(), i = 0; i < 8; ++i, length >>= 8)
    field += static_cast<char>(length & 0xff);
  return field + text;
}

Status in_file(const std::filesystem::path& path, StatusCode code, std::string_view what) {
  return {code, file_label(path.native()) + ": " + std::string(what)};
}

}  // namespace

Status write_safetensors(const std::filesystem::path& path, const SafetensorsFile& file) try {
  const Result<std::string> header = header_text(file);
  if (!header.ok()) return in_file(path, header.status().code(), header.status().message());
  TemporaryFile temporary(path);
  if (Status status = temporary.create(); !status.ok()) return status;
  if (Status status = temporary.append(std::as_bytes(std::span(header.value()))); !status.ok())
    return status;
  for (const Entry& entry : file.entries)
    if (Status status = temporary.append(entry.bytes); !status.ok()) return status;
  return temporary.publish();
} catch (const nlohmann::json::exception& error) {
  return in_file(path, StatusCode::invalid_argument, printable(error.what()));
} catch (const std::exception& error) {
  return in_file(path, StatusCode::io_error, printable(error.what()));
}

}  // namespace attest::tensors
