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

#include "kernels/simd_call.hpp"
#include "kernels/simd_gradient_group-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attest::kernels::HWY_NAMESPACE {

/// Bytes of a block: q and dout twice, and dq.
inline constexpr Index kGradientBlockBytes = 512 * 1024;
inline constexpr Index kMostGradientRows = 960;

/// The gradients of the kv heads of a call. Different heads write different places, except in a
/// dbias that heads share; the order of all sums is fixed.
template <class Real>
class BackwardWorker {
 public:
  BackwardWorker(const SimdBackwardCall& call, GradientScratch<Real>& scratch)
      : problem_(call.problem),
        inputs_(call.problem, {call.views.q, call.views.k, call.views.v}),
        terms_(call.problem, call.views.bias),
        rows_(call, inputs_, scratch),
        group_pass_(call.problem, terms_, rows_.scores(), scratch),
        dk_(call.problem, call.views.dk, scratch.dk_sums),
        dv_(call.problem, call.views.dv, scratch.dv_sums),
        scratch_(scratch),
        scale_(static_cast<Real>(scale_value(call.problem))),
        tile_kv_(std::min(call.tiling.tile_kv, kGradientKeys<Real>)) {}

  void run(Index kv_head) {
    if (problem_.kv.kind == KvStorage::Kind::paged) {
      KeySlots all;
      for (Index b = 0; b < problem_.batch; ++b) all.members.push_back(b);
      const Extents extents = stored_kv_extents(problem_, 1);
      all.count = extents[0] * extents[2];
      return run(all, kv_head);
    }
    for (Index b = 0; b < problem_.batch; ++b) run({{b}, problem_.key_length(b)}, kv_head);
  }

 private:
  void run(const KeySlots& slots, Index kv_head) {
    dk_.begin(slots, kv_head);
    dv_.begin(slots, kv_head);
    for (const Index b : slots.members) member(b, kv_head);
    dk_.write(slots, scale_);
    dv_.write(slots, 1);
  }

  /// Rows of a block: as many as its memory allows, of whole queries.
  Index queries_of_block(Index group) const {
    const Index row_bytes =
        (3 * pitch_of<Real>(problem_.head_dim) + 2 * pitch_of<Real>(problem_.head_dim_v)) *
        static_cast<Index>(sizeof(Real));
    const Index groups = std::clamp<Index>(kGradientBlockBytes / row_bytes / kGroupRows, 1,
                                           kMostGradientRows / kGroupRows);
    return std::max<Index>(1, groups * kGroupRows / group);
  }

  void member(Index b, Index kv_head) {
    const Index group = problem_.heads_q / problem_.heads_kv;
    const VisibleTiles mask(problem_, b);
    const Index queries = queries_of_block(group);
    for (Index query = 0; query < problem_.query_length(b); query += queries) {
      const Index count = std::min(queries, problem_.query_length(b) - query);
      const GradientBlock<Real> block =
          rows_.begin({b, kv_head * group, group, query, 0, group * count}, mask);
      for (Index begin = 0; begin < problem_.key_length(b); begin += tile_kv_) {
        const KeyRange keys{begin, std::min(begin + tile_kv_, problem_.key_length(b))};
        if (mask.tile_class(block.rows.queries(), keys) != TileClass::empty)
          absorb(block, {b, kv_head, 0}, keys, mask);
      }
      rows_.write(block, scale_);
    }
  }

  void absorb(const GradientBlock<Real>& block, const RowIndex& at, const KeyRange& keys,
              const VisibleTiles& mask) {
    const GradientTile<Real> tile = pack_gradient_tile(inputs_, problem_, at, keys, scratch_);
    const TileGradients<Real> sums{scratch_.dk.at_least(kGradientKeys<Real> * tile.k.pitch),
                                   scratch_.dv.at_least(kGradientKeys<Real> * tile.v.pitch)};
    std::fill_n(sums.dk, kGradientKeys<Real> * tile.k.pitch, Real(0));
    std::fill_n(sums.dv, kGradientKeys<Real> * tile.v.pitch, Real(0));
    for (Index first = 0; first < block.rows.rows; first += kGroupRows)
      group_pass_.absorb(block, first, tile, mask, sums);
    dk_.add(at.batch, keys, sums.dk, tile.k.pitch);
    dv_.add(at.batch, keys, sums.dv, tile.v.pitch);
  }

  const Problem& problem_;
  KeyRows<Real> inputs_;
  TileTerms<Real> terms_;
  GradientRows<Real> rows_;
  GroupPass<Real> group_pass_;
  KeyGradient<Real> dk_, dv_;
  GradientScratch<Real>& scratch_;
  Real scale_;
  Index tile_kv_;
};

template <class Real>
void backward_pass(const SimdBackwardCall& call) {
  static thread_local GradientScratch<Real> scratch;
  BackwardWorker<Real> worker(call, scratch);
  for (Index kv_head = 0; kv_head < call.problem.heads_kv; ++kv_head) worker.run(kv_head);
}

}  // namespace attest::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
