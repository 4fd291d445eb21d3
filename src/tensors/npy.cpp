#include "tensors/npy.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <exception>
#include <limits>
#include <utility>

#include "tensors/message.hpp"
#include "tensors/npy_header.hpp"
#include "tensors/safetensors_header.hpp"
#include "tensors/source.hpp"

namespace attest::tensors {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are copied as they are");

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr Index kVersionBytes = 2;

struct ElementType {
  std::string_view word;  ///< of descr, without its byte order
  Index bytes = 0;
  std::optional<Dtype> dtype;
  bool swappable = false;  ///< whether the byte order says anything
};
constexpr std::array<ElementType, 8> kElementTypes{{
    {"f8", 8, Dtype::f64, true},
    {"f4", 4, Dtype::f32, true},
    {"f2", 2, Dtype::f16, true},
    {"V2", 2, Dtype::bf16, false},
    {"u2", 2, std::nullopt, true},
    {"u1", 1, std::nullopt, false},
    {"V1", 1, std::nullopt, false},
    {"f1", 1, std::nullopt, false},
}};

const ElementType* find_type(std::string_view descr) {
  if (descr.size() != 3 || std::string_view("<>|=").find(descr.front()) == descr.npos)
    return nullptr;
  const auto at = std::ranges::find(kElementTypes, descr.substr(1), &ElementType::word);
  return at == kElementTypes.end() ? nullptr : &*at;
}

/// The place and length of the dict.
struct HeaderPlace {
  Index offset = 0;
  Index length = 0;
};

template <class Source>
Result<HeaderPlace> find_header(Source& source) {
  const auto magic_bytes = static_cast<Index>(kMagic.size());
  const Index at_version = magic_bytes + kVersionBytes;
  if (source.size() < at_version)
    return located(source.file_name(), source.size(),
                   "the file ends inside the first 8 bytes of the npy format");
  std::array<std::byte, 8> first{};
  if (Status status = source.read(0, first); !status.ok()) return status;
  if (!std::ranges::equal(std::as_bytes(std::span(kMagic)), std::span(first).first(kMagic.size())))
    return located(source.file_name(), 0, "not an npy file: it does not begin with \\x93NUMPY");
  const auto major = std::to_integer<int>(first[6]);
  const auto minor = std::to_integer<int>(first[7]);
  if (major < 1 || major > 3 || minor != 0)
    return located(source.file_name(), magic_bytes,
                   "npy version " + std::to_string(major) + "." + std::to_string(minor) +
                       " is not supported; supported are 1.0, 2.0 and 3.0");
  std::vector<std::byte> field(major == 1 ? 2 : 4);
  const Index begin = at_version + static_cast<Index>(field.size());
  if (source.size() < begin)
    return located(source.file_name(), source.size(),
                   "the file ends inside the length of the header");
  if (Status status = source.read(at_version, field); !status.ok()) return status;
  Index length = 0;
  for (std::size_t i = field.size(); i-- > 0;)
    length = length << 8 | std::to_integer<Index>(field[i]);
  if (length > source.size() - begin)
    return located(source.file_name(), at_version,
                   "header length " + std::to_string(length) + " goes beyond the file's end: " +
                       std::to_string(source.size() - begin) + " bytes follow");
  if (length > kMaxNpyHeaderBytes)
    return located(source.file_name(), at_version,
                   "header length " + std::to_string(length) + " is over the limit of " +
                       std::to_string(kMaxNpyHeaderBytes));
  return HeaderPlace{begin, length};
}

/// Bytes of the elements; none if 64 bits do not hold the product. An extent of 0 comes last: it
/// must not hide what the others say.
std::optional<Index> data_size(Index element_bytes, const std::vector<Index>& shape) {
  Index bytes = element_bytes;
  for (const Index extent : shape) {
    if (extent == 0) continue;
    if (bytes > std::numeric_limits<Index>::max() / extent) return std::nullopt;
    bytes *= extent;
  }
  return std::ranges::find(shape, Index{0}) == shape.end() ? bytes : 0;
}

void swap_bytes(std::vector<std::byte>& bytes, std::size_t element) {
  for (std::size_t at = 0; at + element <= bytes.size(); at += element)
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                 bytes.begin() + static_cast<std::ptrdiff_t>(at + element));
}

/// From first index fastest to last index fastest.
std::vector<std::byte> row_major(const std::vector<std::byte>& column_major,
                                 const std::vector<Index>& shape, std::size_t element) {
  std::vector<std::byte> reordered(column_major.size());
  std::vector<Index> index(shape.size(), 0);
  std::vector<Index> stride(shape.size(), 1);
  for (std::size_t axis = 1; axis < shape.size(); ++axis)
    stride[axis] = stride[axis - 1] * shape[axis - 1];
  Index from = 0;
  for (std::size_t to = 0; to + element <= reordered.size(); to += element) {
    std::copy_n(column_major.begin() + from * static_cast<std::ptrdiff_t>(element), element,
                reordered.begin() + static_cast<std::ptrdiff_t>(to));
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      from += stride[axis];
      if (++index[axis] < shape[axis]) break;
      from -= stride[axis] * shape[axis];
      index[axis] = 0;
    }
  }
  return reordered;
}

template <class Source>
Result<NpyArray> load_npy(Source& source) {
  const Result<HeaderPlace> place = find_header(source);
  if (!place.ok()) return place.status();
  const auto [offset, length] = place.value();
  std::string text(static_cast<std::size_t>(length), '\0');
  if (Status status = source.read(offset, std::as_writable_bytes(std::span(text))); !status.ok())
    return status;
  Result<NpyHeader> parsed = parse_npy_header(text, offset, source.file_name());
  if (!parsed.ok()) return parsed.status();
  NpyHeader& header = parsed.value();

  const ElementType* const type = find_type(header.descr);
  if (type == nullptr)
    return located(source.file_name(), header.descr_offset,
                   "elements of type " + in_quotes(header.descr) +
                       " are not supported; supported are f8 f4 f2, and u2 V2 u1 V1 for bf16 and "
                       "fp8");
  const bool swapped = type->swappable && header.descr.front() == '>';
  const std::optional<Index> needed = data_size(type->bytes, header.shape);
  if (!needed)
    return located(source.file_name(), header.shape_offset,
                   "shape " + shape_text(header.shape) + " has 2^63 bytes or more");
  const Index data_begin = offset + length;
  const Index there = source.size() - data_begin;
  if (*needed != there)
    return located(source.file_name(), header.shape_offset,
                   "shape " + shape_text(header.shape) + " of " + header.descr + " takes " +
                       std::to_string(*needed) + " bytes, the file has " + std::to_string(there));

  NpyArray array{std::move(header.descr), type->bytes, type->dtype, std::move(header.shape), {}};
  array.bytes.resize(static_cast<std::size_t>(*needed));
  if (Status status = source.read(data_begin, array.bytes); !status.ok()) return status;
  const auto element = static_cast<std::size_t>(type->bytes);
  if (swapped) swap_bytes(array.bytes, element);
  if (header.fortran_order && array.shape.size() > 1)
    array.bytes = row_major(array.bytes, array.shape, element);
  return array;
}

}  // namespace

Result<NpyArray> parse_npy(std::span<const std::byte> bytes, std::string_view file_name) try {
  MemorySource source(bytes, file_name);
  return load_npy(source);
} catch (const std::exception& error) {
  return out_of_line(file_name, error);
}

Result<NpyArray> read_npy(const std::filesystem::path& path) try {
  Result<FileSource> source = FileSource::open(path);
  if (!source.ok()) return source.status();
  return load_npy(source.value());
} catch (const std::exception& error) {
  return out_of_line(path.native(), error);
}

Result<Entry> to_entry(NpyArray array, std::string name, std::optional<Dtype> dtype) {
  const bool only_bits = !array.dtype || array.descr.substr(1) == "V2";
  if (!only_bits || !dtype) dtype = array.dtype;
  if (!dtype)
    return invalid_argument("elements of type " + in_quotes(array.descr) +
                            " are bits: name their type in the problem text");
  if (static_cast<Index>(size_of(*dtype)) != array.element_bytes)
    return invalid_argument("elements of type " + in_quotes(array.descr) + " are no " +
                            std::string(to_string(*dtype)));
  return Entry{std::move(name), *dtype, std::move(array.shape), std::move(array.bytes)};
}

}  // namespace attest::tensors
