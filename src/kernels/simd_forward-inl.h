// The forward pass of the SIMD kernels: blocks of query rows, and for each one all tiles of keys.
//
// A block is the rows of all heads that read one kv head, for consecutive queries, so that a tile
// of K and V is packed once for all of them. Its summaries stay in the second cache. Method:
// FlashAttention-2 (Dao 2023); packing and blocking as in Goto and van de Geijn 2008.

// One body for each target of Highway.
#if defined(ATTEST_KERNELS_SIMD_FORWARD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_KERNELS_SIMD_FORWARD_INL_H_
#undef ATTEST_KERNELS_SIMD_FORWARD_INL_H_
#else
#define ATTEST_KERNELS_SIMD_FORWARD_INL_H_
#endif

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "attest/threads.hpp"
#include "kernels/parallel.hpp"
#include "kernels/simd_call.hpp"
#include "kernels/simd_results-inl.h"
#include "kernels/simd_strip-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attest::kernels::HWY_NAMESPACE {

/// Bytes of the packed queries and summaries of a block: with a tile of K and V less than 1 MiB.
inline constexpr Index kBlockBytes = Index{768} * 1024;

template <class Real>
class ForwardWorker {
 public:
  ForwardWorker(const SimdForwardCall& call, Scratch<Real>& scratch)
      : problem_(call.problem),
        rows_(call.problem, {call.views.q, call.views.k, call.views.v, call.views.qv}),
        terms_(call.problem, call.views.bias),
        packer_(rows_, scratch),
        strip_pass_(call, terms_, scratch),
        writer_(call.problem, call.views),
        scratch_(scratch),
        scale_(static_cast<Real>(scale_value(call.problem))),
        tile_kv_(std::min(call.tiling.tile_kv, longest_simd_tile(call.problem))),
        pitch_(pitch_of<Real>(call.problem.head_dim_v)) {}

  Index pitch() const { return pitch_; }

  /// Packs the queries of a block, each element scaled and rounded once.
  void begin(const StripRows& block) {
    const Index columns = rows_.columns();
    const Index strips = (block.rows + kStripRows - 1) / kStripRows;
    const Index row_pitch = pitch_of<Real>(columns);
    // A vector of rows may reach into the next column, or the next strip, which is written later.
    q_ = scratch_.q.at_least(strips * columns * kStripRows + kLanes<Real>);
    Real* const copies = scratch_.query_rows.at_least((kPackedRows + 1) * row_pitch);
    Real* const zeros = copies + kPackedRows * row_pitch;
    std::fill_n(zeros, columns, Real(0));
    std::array<const Real*, static_cast<std::size_t>(kPackedRows)> rows;
    for (Index strip = 0; strip < strips; ++strip) {
      rows.fill(zeros);
      const Index first = strip * kStripRows;
      for (Index i = 0; i < kStripRows && first + i < block.rows; ++i) {
        rows[static_cast<std::size_t>(i)] =
            rows_.query(block.row(first + i), copies + i * row_pitch);
        const Index ahead = first + i + kStripsAhead * kStripRows;
        if (ahead < block.rows) rows_.prefetch_query(block.row(ahead));
      }
      Real* const to = q_ + strip * columns * kStripRows;
      for (Index at = kPackedRows - kLanes<Real>; at >= 0; at -= kLanes<Real>)
        pack_rows(rows.data() + at, columns, to + at, kStripRows);
    }
    scale_in_place(q_, strips * columns * kStripRows, scale_);
  }

  /// Summaries of the rows over the keys of `range`.
  void summarise(const StripRows& block, const VisibleTiles& mask, const KeyRange& range,
                 const Summaries<Real>& part) {
    part.clear();
    for (Index begin = range.begin; begin < range.end; begin += tile_kv_) {
      const KeyRange keys{
          begin, std::min(begin + tile_kv_, std::min(range.end, problem_.key_length(block.b)))};
      if (keys.begin >= keys.end) return;
      const TileClass tile_class = mask.tile_class(block.queries(), keys);
      if (tile_class == TileClass::empty) continue;
      KeyTile<Real> tile = tile_of(block, keys);
      tile.full = tile_class == TileClass::full;
      for_each_strip(block, [&](const StripRows& strip, const Real* q) {
        absorb(strip, q, tile, mask, strip_of(part, strip.first - block.first));
      });
    }
  }

  /// The keys and values that the rows of a block read, until the next call.
  KeyTile<Real> tile_of(const StripRows& block, const KeyRange& keys) {
    return block.rows > kStripRows ? packed_tile(block, keys)
                                   : packer_.stored(block.b, kv_head_of(block), keys);
  }
  KeyTile<Real> packed_tile(const StripRows& block, const KeyRange& keys) {
    return packer_.packed(block.b, kv_head_of(block), keys);
  }

  /// Calls pass(strip, its packed queries). Precondition: begin(block).
  template <class Pass>
  void for_each_strip(const StripRows& block, Pass&& pass) {
    for (Index first = 0; first < block.rows; first += kStripRows) {
      StripRows strip = block;
      strip.first = block.first + first;
      strip.rows = std::min(kStripRows, block.rows - first);
      pass(strip, q_ + first * rows_.columns());
    }
  }

  void absorb(const StripRows& strip, const Real* q, const KeyTile<Real>& tile,
              const VisibleTiles& mask, const Summaries<Real>& part) {
    strip_pass_.absorb(strip, q, tile, mask, part);
  }

  void write(const StripRows& block, const Summaries<Real>& part) {
    for (Index i = 0; i < block.rows; ++i) {
      if (i + kRowsAhead < block.rows) writer_.prefetch(block.row(i + kRowsAhead));
      writer_.write(block.row(i), part, i);
    }
  }

 private:
  static constexpr Index kRowsAhead = 12;  ///< places of outputs, the same
  /// Strips of queries that are asked for before they are packed.
  static constexpr Index kStripsAhead = 3;
  /// Rows of a strip up to a whole vector.
  static constexpr Index kPackedRows =
      (kStripRows + kLanes<Real> - 1) / kLanes<Real> * kLanes<Real>;

  Index kv_head_of(const StripRows& block) const { return problem_.kv_head(block.first_head); }

  const Problem& problem_;
  KeyRows<Real> rows_;
  TileTerms<Real> terms_;
  TilePacker<Real> packer_;
  StripPass<Real> strip_pass_;
  RowWriter<Real> writer_;
  Scratch<Real>& scratch_;
  Real scale_;
  Index tile_kv_;
  Index pitch_;
  Real* q_ = nullptr;
};

/// The next number of queries whose rows fill their strips, if it is not above `most`.
inline Index whole_strips(Index queries, Index group, Index most) {
  const Index step = kStripRows / std::gcd(kStripRows, group);
  const Index whole = (queries + step - 1) / step * step;
  return whole <= most ? whole : queries;
}

/// All blocks of a call, of whole queries and nearly one size, as large as the memory of a block
/// allows with so many summaries of every row.
template <class Real>
std::vector<StripRows> blocks_of(const Problem& problem, Index summaries_of_row,
                                 Index block_bytes = kBlockBytes) {
  const Index group = problem.heads_q / problem.heads_kv;
  const Index pitch = pitch_of<Real>(problem.head_dim_v);
  const Index row_elements = (pitch + kLanes<Real> + 1) * summaries_of_row + score_columns(problem);
  const Index row_bytes = row_elements * static_cast<Index>(sizeof(Real));
  const Index most = std::max(block_bytes / row_bytes / group, Index{1});
  std::vector<StripRows> blocks;
  for (Index b = 0; b < problem.batch; ++b) {
    const Index length = problem.query_length(b);
    const Index count = (length + most - 1) / most;
    const Index queries = count == 0 ? 1 : whole_strips((length + count - 1) / count, group, most);
    for (Index kv_head = 0; kv_head < problem.heads_kv; ++kv_head)
      for (Index begin = 0; begin < length; begin += queries)
        blocks.push_back(
            {b, kv_head * group, group, begin, 0, group * std::min(queries, length - begin)});
  }
  return blocks;
}

/// Blocks a thread that keep all threads busy to the end.
inline constexpr std::size_t kBlocksOfAThread = 4;

/// Summaries of one size, one behind the other.
template <class Real>
class SummaryStack {
 public:
  SummaryStack(AlignedBuffer<Real>& memory, Index count, Index rows, Index pitch)
      : rows_((rows + kStripRows - 1) / kStripRows * kStripRows),
        pitch_(pitch),
        size_(Summaries<Real>::elements(rows_, pitch)),
        first_(memory.at_least(count * size_)) {}

  Summaries<Real> at(Index position) const {
    return Summaries<Real>::in(first_ + position * size_, rows_, pitch_);
  }

 private:
  Index rows_;
  Index pitch_;
  Index size_;
  Real* first_;
};

/// Summaries that are held at once while a tree is evaluated.
inline Index height(const MergeTree& tree) {
  Index held = 0;
  Index most = 1;
  for (const Index step : tree.steps) {
    held += step == MergeTree::merge ? -1 : 1;
    most = std::max(most, held);
  }
  return most;
}

/// The blocks of a call, each on one thread from its first tile to its output.
template <class Real>
void run_blocks(const SimdForwardCall& call, const std::vector<KeyRange>& units,
                const MergeTree& tree, const std::vector<StripRows>& blocks) {
  const Index held = height(tree);
  for_each_piece(static_cast<Index>(blocks.size()), [&](Index piece) {
    Scratch<Real>& scratch = scratch_of_thread<Real>();
    const StripRows& block = blocks[static_cast<std::size_t>(piece)];
    const VisibleTiles mask(call.problem, block.b);
    ForwardWorker<Real> worker(call, scratch);
    worker.begin(block);
    const SummaryStack<Real> stack(scratch.summaries, held, block.rows, worker.pitch());
    Index depth = 0;
    for (const Index step : tree.steps) {
      if (step != MergeTree::merge) {
        worker.summarise(block, mask, units[static_cast<std::size_t>(step)], stack.at(depth++));
      } else {
        --depth;
        merge_into(stack.at(depth - 1), stack.at(depth));
      }
    }
    worker.write(block, stack.at(0));
  });
}

/// Few rows and many kv splits: every split of every block by itself, then the merges.
template <class Real>
void run_splits(const SimdForwardCall& call, const std::vector<KeyRange>& units,
                const MergeTree& tree, const std::vector<StripRows>& blocks) {
  const auto splits = static_cast<Index>(units.size());
  Index rows = 0;
  for (const StripRows& block : blocks) rows = std::max(rows, block.rows);
  const Index pitch = pitch_of<Real>(call.problem.head_dim_v);
  static thread_local AlignedBuffer<Real> memory;
  const SummaryStack<Real> parts(memory, splits * static_cast<Index>(blocks.size()), rows, pitch);
  for_each_piece(splits * static_cast<Index>(blocks.size()), [&](Index piece) {
    Scratch<Real>& scratch = scratch_of_thread<Real>();
    const StripRows& block = blocks[static_cast<std::size_t>(piece / splits)];
    ForwardWorker<Real> worker(call, scratch);
    worker.begin(block);
    worker.summarise(block, VisibleTiles(call.problem, block.b),
                     units[static_cast<std::size_t>(piece % splits)], parts.at(piece));
  });
  for_each_piece(static_cast<Index>(blocks.size()), [&](Index piece) {
    Scratch<Real>& scratch = scratch_of_thread<Real>();
    std::vector<Summaries<Real>> stack;
    for (const Index step : tree.steps) {
      if (step != MergeTree::merge) {
        stack.push_back(parts.at(piece * splits + step));
      } else {
        const Summaries<Real> right = stack.back();
        stack.pop_back();
        merge_into(stack.back(), right);
      }
    }
    ForwardWorker<Real>(call, scratch).write(blocks[static_cast<std::size_t>(piece)], stack.back());
  });
}

template <class Real>
Status forward_pass(const SimdForwardCall& call) {
  const std::vector<KeyRange> units = split_ranges(call.tiling, call.problem.seq_kv);
  const Result<MergeTree> tree =
      make_merge_tree(call.tiling.merge, static_cast<Index>(units.size()));
  if (!tree.ok()) return tree.status();
  const std::vector<StripRows> blocks = blocks_of<Real>(call.problem, height(tree.value()));
  const auto threads = static_cast<std::size_t>(thread_count());
  const bool alone = std::all_of(blocks.begin(), blocks.end(),
                                 [](const StripRows& block) { return block.rows <= kStripRows; });
  if (threads > 1 && units.size() > 1 && alone && blocks.size() < kBlocksOfAThread * threads)
    run_splits<Real>(call, units, tree.value(), blocks);
  else
    run_blocks<Real>(call, units, tree.value(), blocks);
  return {};
}

}  // namespace attest::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
