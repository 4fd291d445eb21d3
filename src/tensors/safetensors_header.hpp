// The JSON header of a safetensors file, checked; internal to this room.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attest/dtype.hpp"
#include "attest/status.hpp"

namespace attest::tensors {

/// Bytes of the length field in front of the header.
inline constexpr Index kLengthFieldBytes = 8;

/// A tenth of what the format's reference implementation takes, and enough for some 100 000
/// tensors. What is made of the densest header of this length (a shape of one-digit extents, or
/// metadata of empty texts) takes about 15 times as many bytes.
inline constexpr Index kMaxHeaderBytes = 10'000'000;

inline constexpr std::string_view kMetadataKey = "__metadata__";

struct HeaderEntry {
  std::string name;
  Dtype dtype = Dtype::f32;
  std::vector<Index> shape;
  Index begin = 0;        ///< first byte, counted from the start of the data
  Index end = 0;          ///< one behind the last byte
  Index name_offset = 0;  ///< of the name in the file, for messages
};

struct Header {
  std::map<std::string, std::string> metadata;
  std::vector<HeaderEntry> entries;  ///< in the order of their bytes
};

/// Name of an element type in the format. F8_E4M3 is the type without infinities.
std::string_view format_name(Dtype dtype);

/// The element type of that name, if it is one of ours.
std::optional<Dtype> dtype_of_name(std::string_view format_name);

/// Bytes of a dense tensor; none if an extent is negative or 64 bits do not hold the product.
std::optional<Index> byte_size(Dtype dtype, std::span<const Index> shape);

/// "[2, 3]", cut after some extents.
std::string shape_text(std::span<const Index> shape);

/// Parses a header that starts at byte 8 of the file and is followed by `data_bytes` bytes. The
/// entries of a header that is returned fill these bytes without overlap or hole, and each has the
/// size of its shape. Stack use does not depend on the header.
Result<Header> parse_header(std::span<const std::byte> text, Index data_bytes,
                            std::string_view file_name);

}  // namespace attest::tensors
