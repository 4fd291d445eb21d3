// The forward pass whose leaves and merges do not depend on how a call is split.
//
// A leaf is summarised alone, by the code of the plain kernel, and is merged strip by strip while
// it is in the first cache (canonical_plan.hpp says with what).

// One body for each target of Highway.
#if defined(ATTEST_KERNELS_SIMD_CANONICAL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_KERNELS_SIMD_CANONICAL_INL_H_
#undef ATTEST_KERNELS_SIMD_CANONICAL_INL_H_
#else
#define ATTEST_KERNELS_SIMD_CANONICAL_INL_H_
#endif

#include <algorithm>
#include <vector>

#include "kernels/canonical_plan.hpp"
#include "kernels/simd_forward-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attest::kernels::HWY_NAMESPACE {

template <class Real>
inline constexpr Index kLeafKeys = leaf_keys(dtype_of<Real>());

/// Summaries of rows whose sums are one number each.
template <class Real>
struct NodeRows {
  Index pitch = 0;
  Real* row_max = nullptr;
  Real* row_sum = nullptr;
  Real* numerators = nullptr;  ///< rows x pitch

  static Index elements(Index rows, Index pitch) { return rows * pitch + pitch_of<Real>(2 * rows); }
  /// In memory of elements(rows, pitch).
  static NodeRows in(Real* memory, Index rows, Index pitch) {
    Real* const row_max = memory + rows * pitch;
    return {pitch, row_max, row_max + rows, memory};
  }
  NodeRows from(Index first) const {
    return {pitch, row_max + first, row_sum + first, numerators + first * pitch};
  }
};

/// left = merge(left, right) for the rows of a strip: merge_into with the factors side by side.
template <class Real>
HWY_NOINLINE void merge_strips(const NodeRows<Real>& left, const NodeRows<Real>& right,
                               Index rows) {
  const Tag<Real> d;
  // Lanes without a row are 0: what is left there may have a subnormal result, which is slow.
  HWY_ALIGN Real of_left[kStripRows + kLanes<Real>] = {};
  HWY_ALIGN Real of_right[kStripRows + kLanes<Real>] = {};
  for (Index i = 0; i < kStripRows; ++i) {
    const Real to = left.row_max[i] < right.row_max[i] ? right.row_max[i] : left.row_max[i];
    of_left[i] = left.row_max[i] - reference_of(to);
    of_right[i] = right.row_max[i] - reference_of(to);
    left.row_max[i] = to;
  }
  for (Index i = 0; i < kStripRows; i += kLanes<Real>) {
    hn::Store(ExpNonPositive(d, hn::Load(d, of_left + i)), d, of_left + i);
    hn::Store(ExpNonPositive(d, hn::Load(d, of_right + i)), d, of_right + i);
  }
  for (Index i = 0; i < kStripRows; ++i)
    left.row_sum[i] = of_left[i] * left.row_sum[i] + of_right[i] * right.row_sum[i];
  for (Index i = 0; i < rows; ++i)
    combine(hn::Set(d, of_left[i]), left.numerators + i * left.pitch, hn::Set(d, of_right[i]),
            right.numerators + i * right.pitch, left.pitch, left.numerators + i * left.pitch);
}

template <class Real>
class CanonicalBlock {
 public:
  CanonicalBlock(ForwardWorker<Real>& worker, AlignedBuffer<Real>& places,
                 AlignedBuffer<Real>& of_strip)
      : worker_(worker), places_(places) {
    const Index node = NodeRows<Real>::elements(kStripRows, worker.pitch());
    Real* const memory = of_strip.at_least(pitch_of<Real>(node) + kStripRows * kLanes<Real>);
    passing_ = NodeRows<Real>::in(memory, kStripRows, worker.pitch());
    lanes_ = memory + pitch_of<Real>(node);
  }

  void run(const StripRows& block, const VisibleTiles& mask, const CanonicalPlan& plan,
           Index key_length) {
    rows_ = (block.rows + kStripRows - 1) / kStripRows * kStripRows;
    size_ = NodeRows<Real>::elements(rows_, worker_.pitch());
    memory_ = places_.at_least(std::max<Index>(1, plan.places) * size_);
    worker_.begin(block);
    for (auto step = plan.steps.begin(); step != plan.steps.end();) {
      const auto next = std::find_if(step + 1, plan.steps.end(), [](const CanonicalStep& later) {
        return later.leaf != CanonicalStep::merge;
      });
      const Index begin = step->leaf * kLeafKeys<Real>;
      const KeyRange keys{begin, std::min(begin + kLeafKeys<Real>, key_length)};
      const KeyTile<Real> tile = worker_.tile_of(block, keys);
      worker_.for_each_strip(block, [&](const StripRows& strip, const Real* q) {
        const Index first = strip.first - block.first;
        summarise(strip, q, tile, mask, strip_at(step->left, first));
        for (auto merge = step + 1; merge != next; ++merge)
          merge_strips(strip_at(merge->left, first), strip_at(merge->right, first), strip.rows);
      });
      step = next;
    }
    write(block, plan.root);
  }

 private:
  NodeRows<Real> place(Index at) const {
    return NodeRows<Real>::in(memory_ + at * size_, rows_, worker_.pitch());
  }
  NodeRows<Real> strip_at(std::int32_t at, Index first) const {
    return at == CanonicalStep::passing ? passing_ : place(at).from(first);
  }
  Summaries<Real> with_lanes(const NodeRows<Real>& strip) const {
    return {kStripRows, strip.pitch, strip.row_max, lanes_, strip.numerators};
  }

  /// The sums of the lanes are added up at once: a node then has one sum, as the bound counts it.
  void summarise(const StripRows& strip, const Real* q, const KeyTile<Real>& tile,
                 const VisibleTiles& mask, const NodeRows<Real>& leaf) {
    const Tag<Real> d;
    with_lanes(leaf).clear();
    worker_.absorb(strip, q, tile, mask, with_lanes(leaf));
    for (Index i = 0; i < kStripRows; ++i)
      leaf.row_sum[i] = hn::GetLane(hn::SumOfLanes(d, hn::Load(d, lanes_ + i * kLanes<Real>)));
  }

  void write(const StripRows& block, Index root) {
    worker_.for_each_strip(block, [&](const StripRows& strip, const Real*) {
      const NodeRows<Real> rows =
          root == CanonicalPlan::no_root ? passing_ : place(root).from(strip.first - block.first);
      const Summaries<Real> part = with_lanes(rows);
      if (root == CanonicalPlan::no_root) part.clear();
      std::fill_n(lanes_, kStripRows * kLanes<Real>, Real(0));
      if (root != CanonicalPlan::no_root)
        for (Index i = 0; i < strip.rows; ++i) lanes_[i * kLanes<Real>] = rows.row_sum[i];
      worker_.write(strip, part);
    });
  }

  ForwardWorker<Real>& worker_;
  AlignedBuffer<Real>& places_;
  NodeRows<Real> passing_;
  Real* lanes_ = nullptr;  ///< kStripRows x lanes
  Index rows_ = 0;
  Index size_ = 0;
  Real* memory_ = nullptr;
};

/// Bytes of the packed queries and of the nodes of a block: what a packed tile, and the plan of a
/// million keys, leave of a mebibyte. As blocks_of counts them, whose summaries have a sum a lane.
template <class Real>
Index node_bytes(const Problem& problem) {
  const Index pitch = pitch_of<Real>(problem.head_dim_v);
  const Index tile = kLeafKeys<Real> * (score_columns(problem) + pitch) * Index{sizeof(Real)};
  const Index left = std::max(Index{832} * 1024 - tile, Index{128} * 1024);
  return left * Summaries<Real>::elements(1, pitch) / NodeRows<Real>::elements(1, pitch);
}

template <class Real>
Status canonical_pass(const SimdForwardCall& call) {
  static_assert(kLeafKeys<Real> <= kTileKeys<Real>);
  const Problem& problem = call.problem;
  const auto splits = static_cast<Index>(split_ranges(call.tiling, problem.seq_kv).size());
  const Result<MergeTree> tree = make_merge_tree(call.tiling.merge, splits);
  if (!tree.ok()) return tree.status();
  const auto plan_of = [&](const EmptyLeaf& is_empty) {
    return canonical_plan(call.tiling, tree.value(), problem.seq_kv, kLeafKeys<Real>, is_empty);
  };
  const Index places = plan_of([](Index) { return false; }).places;
  const std::vector<StripRows> blocks =
      blocks_of<Real>(problem, std::max<Index>(1, places), node_bytes<Real>(problem));
  for_each_piece(static_cast<Index>(blocks.size()), [&](Index piece) {
    static thread_local AlignedBuffer<Real> of_strip;
    const StripRows& block = blocks[static_cast<std::size_t>(piece)];
    const VisibleTiles mask(problem, block.b);
    const Index key_length = problem.key_length(block.b);
    const CanonicalPlan plan = plan_of([&](Index leaf) {
      const Index begin = leaf * kLeafKeys<Real>;
      const KeyRange keys{begin, std::min(begin + kLeafKeys<Real>, key_length)};
      return keys.begin >= keys.end || mask.tile_class(block.queries(), keys) == TileClass::empty;
    });
    Scratch<Real>& scratch = scratch_of_thread<Real>();
    ForwardWorker<Real> worker(call, scratch);
    CanonicalBlock<Real>(worker, scratch.summaries, of_strip).run(block, mask, plan, key_length);
  });
  return {};
}

}  // namespace attest::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
