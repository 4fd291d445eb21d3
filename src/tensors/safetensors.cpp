#include "tensors/safetensors.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <exception>
#include <fstream>
#include <system_error>
#include <utility>

#include "tensors/message.hpp"
#include "tensors/safetensors_header.hpp"

namespace attest::tensors {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are copied as they are");

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

template <class Source>
Result<Index> read_header_length(Source& source) {
  if (source.size() < kLengthFieldBytes)
    return located(source.file_name(), source.size(),
                   "the file ends inside the 8 bytes of the header length");
  std::vector<std::byte> field(kLengthFieldBytes);
  if (Status status = source.read(0, field); !status.ok()) return status;
  std::uint64_t length = 0;
  for (std::size_t i = field.size(); i-- > 0;)
    length = length << 8 | std::to_integer<std::uint64_t>(field[i]);
  const Index available = source.size() - kLengthFieldBytes;
  if (length > static_cast<std::uint64_t>(available))
    return located(source.file_name(), 0,
                   "header length " + std::to_string(length) + " goes beyond the file's end: " +
                       std::to_string(available) + " bytes follow");
  if (length > static_cast<std::uint64_t>(kMaxHeaderBytes))
    return located(source.file_name(), 0,
                   "header length " + std::to_string(length) + " is over the limit of " +
                       std::to_string(kMaxHeaderBytes));
  return static_cast<Index>(length);
}

template <class Source>
Result<SafetensorsFile> load(Source& source) {
  const Result<Index> length = read_header_length(source);
  if (!length.ok()) return length.status();
  std::vector<std::byte> text(static_cast<std::size_t>(length.value()));
  if (Status status = source.read(kLengthFieldBytes, text); !status.ok()) return status;
  const Index data_start = kLengthFieldBytes + length.value();
  Result<Header> header = parse_header(text, source.size() - data_start, source.file_name());
  if (!header.ok()) return header.status();

  SafetensorsFile file;
  file.metadata = std::move(header.value().metadata);
  for (HeaderEntry& described : header.value().entries) {
    Entry entry{std::move(described.name), described.dtype, std::move(described.shape), {}};
    entry.bytes.resize(static_cast<std::size_t>(described.end - described.begin));
    if (Status status = source.read(data_start + described.begin, entry.bytes); !status.ok())
      return status;
    file.entries.push_back(std::move(entry));
  }
  return file;
}

Status out_of_line(std::string_view file_name, const std::exception& error) {
  return {StatusCode::io_error, file_label(file_name) + ": " + printable(error.what())};
}

}  // namespace

const Entry* SafetensorsFile::find(std::string_view name) const {
  const auto at =
      std::ranges::find_if(entries, [name](const Entry& entry) { return entry.name == name; });
  return at == entries.end() ? nullptr : &*at;
}

Result<SafetensorsFile> parse_safetensors(std::span<const std::byte> bytes,
                                          std::string_view file_name) try {
  MemorySource source(bytes, file_name);
  return load(source);
} catch (const std::exception& error) {
  return out_of_line(file_name, error);
}

Result<SafetensorsFile> read_safetensors(const std::filesystem::path& path) try {
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
  FileSource source(std::move(stream), static_cast<Index>(size), path.native());
  return load(source);
} catch (const std::exception& error) {
  return out_of_line(path.native(), error);
}

}  // namespace attest::tensors
