// Reading and writing of safetensors files: 8 bytes of little-endian header length, a JSON header,
// then the tensors' elements, dense, row-major and little-endian, one after another.
//
// The input is not trusted. Whatever the bytes are, a call returns a value or a one-line status
// "<file>: byte <offset>: <what>", the offset counted from the start of the file; nothing is
// thrown, and memory stays within a constant factor of the size of the input.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attest/dtype.hpp"
#include "attest/status.hpp"

namespace attest::tensors {

/// One tensor. `bytes` has product(shape) * size_of(dtype) bytes; rank 0 is one element.
struct Entry {
  std::string name;
  Dtype dtype = Dtype::f32;
  std::vector<Index> shape;
  std::vector<std::byte> bytes;

  friend bool operator==(const Entry&, const Entry&) = default;
};

struct SafetensorsFile {
  std::map<std::string, std::string> metadata;  ///< the header's "__metadata__"
  std::vector<Entry> entries;                   ///< in the order of their bytes in the file

  /// The tensor of that name, or null. The pointer lives as long as `entries` is not changed.
  const Entry* find(std::string_view name) const;

  friend bool operator==(const SafetensorsFile&, const SafetensorsFile&) = default;
};

/// Reads a whole file that is in memory; `file_name` is only for messages.
/// Read are the types F32, F64, BF16, F16, F8_E4M3 and F8_E5M2. Everything else is
/// StatusCode::io_error: a header longer than the input or than 100 million bytes, one that is not
/// the JSON object of the format (duplicate and unknown keys included), and tensors that do not
/// fill the data exactly once.
Result<SafetensorsFile> parse_safetensors(std::span<const std::byte> bytes,
                                          std::string_view file_name);

/// The same for a regular file on disk. The header is checked against the file's size before
/// anything of that size is allocated.
Result<SafetensorsFile> read_safetensors(const std::filesystem::path& path);

/// Replaces `path` at once or not at all: the content goes to a temporary file in the same folder,
/// is flushed to the device and renamed; on failure the temporary file is removed and an older file
/// of that name stays as it was. StatusCode::invalid_argument for content that has no file (a name
/// twice, bytes that do not fit the shape, text that is not UTF-8), io_error for the file system.
Status write_safetensors(const std::filesystem::path& path, const SafetensorsFile& file);

}  // namespace attest::tensors
