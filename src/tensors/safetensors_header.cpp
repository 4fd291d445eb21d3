#include "tensors/safetensors_header.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "tensors/header_handler.hpp"
#include "tensors/message.hpp"

namespace attest::tensors {
namespace {

constexpr auto kMaxIndex = std::numeric_limits<Index>::max();

Status check_layout(const Header& header, Index data_start, Index data_bytes,
                    std::string_view file_name) {
  const HeaderEntry* previous = nullptr;
  Index filled = 0;
  for (const HeaderEntry& entry : header.entries) {
    const std::string label = "tensor " + in_quotes(entry.name);
    if (entry.end > data_bytes)
      return located(file_name, entry.name_offset,
                     label + ": data_offsets end at " + std::to_string(entry.end) +
                         ", beyond the " + std::to_string(data_bytes) + " bytes of data");
    if (entry.begin < filled)
      return located(file_name, data_start + entry.begin,
                     label + " overlaps tensor " + in_quotes(previous->name));
    if (entry.begin > filled)
      return located(file_name, data_start + filled,
                     "hole of " + std::to_string(entry.begin - filled) + " bytes before " + label);
    filled = entry.end;
    previous = &entry;
  }
  if (filled < data_bytes)
    return located(file_name, data_start + filled,
                   std::to_string(data_bytes - filled) + " trailing bytes belong to no tensor");
  return {};
}

}  // namespace

std::string_view format_name(Dtype dtype) {
  switch (dtype) {
    case Dtype::f32:
      return "F32";
    case Dtype::f64:
      return "F64";
    case Dtype::bf16:
      return "BF16";
    case Dtype::f16:
      return "F16";
    case Dtype::e4m3:
      return "F8_E4M3";
    case Dtype::e5m2:
      break;
  }
  return "F8_E5M2";
}

std::optional<Dtype> dtype_of_name(std::string_view name) {
  for (const Dtype dtype : kDtypes)
    if (name == format_name(dtype)) return dtype;
  return std::nullopt;
}

std::optional<Index> byte_size(Dtype dtype, std::span<const Index> shape) {
  auto bytes = static_cast<Index>(size_of(dtype));
  for (const Index extent : shape) {
    if (extent < 0 || (extent > 0 && bytes > kMaxIndex / extent)) return std::nullopt;
    bytes *= extent;
  }
  return bytes;
}

std::string shape_text(std::span<const Index> shape) {
  constexpr std::size_t kShown = 8;
  std::string text = "[";
  for (std::size_t axis = 0; axis < std::min(kShown, shape.size()); ++axis)
    text += (axis == 0 ? "" : ", ") + std::to_string(shape[axis]);
  return text + (shape.size() > kShown ? ", ...]" : "]");
}

Result<Header> parse_header(std::span<const std::byte> text, Index data_bytes,
                            std::string_view file_name) {
  const auto* const first = reinterpret_cast<const char*>(text.data());
  const std::string_view characters(first, text.size());
  if (!characters.starts_with('{'))
    return located(file_name, kLengthFieldBytes,
                   "the header is not an object: it must begin with {");
  // nlohmann's lexer takes a NUL for the end of the input and would skip what follows.
  if (const std::size_t nul = characters.find('\0'); nul != std::string_view::npos)
    return located(file_name, kLengthFieldBytes + static_cast<Index>(nul),
                   "the header is not JSON: NUL byte");
  HeaderHandler handler(characters, file_name);
  const TrackedCharacters begin(first, handler.read_to());
  const TrackedCharacters end(first + text.size(), handler.read_to());
  if (!nlohmann::json::sax_parse(begin, end, &handler)) return handler.status();
  Header header = handler.take();
  std::ranges::sort(header.entries, {}, [](const HeaderEntry& entry) {
    return std::tuple(entry.begin, entry.end, entry.name_offset);
  });
  const Index data_start = kLengthFieldBytes + static_cast<Index>(text.size());
  if (Status status = check_layout(header, data_start, data_bytes, file_name); !status.ok())
    return status;
  return header;
}

}  // namespace attest::tensors
