// The frame of docs/pipe-protocol.md: four letters, two lengths, one line of JSON, raw data.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attest/status.hpp"

namespace attest::foreign {

inline constexpr std::string_view kFrameLetters = "ATP1";
inline constexpr std::size_t kFrameHeaderBytes = 16;
inline constexpr std::size_t kDataAlignment = 64;
/// Where the next tensor begins behind so many bytes of data.
constexpr std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + kDataAlignment - 1) / kDataAlignment * kDataAlignment;
}

struct Frame {
  std::string line;  ///< without its line break
  std::vector<std::byte> data;
};

/// What a reader accepts. Memory never grows beyond twice what has arrived, or these.
struct FrameLimits {
  std::uint64_t line_bytes = std::uint64_t{16} << 20;
  std::uint64_t data_bytes = 0;
};

/// The header of a frame whose line, with its line break, and data have these lengths.
std::array<std::byte, kFrameHeaderBytes> frame_header(std::uint32_t line_bytes,
                                                      std::uint64_t data_bytes);

/// Takes the bytes of one frame as they come. Whoever reads asks for room, fills some of it, and
/// says how much; nothing beyond the frame is asked for.
class FrameReader {
 public:
  explicit FrameReader(FrameLimits limits) : limits_(limits) {}

  bool complete() const { return part_ == Part::none; }
  /// Whether a byte of the frame has come.
  bool begun() const { return part_ != Part::header || filled_ > 0; }
  /// Where the next bytes go; never empty before the frame is complete.
  std::span<std::byte> room();
  /// `count` bytes of the room have been filled.
  /// Errors: invalid_argument, at the first byte that no frame within the limits has.
  Status take(std::size_t count);
  /// Precondition: complete().
  Frame frame() && { return {std::move(line_), std::move(data_)}; }

 private:
  enum class Part { header, line, data, none };

  Status check_letters() const;
  Status take_header();
  Status take_line();
  void begin(Part part);
  /// Bytes of the part that is being read.
  std::uint64_t size() const;

  FrameLimits limits_;
  Part part_ = Part::header;
  std::uint64_t filled_ = 0;  ///< of that part
  std::array<std::byte, kFrameHeaderBytes> header_{};
  std::uint64_t line_bytes_ = 0;
  std::uint64_t data_bytes_ = 0;
  std::string line_;
  std::vector<std::byte> data_;
};

/// Text that somebody else wrote as one line of bounded length, in quotes.
std::string in_quotes(std::string_view text);

}  // namespace attest::foreign
