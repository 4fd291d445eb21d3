// Which keys a query sees. A key that is not visible is excluded: it never counts as a large
// negative score, and what its k and v hold never matters.
//
// p = query + offset is the position of a query on the key axis; the offset is that of the mask's
// diagonal. A key is visible iff every part that is present lets it through (AND):
//
//   causal   j <= p                                prefix    j < prefix, whatever causal says
//   window   j >= p - left and j <= p + right      keep      j < keep_first, whatever left says
//   chunk    floor(p / C) C <= j < floor(p / C) C + C
//   segments q_segment(i) = k_segment(j)           bits, blocks   the bit is set
//   additive the number is not -inf; a finite one is added to the score
#pragma once

#include <optional>
#include <vector>

#include "attest/status.hpp"

namespace attest {

/// The diagonal of a causal mask: query i sees key j iff j <= i + offset. The corner is always
/// said.
struct Causal {
  enum class Alignment {
    top_left,      ///< offset 0
    bottom_right,  ///< offset key_length - query_length, with the lengths of the batch member
    explicit_offset,
  };
  Alignment alignment = Alignment::top_left;
  Index offset = 0;  ///< read only for explicit_offset; may be negative

  friend bool operator==(const Causal&, const Causal&) = default;
};

/// Inclusive counts, the query's own position not counted; no number: no limit on that side.
struct Window {
  std::optional<Index> left;   ///< at least 0
  std::optional<Index> right;  ///< at least 0

  bool none() const noexcept { return !left && !right; }
  friend bool operator==(const Window&, const Window&) = default;
};

/// One number a query and one a key, shared by all batch members and heads (packed documents).
struct Segments {
  std::vector<Index> q;  ///< seq_q
  std::vector<Index> k;  ///< seq_kv

  friend bool operator==(const Segments&, const Segments&) = default;
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

/// One bit a rectangle of block_q x block_kv pairs; the last blocks may be cut.
struct BlockMask {
  Index block_q = 1;
  Index block_kv = 1;
  Index rows = 0;     ///< ceil(seq_q / block_q)
  Index columns = 0;  ///< ceil(seq_kv / block_kv)
  std::vector<bool> visible;

  bool at(Index query, Index key) const {
    return visible[static_cast<std::size_t>(query / block_q * columns + key / block_kv)];
  }
  friend bool operator==(const BlockMask&, const BlockMask&) = default;
};

/// One number a (query, key) pair, shared by all batch members and heads: -inf excludes, a finite
/// number is added to the score. Exact in the problem's compute dtype; neither NaN nor +inf.
struct AdditiveMask {
  Index rows = 0;     ///< seq_q, or 1: the same row for every query
  Index columns = 0;  ///< seq_kv
  std::vector<double> value;

  double at(Index query, Index key) const {
    const Index row = rows == 1 ? 0 : query;
    return value[static_cast<std::size_t>(row * columns + key)];
  }
  friend bool operator==(const AdditiveMask&, const AdditiveMask&) = default;
};

struct Mask {
  std::optional<Causal> causal = {};
  std::optional<Causal> alignment =
      {};  ///< diagonal of window and chunk, where there is no causal part
  std::optional<Index> prefix = {};  ///< only with causal
  Window window = {};
  Index keep_first = 0;             ///< only with window.left
  std::optional<Index> chunk = {};  ///< at least 1
  std::optional<Segments> segments = {};
  std::optional<MaskBits> bits = {};
  std::optional<BlockMask> blocks = {};
  std::optional<AdditiveMask> additive = {};

  bool none() const noexcept {
    return !causal && window.none() && !chunk && !segments && !bits && !blocks && !additive;
  }
  friend bool operator==(const Mask&, const Mask&) = default;
};

/// How much of a rectangle of (query, key) pairs is visible.
enum class TileClass { empty, partial, full };

}  // namespace attest
