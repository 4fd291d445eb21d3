#include "foreign/frames.hpp"

#include <algorithm>
#include <cstring>

#include "foreign/description.hpp"

namespace attest::foreign {
namespace {

/// A buffer of a whole part is made at once up to this size; larger ones grow with what comes.
constexpr std::uint64_t kAtOnce = std::uint64_t{1} << 20;

template <class Number>
Number little_endian(const std::byte* from) {
  Number number = 0;
  for (std::size_t i = sizeof(Number); i-- > 0;)
    number = static_cast<Number>(number << 8 | static_cast<Number>(from[i]));
  return number;
}

template <class Number>
void put_little_endian(std::byte* to, Number number) {
  for (std::size_t i = 0; i < sizeof(Number); ++i)
    to[i] = static_cast<std::byte>(number >> (8 * i));
}

std::uint64_t grown(std::uint64_t filled, std::uint64_t size) {
  return std::min(size, std::max(kAtOnce, 2 * filled));
}

std::string size_text(std::uint64_t bytes) {
  constexpr int kMebi = 20;
  if (bytes >> kMebi == 0) return std::to_string(bytes) + " bytes";
  return std::to_string(bytes >> kMebi) + " MiB";
}

}  // namespace

std::string in_quotes(std::string_view text) {
  if (text.empty()) return "''";
  constexpr std::size_t kLongest = 120;
  const bool is_longer = text.size() > kLongest;
  return "'" + one_line(text.data(), std::min(text.size(), kLongest), kLongest) +
         (is_longer ? "...'" : "'");
}

std::array<std::byte, kFrameHeaderBytes> frame_header(std::uint32_t line_bytes,
                                                      std::uint64_t data_bytes) {
  std::array<std::byte, kFrameHeaderBytes> header{};
  std::memcpy(header.data(), kFrameLetters.data(), kFrameLetters.size());
  put_little_endian(header.data() + 4, line_bytes);
  put_little_endian(header.data() + 8, data_bytes);
  return header;
}

std::uint64_t FrameReader::size() const {
  if (part_ == Part::header) return kFrameHeaderBytes;
  return part_ == Part::line ? line_bytes_ : data_bytes_;
}

std::span<std::byte> FrameReader::room() {
  const auto filled = static_cast<std::size_t>(filled_);
  if (part_ == Part::header) return std::span(header_).subspan(filled);
  const auto wanted = static_cast<std::size_t>(grown(filled_, size()));
  if (part_ == Part::line) {
    if (line_.size() < wanted) line_.resize(wanted);
    return std::as_writable_bytes(std::span(line_)).subspan(filled);
  }
  if (data_.size() < wanted) data_.resize(wanted);
  return std::span(data_).subspan(filled);
}

void FrameReader::begin(Part part) {
  part_ = part;
  filled_ = 0;
  if (part_ == Part::data && data_bytes_ == 0) part_ = Part::none;
}

Status FrameReader::take(std::size_t count) {
  filled_ += count;
  if (part_ == Part::header)
    if (Status status = check_letters(); !status.ok()) return status;
  if (filled_ < size()) return {};
  if (part_ == Part::header) return take_header();
  if (part_ == Part::line) return take_line();
  begin(Part::none);
  return {};
}

Status FrameReader::check_letters() const {
  const std::string_view come(reinterpret_cast<const char*>(header_.data()),
                              static_cast<std::size_t>(filled_));
  const std::string_view letters = come.substr(0, kFrameLetters.size());
  if (letters == kFrameLetters.substr(0, letters.size())) return {};
  return invalid_argument("a frame begins with ATP1, not with " + in_quotes(come));
}

Status FrameReader::take_header() {
  line_bytes_ = little_endian<std::uint32_t>(header_.data() + 4);
  data_bytes_ = little_endian<std::uint64_t>(header_.data() + 8);
  if (line_bytes_ == 0) return invalid_argument("a frame without a line");
  if (line_bytes_ > limits_.line_bytes)
    return invalid_argument("a frame says that its line has " + size_text(line_bytes_) +
                            "; at most " + size_text(limits_.line_bytes) + " are taken");
  if (data_bytes_ > limits_.data_bytes)
    return invalid_argument("a frame says that it has " + std::to_string(data_bytes_) +
                            " bytes of data; at most " + std::to_string(limits_.data_bytes) +
                            " are expected");
  begin(Part::line);
  return {};
}

Status FrameReader::take_line() {
  if (line_.back() != '\n') return invalid_argument("the line of a frame does not end");
  line_.pop_back();
  if (line_.find('\n') != std::string::npos)
    return invalid_argument("the line of a frame has a line break inside");
  begin(Part::data);
  return {};
}

}  // namespace attest::foreign
