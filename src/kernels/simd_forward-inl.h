// The forward pass of the SIMD kernels: blocks of query rows, and for each one all tiles of keys.
//
// A block is the rows of all heads that read one kv head, for consecutive queries, so that a tile of
// K and V is packed once for all of them. Its summaries stay in the second cache.
// Method: FlashAttention-2 (Dao 2023); packing and blocking as in Goto and van de Geijn 2008.

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

#include "kernels/simd_call.hpp"
#include "kernels/simd_results-inl.h"
#include "kernels/simd_strip-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attest::kernels::HWY_NAMESPACE {

/// Bytes of the packed queries and summaries of a block.
inline constexpr Index kBlockBytes = 512 * 1024;
inline constexpr Index kMostBlockRows = 1024;

template <class Real>
class ForwardWorker {
 public:
  ForwardWorker(const SimdForwardCall& call, Scratch<Real>& scratch)
      : problem_(call.problem),
        rows_(call.problem, {call.views.q, call.views.k, call.views.v, call.views.qv}),
        terms_(call.problem, call.views.bias),
        strip_pass_(call.problem, terms_, scratch),
        writer_(call.problem, call.views),
        scratch_(scratch),
        scale_(static_cast<Real>(scale_value(call.problem))),
        tile_kv_(std::min(call.tiling.tile_kv, kTileKeys<Real>)),
        pitch_(pitch_of<Real>(call.problem.head_dim_v)) {}

  Index pitch() const { return pitch_; }

  /// Packs the queries of a block, each element scaled and rounded once.
  void begin(const StripRows& block) {
    const Index columns = rows_.key_columns();
    const Index strips = (block.rows + kStripRows - 1) / kStripRows;
    const Index size = strips * columns * kStripPitch<Real>;
    const Index row_pitch = pitch_of<Real>(columns);
    q_ = scratch_.q.at_least(size);
    Real* const copies = scratch_.rows.at_least((kStripPitch<Real> + 1) * row_pitch);
    Real* const zeros = copies + kStripPitch<Real> * row_pitch;
    std::fill_n(zeros, columns, Real(0));
    std::array<const Real*, static_cast<std::size_t>(kStripPitch<Real>)> rows;
    for (Index strip = 0; strip < strips; ++strip) {
      rows.fill(zeros);
      const Index first = strip * kStripRows;
      for (Index i = 0; i < std::min(kStripRows, block.rows - first); ++i)
        rows[static_cast<std::size_t>(i)] =
            rows_.query(block.row(first + i), copies + i * row_pitch);
      Real* const to = q_ + strip * columns * kStripPitch<Real>;
      for (Index vector = 0; vector < kStripPitch<Real>; vector += kLanes<Real>)
        pack_rows(rows.data() + vector, columns, to + vector, kStripPitch<Real>);
    }
    scale_in_place(q_, size, scale_);
  }

  /// Summaries of the rows over the keys of `range`.
  void summarise(const StripRows& block, const VisibleTiles& mask, const KeyRange& range,
                 const Summaries<Real>& part) {
    part.clear();
    for (Index begin = range.begin; begin < range.end; begin += tile_kv_) {
      const KeyRange keys{begin, std::min(begin + tile_kv_, std::min(range.end,
                                                                     problem_.key_length(block.b)))};
      if (keys.begin >= keys.end) return;
      if (mask.tile_class(block.queries(), keys) == TileClass::empty) continue;
      const PackedTile<Real> tile = pack(block, keys);
      for_each_strip(block, [&](const StripRows& strip, const Real* q) {
        absorb(strip, q, tile, mask, strip_of(part, strip.first - block.first));
      });
    }
  }

  /// The keys and values that the rows of a block read. It lives until the next call.
  PackedTile<Real> pack(const StripRows& block, const KeyRange& keys) {
    const Index kv_head = problem_.kv_head(block.first_head);
    return pack_tile(rows_, block.b, kv_head, keys, problem_.head_dim_v, scratch_);
  }

  /// Calls pass(strip, its packed queries). Precondition: begin(block).
  template <class Pass>
  void for_each_strip(const StripRows& block, Pass&& pass) {
    const Index size = rows_.key_columns() * kStripPitch<Real>;
    for (Index first = 0; first < block.rows; first += kStripRows) {
      StripRows strip = block;
      strip.first = block.first + first;
      strip.rows = std::min(kStripRows, block.rows - first);
      pass(strip, q_ + first / kStripRows * size);
    }
  }

  void absorb(const StripRows& strip, const Real* q, const PackedTile<Real>& tile,
              const VisibleTiles& mask, const Summaries<Real>& part) {
    strip_pass_.absorb(strip, q, tile, mask, part);
  }

  void write(const StripRows& block, const Summaries<Real>& part) {
    for (Index i = 0; i < block.rows; ++i) {
      if (i + 4 < block.rows) writer_.prefetch(block.row(i + 4));
      writer_.write(block.row(i), part, i);
    }
  }

 private:
  const Problem& problem_;
  KeyRows<Real> rows_;
  TileTerms<Real> terms_;
  StripPass<Real> strip_pass_;
  RowWriter<Real> writer_;
  Scratch<Real>& scratch_;
  Real scale_;
  Index tile_kv_;
  Index pitch_;
  Real* q_ = nullptr;
};

/// All blocks of a call. Rows of a block: as many as its memory allows, of whole queries.
template <class Real>
std::vector<StripRows> blocks_of(const Problem& problem, Index summaries_of_row,
                                 Index block_bytes = kBlockBytes) {
  const Index group = problem.heads_q / problem.heads_kv;
  const Index columns = problem.head_dim + (problem.qv ? problem.head_dim_v : 0);
  const Index row_bytes =
      (columns + summaries_of_row * pitch_of<Real>(problem.head_dim_v)) * Index{sizeof(Real)};
  const Index rows = std::clamp<Index>(block_bytes / row_bytes, kStripRows, kMostBlockRows);
  const Index most = std::max<Index>(1, rows / group);
  const Index of_strips = kStripRows / std::gcd(kStripRows, group);
  std::vector<StripRows> blocks;
  for (Index b = 0; b < problem.batch; ++b) {
    // Blocks of nearly one size, of whole strips.
    const Index length = problem.query_length(b);
    const Index count = std::max<Index>(1, (length + most - 1) / most);
    const Index shortest = (length + count - 1) / count;
    const Index queries = (shortest + of_strips - 1) / of_strips * of_strips;
    for (Index kv_head = 0; kv_head < problem.heads_kv; ++kv_head)
      for (Index query = 0; query < problem.query_length(b); query += queries)
        blocks.push_back({b, kv_head * group, group, query, 0,
                          group * std::min(queries, problem.query_length(b) - query)});
  }
  return blocks;
}

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

template <class Real>
Status forward_pass(const SimdForwardCall& call) {
  const Problem& problem = call.problem;
  const std::vector<KeyRange> units = split_ranges(call.tiling, problem.seq_kv);
  const Result<MergeTree> tree = make_merge_tree(call.tiling.merge, static_cast<Index>(units.size()));
  if (!tree.ok()) return tree.status();
  const Index stacked = height(tree.value());
  static thread_local Scratch<Real> scratch;
  ForwardWorker<Real> worker(call, scratch);
  for (const StripRows& block : blocks_of<Real>(problem, stacked)) {
    const VisibleTiles mask(problem, block.b);
    const Index rows = (block.rows + kStripRows - 1) / kStripRows * kStripRows;
    const Index size = Summaries<Real>::elements(rows, worker.pitch());
    worker.begin(block);
    Index depth = 0;
    Real* const memory = scratch.summaries.at_least(stacked * size);
    const auto place = [&](Index at) {
      return Summaries<Real>::in(memory + at * size, rows, worker.pitch());
    };
    for (const Index step : tree.value().steps) {
      if (step != MergeTree::merge) {
        worker.summarise(block, mask, units[static_cast<std::size_t>(step)], place(depth++));
      } else {
        --depth;
        merge_into(place(depth - 1), place(depth));
      }
    }
    worker.write(block, place(0));
  }
  return {};
}

}  // namespace attest::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
