// The backward pass of the SIMD kernels: blocks of query rows, and for each one all tiles of keys,
// in one pass with five products.
//
// A block is the rows of all heads that read one kv head, for consecutive queries: its dq is
// complete when it has met all tiles. dk and dv grow in memory, the sums of one block and one tile
// at a time. Method: FlashAttention-2 (Dao 2023), with the sums of packed blocks as in Goto and
// van de Geijn 2008.

// One body for each target of Highway.
#if defined(ATTEST_KERNELS_SIMD_BACKWARD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_KERNELS_SIMD_BACKWARD_INL_H_
#undef ATTEST_KERNELS_SIMD_BACKWARD_INL_H_
#else
#define ATTEST_KERNELS_SIMD_BACKWARD_INL_H_
#endif

#include <algorithm>
#include <vector>

#include "kernels/parallel.hpp"
#include "kernels/simd_call.hpp"
#include "kernels/simd_gradient_group-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attest::kernels::HWY_NAMESPACE {

/// Bytes of a block: q, dout and dq. With a tile it lies in the second cache.
inline constexpr Index kGradientBlockBytes = Index{768} * 1024;
inline constexpr Index kMostGradientRows = 1056;

/// The gradients of the kv heads of a call. Different heads write different places, except in a
/// dbias that heads share; the order of all sums is fixed.
template <class Real>
class BackwardWorker {
 public:
  BackwardWorker(const SimdBackwardCall& call, GradientScratch<Real>& scratch)
      : problem_(call.problem),
        scale_(static_cast<Real>(scale_value(call.problem))),
        inputs_(call.problem, {call.views.q, call.views.k, call.views.v}),
        terms_(call.problem, call.views.bias),
        rows_(call, inputs_, scratch),
        dk_(call.problem, call.views.dk, scale_, scratch.dk_sums),
        dv_(call.problem, call.views.dv, 1, scratch.dv_sums),
        group_pass_(call.problem, terms_, rows_.scores(), scratch),
        scratch_(scratch),
        tile_kv_(std::min(call.tiling.tile_kv, kGradientKeys<Real>)) {}

  void run(Index kv_head) {
    if (problem_.kv.kind == KvStorage::Kind::paged) {
      KeySlots all;
      for (Index b = 0; b < problem_.batch; ++b) all.members.push_back(b);
      const Extents extents = stored_kv_extents(problem_, 1);
      all.count = extents[0] * extents[2];
      return run(all, kv_head, false);
    }
    for (Index b = 0; b < problem_.batch; ++b) run({{b}, problem_.key_length(b)}, kv_head, true);
  }

 private:
  void run(const KeySlots& slots, Index kv_head, bool alone) {
    dk_.begin(slots, kv_head);
    dv_.begin(slots, kv_head);
    for (const Index b : slots.members) member(b, kv_head, alone);
    dk_.write(slots);
    dv_.write(slots);
  }

  /// Blocks of a member: whole queries, nearly as many in each, as many as the memory allows.
  std::vector<StripRows> blocks_of(Index b, Index kv_head) const {
    const Index group = problem_.heads_q / problem_.heads_kv;
    const Index length = problem_.query_length(b);
    const Index row_bytes =
        (2 * pitch_of<Real>(problem_.head_dim) + pitch_of<Real>(problem_.head_dim_v)) *
        static_cast<Index>(sizeof(Real));
    const Index most = std::clamp(kGradientBlockBytes / row_bytes, kGroupRows, kMostGradientRows);
    const Index count = std::max<Index>(1, (length * group + most - 1) / most);
    const Index least = (length + count - 1) / count;
    const Index strips = (least * group + kStripRows - 1) / kStripRows;
    const Index queries = std::max(least, strips * kStripRows / group);
    std::vector<StripRows> blocks;
    for (Index query = 0; query < length; query += queries)
      blocks.push_back(
          {b, kv_head * group, group, query, 0, group * std::min(queries, length - query)});
    return blocks;
  }

  /// `alone`: no other member adds to its keys.
  void member(Index b, Index kv_head, bool alone) {
    const VisibleTiles mask(problem_, b);
    const std::vector<StripRows> blocks = blocks_of(b, kv_head);
    for (const StripRows& rows : blocks) {
      const bool last = &rows == &blocks.back() && alone;
      const GradientBlock<Real> block = rows_.begin(rows, mask);
      const Index length = problem_.key_length(b);
      for (Index begin = 0; begin < length; begin += tile_kv_) {
        const KeyRange keys{begin, std::min(begin + tile_kv_, length)};
        if (mask.tile_class(rows.queries(), keys) != TileClass::empty)
          absorb(block, {b, kv_head, 0}, keys, mask, last);
      }
      rows_.write(block, scale_);
    }
  }

  void absorb(const GradientBlock<Real>& block, const RowIndex& at, const KeyRange& keys,
              const VisibleTiles& mask, bool last) {
    const GradientTile<Real> tile = pack_gradient_tile(inputs_, problem_, at, keys, scratch_);
    const Index pitch_v = pitch_of<Real>(problem_.head_dim_v);
    const TileGradients<Real> sums{scratch_.dk.at_least(kGradientKeys<Real> * tile.k.pitch),
                                   scratch_.dv.at_least(kGradientKeys<Real> * pitch_v)};
    std::fill_n(sums.dk, kGradientKeys<Real> * tile.k.pitch, Real(0));
    std::fill_n(sums.dv, kGradientKeys<Real> * pitch_v, Real(0));
    for (Index first = 0; first < block.rows.rows; first += kGroupRows)
      group_pass_.absorb(block, first, tile, mask, sums);
    dk_.add(at.batch, keys, sums.dk, tile.k.pitch, last);
    dv_.add(at.batch, keys, sums.dv, pitch_v, last);
  }

  const Problem& problem_;
  Real scale_;
  KeyRows<Real> inputs_;
  TileTerms<Real> terms_;
  GradientRows<Real> rows_;
  KeyGradient<Real> dk_, dv_;
  GroupPass<Real> group_pass_;
  GradientScratch<Real>& scratch_;
  Index tile_kv_;
};

template <class Real>
void backward_pass(const SimdBackwardCall& call) {
  const auto run = [&](Index kv_head) {
    static thread_local GradientScratch<Real> scratch;
    BackwardWorker<Real>(call, scratch).run(kv_head);
  };
  const Problem& problem = call.problem;
  ScoreGradient<Real>(problem, call.views).clear();
  // Heads add up to one dbias, in their order.
  if (problem.backward->dbias && !problem.bias->per_head)
    for (Index kv_head = 0; kv_head < problem.heads_kv; ++kv_head) run(kv_head);
  else
    for_each_piece(problem.heads_kv, run);
}

}  // namespace attest::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
