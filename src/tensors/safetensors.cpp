#include "tensors/safetensors.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <exception>
#include <utility>

#include "tensors/message.hpp"
#include "tensors/safetensors_header.hpp"
#include "tensors/source.hpp"

namespace attest::tensors {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are copied as they are");

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
  Result<FileSource> source = FileSource::open(path);
  if (!source.ok()) return source.status();
  return load(source.value());
} catch (const std::exception& error) {
  return out_of_line(path.native(), error);
}

}  // namespace attest::tensors
