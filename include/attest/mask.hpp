// Which keys a query sees. A key that is not visible is excluded: it never counts as a large
// negative score, and what its k and v hold never matters.
#pragma once

#include <optional>
#include <vector>

#include "attest/status.hpp"

namespace attest {

/// Query i sees key j iff j <= i + offset. The corner is always said.
struct Causal {
  enum class Alignment {
    top_left,      ///< offset 0
    bottom_right,  ///< offset key_length - seq_q, with the key length of the batch member
    explicit_offset,
  };
  Alignment alignment = Alignment::top_left;
  Index offset = 0;  ///< read only for explicit_offset; may be negative

  friend bool operator==(const Causal&, const Causal&) = default;
};

/// One bit a (query, key) pair, shared by all batch members and heads; true means visible.
struct MaskBits {
  Index rows = 0;     ///< seq_q, or 1: the same row for every query
  Index columns = 0;  ///< seq_kv
  std::vector<bool> visible;

  bool at(Index query, Index key) const {
    const Index row = rows == 1 ? 0 : query;
    return visible[static_cast<std::size_t>(row * columns + key)];
  }
  friend bool operator==(const MaskBits&, const MaskBits&) = default;
};

/// A key is visible iff every part that is present lets it through (AND).
struct Mask {
  std::optional<Causal> causal;
  std::optional<MaskBits> bits;

  bool none() const noexcept { return !causal && !bits; }
  friend bool operator==(const Mask&, const Mask&) = default;
};

/// How much of a rectangle of (query, key) pairs is visible.
enum class TileClass { empty, partial, full };

}  // namespace attest
