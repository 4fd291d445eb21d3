#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "attest/problem.hpp"
#include "attest/saturated.hpp"

namespace attest {
namespace {

constexpr Index kLargest = std::numeric_limits<Index>::max();
constexpr Index kSmallest = std::numeric_limits<Index>::min();

Index offset_of(const Problem& problem, const Causal& diagonal, Index b) {
  switch (diagonal.alignment) {
    case Causal::Alignment::top_left:
      return 0;
    case Causal::Alignment::bottom_right:
      return problem.key_length(b) - problem.query_length(b);
    case Causal::Alignment::explicit_offset:
      break;
  }
  return diagonal.offset;
}

/// The differences key - query that a part of the mask lets through, ends included.
struct Band {
  Index low = kSmallest;
  Index high = kLargest;
};

/// Causal and window parts for `key`: tokens of the prefix know no causal limit, tokens that are
/// kept no left one. The same for all keys between two of the ends prefix and keep_first.
Band band_of(const Mask& mask, Index offset, Index key) {
  Band band;
  if (mask.causal && !(mask.prefix && key < *mask.prefix)) band.high = offset;
  if (mask.window.right) band.high = std::min(band.high, saturated_sum(offset, *mask.window.right));
  if (mask.window.left && key >= mask.keep_first)
    band.low = saturated_difference(offset, *mask.window.left);
  return band;
}

/// Zero is the begin of a chunk, so no key is in the chunk of a negative position.
bool in_chunk(Index chunk, Index position, Index key) {
  return position >= 0 && position / chunk == key / chunk;
}

bool listed(const Mask& mask, Index query, Index key) {
  if (mask.segments && mask.segments->q[static_cast<std::size_t>(query)] !=
                           mask.segments->k[static_cast<std::size_t>(key)])
    return false;
  if (mask.bits && !mask.bits->at(query, key)) return false;
  if (mask.blocks && !mask.blocks->at(query, key)) return false;
  return !mask.additive ||
         mask.additive->at(query, key) != -std::numeric_limits<double>::infinity();
}

struct Rectangle {
  Index query_begin = 0;
  Index query_end = 0;
  Index key_begin = 0;
  Index key_end = 0;

  bool none() const { return query_begin >= query_end || key_begin >= key_end; }
};

/// What is known of the pairs looked at so far.
struct Seen {
  bool any = false;
  bool all = true;

  void add(TileClass tile_class) {
    any = any || tile_class != TileClass::empty;
    all = all && tile_class == TileClass::full;
  }
  bool partial() const { return any && !all; }
  TileClass result() const {
    if (!any) return TileClass::empty;
    return all ? TileClass::full : TileClass::partial;
  }
};

/// Every integer between the smallest and the largest key - query of a rectangle is one of them.
TileClass class_in_band(const Band& band, const Rectangle& in) {
  const Index low = in.key_begin - (in.query_end - 1);
  const Index high = in.key_end - 1 - in.query_begin;
  if (low > band.high || high < band.low) return TileClass::empty;
  return low >= band.low && high <= band.high ? TileClass::full : TileClass::partial;
}

/// Parts with a band: at most three of them, side by side.
TileClass class_in_bands(const Mask& mask, Index offset, const Rectangle& in) {
  Seen seen;
  Rectangle piece = in;
  while (piece.key_begin < in.key_end) {
    piece.key_end = in.key_end;
    for (const Index end : {mask.prefix.value_or(0), mask.keep_first})
      if (end > piece.key_begin) piece.key_end = std::min(piece.key_end, end);
    seen.add(class_in_band(band_of(mask, offset, piece.key_begin), piece));
    piece.key_begin = piece.key_end;
  }
  return seen.result();
}

/// Bands, and chunks where there are any: the queries of a chunk see keys of this chunk only.
TileClass class_in_chunks(const Mask& mask, Index offset, const Rectangle& in) {
  if (!mask.chunk) return class_in_bands(mask, offset, in);
  const Index chunk = *mask.chunk;
  const Index first = std::max(saturated_sum(in.query_begin, offset), Index{0});
  const Index last = saturated_sum(in.query_end - 1, offset);
  if (last < 0) return TileClass::empty;
  const Index key_begin = std::max(in.key_begin, first / chunk * chunk);
  const Index key_end = std::min(in.key_end, saturated_sum(last / chunk * chunk, chunk));
  Seen seen;
  seen.all = key_begin == in.key_begin && key_end == in.key_end;
  for (Index key = key_begin; key < key_end && !seen.partial();) {
    const Index begin = key / chunk * chunk;
    const Index end = saturated_sum(begin, chunk);
    const Rectangle piece{std::max(in.query_begin, saturated_difference(begin, offset)),
                          std::min(in.query_end, saturated_difference(end, offset)), key,
                          std::min(key_end, end)};
    if (piece.query_begin != in.query_begin || piece.query_end != in.query_end) seen.all = false;
    seen.add(piece.none() ? TileClass::empty : class_in_bands(mask, offset, piece));
    key = piece.key_end;
  }
  return seen.result();
}

TileClass class_by_pairs(const Problem& problem, Index b, const Rectangle& in) {
  Seen seen;
  for (Index query = in.query_begin; query < in.query_end; ++query)
    for (Index key = in.key_begin; key < in.key_end; ++key) {
      seen.add(visible(problem, b, query, key) ? TileClass::full : TileClass::empty);
      if (seen.partial()) return TileClass::partial;
    }
  return seen.result();
}

/// The exponent e of the standard slope 2^e. With H heads and n = 2^floor(log2 H) the first n heads
/// have the slopes of n heads, the others every second of the slopes of 2n heads.
double slope_exponent(Index heads, Index h) {
  const auto n = static_cast<Index>(std::bit_floor(static_cast<std::uint64_t>(heads)));
  if (h < n) return -8.0 * static_cast<double>(h + 1) / static_cast<double>(n);
  return -4.0 * static_cast<double>(2 * (h - n) + 1) / static_cast<double>(n);
}

}  // namespace

Index causal_offset(const Problem& problem, Index b) {
  return offset_of(problem, problem.mask.causal.value_or(Causal{}), b);
}

Index mask_offset(const Problem& problem, Index b) {
  const Mask& mask = problem.mask;
  return offset_of(problem, mask.causal ? *mask.causal : mask.alignment.value_or(Causal{}), b);
}

bool visible(const Problem& problem, Index b, Index query, Index key) {
  if (query >= problem.query_length(b) || key >= problem.key_length(b)) return false;
  const Mask& mask = problem.mask;
  if (mask.none()) return true;
  const Index offset = mask_offset(problem, b);
  const Band band = band_of(mask, offset, key);
  if (key - query < band.low || key - query > band.high) return false;
  if (mask.chunk && !in_chunk(*mask.chunk, saturated_sum(query, offset), key)) return false;
  return listed(mask, query, key);
}

TileClass classify(const Problem& problem, Index b, Index query_begin, Index query_end,
                   Index key_begin, Index key_end) {
  const Rectangle in{query_begin, std::min(query_end, problem.query_length(b)), key_begin,
                     std::min(key_end, problem.key_length(b))};
  if (in.none()) return TileClass::empty;
  const Mask& mask = problem.mask;
  Seen seen;
  seen.all = in.query_end == query_end && in.key_end == key_end;
  TileClass tile_class = class_in_chunks(mask, mask_offset(problem, b), in);
  const bool lists = mask.segments || mask.bits || mask.blocks || mask.additive;
  if (lists && tile_class != TileClass::empty) tile_class = class_by_pairs(problem, b, in);
  seen.add(tile_class);
  return seen.result();
}

double alibi_slope(const Problem& problem, Index h) {
  const Alibi& alibi = *problem.alibi;
  if (!alibi.slopes.empty())
    return static_cast<double>(static_cast<float>(alibi.slopes[static_cast<std::size_t>(h)]));
  return static_cast<double>(static_cast<float>(std::exp2(slope_exponent(problem.heads_q, h))));
}

// A double holds a product of 24 bits and a distance below 2^29.
double alibi_term(const Problem& problem, double slope, const RowIndex& row, Index key) {
  const Alibi& alibi = *problem.alibi;
  if (alibi.form == Alibi::Form::column) return slope * static_cast<double>(key);
  const Index distance =
      row.query + offset_of(problem, Causal{alibi.alignment, 0}, row.batch) - key;
  const Index away = alibi.form == Alibi::Form::absolute ? std::abs(distance) : distance;
  return slope * static_cast<double>(-away);
}

double alibi_term(const Problem& problem, Index b, Index h, Index query, Index key) {
  return alibi_term(problem, alibi_slope(problem, h), {b, h, query}, key);
}

}  // namespace attest
