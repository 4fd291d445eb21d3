// Choices out of the fuzzer's bytes. Decoding is total: every byte string, the empty one included,
// is a case, so that no input of the fuzzer is wasted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "properties/draw.hpp"

namespace attest::fuzz {

class BytesDraw : public properties::Draw {
 public:
  /// The bytes must outlive the draw.
  explicit BytesDraw(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  /// Takes as many bytes as `bound` needs and no more, so that a mutation of one byte changes one
  /// choice. After the last byte every choice is 0, the simplest: a shorter input is a simpler
  /// case.
  std::uint64_t below(std::uint64_t bound) override {
    std::uint64_t value = 0;
    for (std::uint64_t left = bound - 1; left > 0; left >>= 8) value = value << 8 | next_byte();
    // The bias of the remainder does not matter: these choices are not random.
    return value % bound;
  }

 private:
  std::uint8_t next_byte() {
    if (bytes_.empty()) return 0;
    const std::uint8_t byte = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return byte;
  }

  std::span<const std::uint8_t> bytes_;
};

}  // namespace attest::fuzz
