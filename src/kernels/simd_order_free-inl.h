// The forward pass that gives the same bits for every split, tile size, merge order and order of
// keys.
//
// The first pass over the keys finds, for every row, its maximum, the number of its keys and the
// largest value of every column among them; all three are exact and know no order. With the maximum
// the weight of a key is a function of the key, and with the other two the sums of simd_grid-inl.h
// are functions of the set of keys: the second pass forms them. Merging partial sums would be
// exact, so that splits are taken one after the other, in the order in which the merge tree names
// them. What a key that takes no part in a row holds never reaches its row: not the grid either.

// One body for each target of Highway.
#if defined(ATTEST_KERNELS_SIMD_ORDER_FREE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_KERNELS_SIMD_ORDER_FREE_INL_H_
#undef ATTEST_KERNELS_SIMD_ORDER_FREE_INL_H_
#else
#define ATTEST_KERNELS_SIMD_ORDER_FREE_INL_H_
#endif

#include <algorithm>
#include <array>
#include <vector>

#include "kernels/simd_forward-inl.h"
#include "kernels/simd_order_free_rows-inl.h"
#include "kernels/simd_strip_scores-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attest::kernels::HWY_NAMESPACE {

using Halves = hn::Rebind<float, Tag<double>>;

/// Bytes of the packed queries and sums of a block: the widened values of a tile take more than
/// those of the plain kernel.
inline constexpr Index kOrderFreeBytes = Index{400} * 1024;
/// Keys of the longest tile.
inline constexpr Index kGridTileKeys = 128;

/// Buffers that a thread keeps.
struct OrderFreeScratch {
  AlignedBuffer<float> sizes;     ///< of values: keys x pitch, and a row for the largest of them
  AlignedBuffer<double> weights;  ///< kStripRows x kTileKeys<double>
  AlignedBuffer<double> values;   ///< keys x pitch
  GridScratch rows;
};

/// The largest finite value, in size, of every column: of some keys of a packed tile.
class LargestValues {
 public:
  /// Those that are not finite count as 0: they need no grid.
  LargestValues(const KeyTile<float>& tile, Index pitch, AlignedBuffer<float>& memory)
      : pitch_(pitch),
        keys_(tile.keys.end - tile.keys.begin),
        of_tile_(memory.at_least((kGridTileKeys + 1) * pitch)),
        sizes_(of_tile_ + pitch) {
    const Tag<float> d;
    std::fill_n(of_tile_, pitch, 0.0F);
    for (Index at = 0; at < keys_ * pitch; at += kLanes<float>) {
      const Vec<float> value = hn::Load(d, tile.v + at);
      hn::Store(hn::IfThenElseZero(hn::IsFinite(value), hn::Abs(value)), d, sizes_ + at);
    }
    for (Index key = 0; key < keys_; ++key) raise(sizes_ + key * pitch, of_tile_);
  }

  /// For the keys of one row whose scores are not -inf, of which there are `seen`.
  void raise_row(const float* scores, const VectorRange& vectors, Index seen, float* row) const {
    if (seen == 0) return;
    if (seen == keys_) return raise(of_tile_, row);
    const Index end = std::min(keys_, vectors.last * kLanes<float>);
    for (Index key = vectors.first * kLanes<float>; key < end; ++key)
      if (scores[key] != kMinusInfinity<float>) raise(sizes_ + key * pitch_, row);
  }

 private:
  void raise(const float* by, float* largest) const {
    const Tag<float> d;
    for (Index c = 0; c < pitch_; c += kLanes<float>)
      hn::Store(hn::Max(hn::Load(d, largest + c), hn::Load(d, by + c)), d, largest + c);
  }

  Index pitch_;
  Index keys_;
  float* of_tile_;
  float* sizes_;
};

/// Takes tiles into the rows of a block, in two passes.
class OrderFreePass {
  using Values = PackedValues<double>;

 public:
  OrderFreePass(const SimdForwardCall& call, OrderFreeScratch& scratch)
      : worker_(call, scratch_of_thread<float>()),
        terms_(call.problem, call.views.bias),
        scorer_(call, terms_, scratch_of_thread<float>()),
        writer_(call.problem, call.views),
        scratch_(scratch),
        weights_(scratch.weights.at_least(kStripRows * kTileKeys<double>)) {
    ones_.fill(1);
  }

  /// `tiles` are all that some row of the block may see, in any order.
  void run(const StripRows& block, const VisibleTiles& mask, const std::vector<KeyRange>& tiles) {
    const Index rows = (block.rows + kStripRows - 1) / kStripRows * kStripRows;
    rows_ = scratch_.rows.rows(rows, worker_.pitch());
    worker_.begin(block);
    for (const KeyRange& keys : tiles) look_at(block, mask, keys);
    rows_.begin_sums();
    for (const KeyRange& keys : tiles) add(block, mask, keys);
    for (Index i = 0; i < block.rows; ++i) writer_.write(block.row(i), rows_, i);
  }

 private:
  void look_at(const StripRows& block, const VisibleTiles& mask, const KeyRange& keys) {
    const KeyTile<float> tile = worker_.packed_tile(block, keys);
    const LargestValues largest(tile, rows_.pitch, scratch_.sizes);
    worker_.for_each_strip(block, [&](const StripRows& strip, const float* q) {
      const VectorRange vectors = vectors_of<float>(scorer_.score(strip, q, tile, mask));
      if (vectors.empty()) return;
      const Index first = strip.first - block.first;
      for (Index i = 0; i < strip.rows; ++i) {
        const float* const scores = scorer_.scores() + i * kTileKeys<float>;
        const Index seen = take_in_scores(scores, vectors, rows_.row_max[first + i]);
        rows_.counts[first + i] += seen;
        largest.raise_row(scores, vectors, seen, rows_.largest + (first + i) * rows_.pitch);
      }
    });
  }

  /// The number of scores that are not -inf.
  static Index take_in_scores(const float* scores, const VectorRange& vectors, float& row_max) {
    const Tag<float> d;
    const Vec<float> excluded = hn::Set(d, kMinusInfinity<float>);
    Vec<float> largest = excluded;
    Index seen = 0;
    for (Index v = vectors.first; v < vectors.last; ++v) {
      const Vec<float> score = hn::Load(d, scores + v * kLanes<float>);
      largest = hn::Max(largest, score);
      seen += static_cast<Index>(hn::CountTrue(d, hn::Ne(score, excluded)));
    }
    // MaxOfLanes of portable code begins at the lowest number, which no score of -inf lowers again.
    if (seen > 0)
      row_max = std::max(row_max, hn::GetLane(hn::MaxOfLanes(d, largest))) + 0.0F;  // +0 for -0
    return seen;
  }

  void add(const StripRows& block, const VisibleTiles& mask, const KeyRange& keys) {
    const KeyTile<float> tile = worker_.packed_tile(block, keys);
    double* const values = widened(tile);
    worker_.for_each_strip(block, [&](const StripRows& strip, const float* q) {
      const VectorRange vectors = vectors_of<float>(scorer_.score(strip, q, tile, mask));
      if (vectors.empty()) return;
      if (!tile.finite) note_seen(strip.rows, vectors);
      const Index first = strip.first - block.first;
      weigh(strip.rows, vectors, rows_.row_max + first);
      add_sums(strip.rows, first, vectors);
      const Index begin = vectors.first * kLanes<float>;
      const Index end = std::min(keys.end - keys.begin, vectors.last * kLanes<float>);
      const Values of_span = Values{values, rows_.pitch}.from(begin);
      const ValueBlock<double, Values> sums{ones_.data(), weights_ + begin,
                                            of_span,      end - begin,
                                            rows_.pitch,  rows_.numerators + first * rows_.pitch};
      const RoundDown down;
      if (tile.finite)
        add_values_of_strip(sums, strip.rows);
      else
        add_values_seen(sums, strip.rows, begin);
    });
  }

  double* widened(const KeyTile<float>& tile) {
    const Index count = (tile.keys.end - tile.keys.begin) * rows_.pitch;
    double* const values = scratch_.values.at_least(kGridTileKeys * rows_.pitch);
    widen(tile.v, count, values);
    return values;
  }
  static void widen(const float* from, Index count, double* to) {
    for (Index at = 0; at < count; at += kLanes<double>)
      hn::Store(hn::PromoteTo(Tag<double>(), hn::LoadU(Halves(), from + at)), Tag<double>(),
                to + at);
  }

  void weigh(Index rows, const VectorRange& vectors, const float* row_max) {
    const Tag<float> d;
    const Index begin = vectors.first * kLanes<float>;
    const Index count = (vectors.last - vectors.first) * kLanes<float>;
    for (Index i = 0; i < rows; ++i) {
      const Vec<float> reference = hn::Set(d, reference_of(row_max[i]));
      float* const scores = scorer_.scores() + i * kTileKeys<float> + begin;
      for (Index at = 0; at < count; at += kLanes<float>)
        hn::Store(ExpNonPositive(d, hn::Sub(hn::Load(d, scores + at), reference)), d, scores + at);
      widen(scores, count, weights_ + i * kTileKeys<double> + begin);
    }
  }

  void add_sums(Index rows, Index first, const VectorRange& vectors) {
    constexpr Index kPerFloats = kLanes<float> / kLanes<double>;
    const RoundDown down;
    add_to_lanes({weights_, rows_.row_sum + first * kLanes<double>, rows,
                  vectors.first * kPerFloats, vectors.last * kPerFloats});
  }

  /// The keys that take part in a row: 0 times an infinite value would be NaN.
  void note_seen(Index rows, const VectorRange& vectors) {
    for (Index i = 0; i < rows; ++i) {
      TileBits& seen = seen_[static_cast<std::size_t>(i)];
      seen = {};
      const float* const scores = scorer_.scores() + i * kTileKeys<float>;
      for (Index key = vectors.first * kLanes<float>; key < vectors.last * kLanes<float>; ++key)
        if (scores[key] != kMinusInfinity<float>) seen.set(key, key + 1);
    }
  }
  void add_values_seen(const ValueBlock<double, Values>& block, Index rows, Index begin) {
    for (Index i = 0; i < rows; ++i) {
      ValueBlock<double, Values> one = block;
      one.keys = 1;
      one.weights = block.weights + i * kTileKeys<double>;
      one.numerators = block.numerators + i * block.pitch;
      for (Index key = 0; key < block.keys; ++key) {
        if (seen_[static_cast<std::size_t>(i)].at(begin + key)) add_columns<1>(one);
        ++one.weights;
        one.values = one.values.from(1);
      }
    }
  }

  ForwardWorker<float> worker_;
  TileTerms<float> terms_;
  StripScorer<float> scorer_;
  GridWriter writer_;
  OrderFreeScratch& scratch_;
  double* weights_;
  GridSums rows_;
  StripBits seen_;
  std::array<double, static_cast<std::size_t>(kStripRows)> ones_;
};

/// All tiles of a block, split by split in the order of the merge tree.
inline std::vector<KeyRange> tiles_of(const SimdForwardCall& call, const MergeTree& tree,
                                      const StripRows& block, const VisibleTiles& mask) {
  const Index tile_kv = std::min(call.tiling.tile_kv, kGridTileKeys);
  const std::vector<KeyRange> splits = split_ranges(call.tiling, call.problem.seq_kv);
  const Index key_length = call.problem.key_length(block.b);
  std::vector<KeyRange> tiles;
  for (const Index step : tree.steps) {
    if (step == MergeTree::merge) continue;
    const KeyRange& split = splits[static_cast<std::size_t>(step)];
    const Index end = std::min(split.end, key_length);
    for (Index begin = split.begin; begin < end; begin += tile_kv) {
      const KeyRange keys{begin, std::min(begin + tile_kv, end)};
      if (mask.tile_class(block.queries(), keys) != TileClass::empty) tiles.push_back(keys);
    }
  }
  return tiles;
}

inline Status order_free_pass(const SimdForwardCall& call) {
  const auto splits = static_cast<Index>(split_ranges(call.tiling, call.problem.seq_kv).size());
  const Result<MergeTree> tree = make_merge_tree(call.tiling.merge, splits);
  if (!tree.ok()) return tree.status();
  // A row of doubles and one of floats.
  const std::vector<StripRows> blocks = blocks_of<float>(call.problem, 3, kOrderFreeBytes);
  for_each_piece(static_cast<Index>(blocks.size()), [&](Index piece) {
    static thread_local OrderFreeScratch scratch;
    const StripRows& block = blocks[static_cast<std::size_t>(piece)];
    const VisibleTiles mask(call.problem, block.b);
    OrderFreePass(call, scratch).run(block, mask, tiles_of(call, tree.value(), block, mask));
  });
  return {};
}

}  // namespace attest::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
