#include "kernels/visible_tiles.hpp"

#include <algorithm>
#include <limits>

#include "attest/saturated.hpp"

namespace attest::kernels {
namespace {

/// Quotient towards minus infinity, not below -1: no key lies there.
Index floor_divide(Index a, Index b) {
  return a >= 0 ? a / b : -1;
}

TileClass both(TileClass left, TileClass right) {
  if (left == TileClass::empty || right == TileClass::empty) return TileClass::empty;
  return left == TileClass::full ? right : left;
}

struct Limits {
  Index least = std::numeric_limits<Index>::max();
  Index most = std::numeric_limits<Index>::min();
};

Limits limits(const std::vector<Index>& numbers, const KeyRange& range) {
  Limits found;
  for (Index at = range.begin; at < range.end; ++at) {
    found.least = std::min(found.least, numbers[static_cast<std::size_t>(at)]);
    found.most = std::max(found.most, numbers[static_cast<std::size_t>(at)]);
  }
  return found;
}

}  // namespace

void TileBits::set(Index begin, Index end) {
  for (std::size_t word = 0; word < words.size(); ++word) {
    const Index first = static_cast<Index>(word) * 64;
    const Index from = std::clamp<Index>(begin - first, 0, 64);
    const Index to = std::clamp<Index>(end - first, 0, 64);
    if (from >= to) continue;
    const std::uint64_t up_to = to == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << to) - 1;
    words[word] |= up_to & ~((std::uint64_t{1} << from) - 1);
  }
}

VisibleTiles::VisibleTiles(const Problem& problem, Index b)
    : problem_(problem),
      key_length_(problem.key_length(b)),
      offset_(mask_offset(problem, b)),
      lists_(problem.mask.segments || problem.mask.bits || problem.mask.blocks ||
             problem.mask.additive) {}

VisibleTiles::Runs VisibleTiles::runs(Index query) const {
  const Mask& mask = problem_.mask;
  const Index position = saturated_sum(query, offset_);
  Runs runs{0, key_length_, 0, 0};
  const auto end_before = [&](Index end) { runs.end = std::min(runs.end, end); };
  if (mask.causal) end_before(std::max(saturated_sum(position, 1), mask.prefix.value_or(0)));
  if (mask.window.right)
    end_before(saturated_sum(saturated_sum(query, saturated_sum(offset_, *mask.window.right)), 1));
  if (mask.chunk) {
    const Index begin = floor_divide(position, *mask.chunk) * *mask.chunk;
    runs.begin = std::max<Index>(0, begin);
    end_before(saturated_sum(begin, *mask.chunk));
  }
  runs.keep_begin = runs.begin;
  if (mask.window.left) {
    const Index leftmost = saturated_sum(query, saturated_difference(offset_, *mask.window.left));
    runs.begin = std::max(runs.begin, leftmost);
    runs.keep_end = std::min(mask.keep_first, runs.end);
  }
  return runs;
}

// The ends of runs never fall from one query to the next.
TileClass VisibleTiles::class_of_runs(const KeyRange& queries, const KeyRange& keys) const {
  const Runs first = runs(queries.begin);
  const Runs last = runs(queries.end - 1);
  const bool in_run = keys.begin >= last.begin && keys.end <= first.end;
  const bool kept = keys.begin >= last.keep_begin && keys.end <= first.keep_end;
  if (in_run || kept) return TileClass::full;
  const bool beyond = keys.begin >= last.end || keys.end <= first.begin;
  const bool not_kept = keys.begin >= last.keep_end || keys.end <= first.keep_begin;
  return beyond && not_kept ? TileClass::empty : TileClass::partial;
}

TileClass VisibleTiles::class_of_blocks(const KeyRange& queries, const KeyRange& keys) const {
  const BlockMask& blocks = *problem_.mask.blocks;
  bool all = true;
  bool any = false;
  for (Index row = queries.begin / blocks.block_q; row <= (queries.end - 1) / blocks.block_q; ++row)
    for (Index column = keys.begin / blocks.block_kv; column <= (keys.end - 1) / blocks.block_kv;
         ++column) {
      const bool visible = blocks.visible[static_cast<std::size_t>(row * blocks.columns + column)];
      all = all && visible;
      any = any || visible;
    }
  if (!any) return TileClass::empty;
  return all ? TileClass::full : TileClass::partial;
}

TileClass VisibleTiles::class_of_segments(const KeyRange& queries, const KeyRange& keys) const {
  const Limits q = limits(problem_.mask.segments->q, queries);
  const Limits k = limits(problem_.mask.segments->k, keys);
  if (q.most < k.least || k.most < q.least) return TileClass::empty;
  const bool one = q.least == q.most && k.least == k.most && q.least == k.least;
  return one ? TileClass::full : TileClass::partial;
}

TileClass VisibleTiles::tile_class(const KeyRange& queries, const KeyRange& keys) const {
  if (queries.begin >= queries.end || keys.begin >= std::min(keys.end, key_length_))
    return TileClass::empty;
  TileClass found = class_of_runs(queries, keys);
  if (!lists_ || found == TileClass::empty) return found;
  const Mask& mask = problem_.mask;
  const KeyRange existing{keys.begin, std::min(keys.end, problem_.seq_kv)};
  if (mask.blocks) found = both(found, class_of_blocks(queries, existing));
  if (mask.segments) found = both(found, class_of_segments(queries, existing));
  if (mask.bits || mask.additive) found = both(found, TileClass::partial);
  return found;
}

TileBits VisibleTiles::in_blocks(Index query, const KeyRange& keys) const {
  const BlockMask& blocks = *problem_.mask.blocks;
  TileBits bits;
  const Index row = query / blocks.block_q * blocks.columns;
  for (Index column = keys.begin / blocks.block_kv; column * blocks.block_kv < keys.end; ++column) {
    if (!blocks.visible[static_cast<std::size_t>(row + column)]) continue;
    const Index begin = std::max(column * blocks.block_kv, keys.begin);
    const Index end = std::min(saturated_sum(column * blocks.block_kv, blocks.block_kv), keys.end);
    bits.set(begin - keys.begin, end - keys.begin);
  }
  return bits;
}

/// The parts that are asked pair by pair.
bool VisibleTiles::listed(Index query, Index key) const {
  const Mask& mask = problem_.mask;
  const auto at = [](Index index) { return static_cast<std::size_t>(index); };
  if (mask.segments && mask.segments->q[at(query)] != mask.segments->k[at(key)]) return false;
  if (mask.bits && !mask.bits->at(query, key)) return false;
  return !mask.additive ||
         mask.additive->at(query, key) != -std::numeric_limits<double>::infinity();
}

TileBits VisibleTiles::row(Index query, const KeyRange& keys) const {
  const Runs visible = runs(query);
  TileBits bits;
  const auto add = [&](Index begin, Index end) {
    bits.set(std::max(begin, keys.begin) - keys.begin, std::min(end, keys.end) - keys.begin);
  };
  add(visible.begin, visible.end);
  add(visible.keep_begin, visible.keep_end);
  const Mask& mask = problem_.mask;
  const KeyRange existing{keys.begin, std::min(keys.end, key_length_)};
  if (mask.blocks) bits.keep(in_blocks(query, existing));
  if (!mask.segments && !mask.bits && !mask.additive) return bits;
  for (Index key = existing.begin; key < existing.end; ++key)
    if (bits.at(key - keys.begin) && !listed(query, key)) bits.clear(key - keys.begin);
  return bits;
}

}  // namespace attest::kernels
