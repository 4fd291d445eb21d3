// Which keys of a tile a query sees, in time proportional to the tile at most: the parts of a mask
// that are intervals are never asked key by key.
#pragma once

#include <array>
#include <cstdint>

#include "attest/problem.hpp"
#include "attest/tiling.hpp"

namespace attest::kernels {

/// One bit a key of a tile, the first key lowest.
struct TileBits {
  static constexpr Index kKeys = 256;
  std::array<std::uint64_t, kKeys / 64> words{};

  bool any() const { return (words[0] | words[1] | words[2] | words[3]) != 0; }
  bool at(Index key) const {
    return (words[static_cast<std::size_t>(key / 64)] >> (key % 64) & 1) != 0;
  }
  /// Bits [begin, begin + 64), begin a multiple of 4 below kKeys; a vector never crosses a word.
  std::uint64_t from(Index begin) const {
    return words[static_cast<std::size_t>(begin / 64)] >> (begin % 64);
  }
  void set(Index begin, Index end);
  /// Adds the bits that are set in `bits`, lowest at `begin`.
  void put(Index begin, std::uint64_t bits) {
    words[static_cast<std::size_t>(begin / 64)] |= bits << (begin % 64);
  }
  void clear(Index key) {
    words[static_cast<std::size_t>(key / 64)] &= ~(std::uint64_t{1} << (key % 64));
  }
};

/// The mask of one batch member.
class VisibleTiles {
 public:
  /// The problem is kept by reference.
  VisibleTiles(const Problem& problem, Index b);

  /// `full` and `empty` are certain; `partial` may be either, for a list of single pairs.
  TileClass tile_class(const KeyRange& queries, const KeyRange& keys) const;
  /// Precondition: the tile has at most TileBits::kKeys keys.
  TileBits row(Index query, const KeyRange& keys) const;

 private:
  /// The keys [begin, end) and [keep_begin, keep_end), from the parts that are intervals.
  struct Runs {
    Index begin = 0, end = 0;
    Index keep_begin = 0, keep_end = 0;
  };
  Runs runs(Index query) const;
  TileClass class_of_runs(const KeyRange& queries, const KeyRange& keys) const;
  TileClass class_of_blocks(const KeyRange& queries, const KeyRange& keys) const;
  TileClass class_of_segments(const KeyRange& queries, const KeyRange& keys) const;
  bool listed(Index query, Index key) const;

  const Problem& problem_;
  Index key_length_;
  Index offset_;
  bool lists_;  ///< has parts that are asked key by key
};

}  // namespace attest::kernels
