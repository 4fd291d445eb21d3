// The forward pass whose leaves and merges do not depend on how a call is split.
//
// A leaf is summarised alone, by the code of the plain kernel, and is merged strip by strip while it
// is in the first cache (canonical_plan.hpp says with what).

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

/// The sum of a row moves into its first lane: a summary then has one sum, as the bound counts it.
template <class Real>
HWY_INLINE void collapse_sums(const Summaries<Real>& strip, Index rows) {
  const Tag<Real> d;
  for (Index i = 0; i < rows; ++i) {
    Real* const lanes = strip.row_sum + i * kLanes<Real>;
    const Real sum = hn::GetLane(hn::SumOfLanes(d, hn::Load(d, lanes)));
    hn::Store(hn::Zero(d), d, lanes);
    lanes[0] = sum;
  }
}

/// left = merge(left, right) for the rows of a strip: merge_into with the factors side by side.
template <class Real>
HWY_NOINLINE void merge_strips(const Summaries<Real>& left, const Summaries<Real>& right,
                               Index rows) {
  const Tag<Real> d;
  // Lanes without a row are 0: what is left there may have a subnormal result, which is slow.
  HWY_ALIGN Real of_left[kStripRows + kLanes<Real>] = {};
  HWY_ALIGN Real of_right[kStripRows + kLanes<Real>] = {};
  for (Index i = 0; i < kStripRows; ++i) {
    const bool rises = left.row_max[i] < right.row_max[i];
    const Real to = rises ? right.row_max[i] : left.row_max[i];
    of_left[i] = left.row_max[i] - reference_of(to);
    of_right[i] = right.row_max[i] - reference_of(to);
    left.row_max[i] = to;
  }
  for (Index i = 0; i < kStripRows; i += kLanes<Real>) {
    hn::Store(ExpNonPositive(d, hn::Load(d, of_left + i)), d, of_left + i);
    hn::Store(ExpNonPositive(d, hn::Load(d, of_right + i)), d, of_right + i);
  }
  for (Index i = 0; i < rows; ++i) {
    const Vec<Real> left_factor = hn::Set(d, of_left[i]);
    const Vec<Real> right_factor = hn::Set(d, of_right[i]);
    combine(left_factor, left.row_sum + i * kLanes<Real>, right_factor,
            right.row_sum + i * kLanes<Real>, kLanes<Real>, left.row_sum + i * kLanes<Real>);
    combine(left_factor, left.numerators + i * left.pitch, right_factor,
            right.numerators + i * right.pitch, left.pitch, left.numerators + i * left.pitch);
  }
}

template <class Real>
class CanonicalBlock {
 public:
  CanonicalBlock(ForwardWorker<Real>& worker, Scratch<Real>& scratch, AlignedBuffer<Real>& passing)
      : worker_(worker),
        scratch_(scratch),
        passing_(Summaries<Real>::in(
            passing.at_least(Summaries<Real>::elements(kStripRows, worker.pitch())), kStripRows,
            worker.pitch())) {}

  void run(const StripRows& block, const VisibleTiles& mask, const CanonicalPlan& plan,
           Index key_length) {
    rows_ = (block.rows + kStripRows - 1) / kStripRows * kStripRows;
    size_ = Summaries<Real>::elements(rows_, worker_.pitch());
    memory_ = scratch_.summaries.at_least(std::max<Index>(1, plan.places) * size_);
    worker_.begin(block);
    if (plan.root == CanonicalPlan::no_root) place(0).clear();
    for (auto step = plan.steps.begin(); step != plan.steps.end();) {
      const auto next = std::find_if(step + 1, plan.steps.end(), [](const CanonicalStep& later) {
        return later.leaf != CanonicalStep::merge;
      });
      const Index begin = step->leaf * kLeafKeys<Real>;
      const KeyRange keys{begin, std::min(begin + kLeafKeys<Real>, key_length)};
      const PackedTile<Real> tile = worker_.pack(block, keys);
      worker_.for_each_strip(block, [&](const StripRows& strip, const Real* q) {
        const Index first = strip.first - block.first;
        const Summaries<Real> leaf = strip_at(step->left, first);
        leaf.clear();
        worker_.absorb(strip, q, tile, mask, leaf);
        collapse_sums(leaf, strip.rows);
        for (auto merge = step + 1; merge != next; ++merge)
          merge_strips(strip_at(merge->left, first), strip_at(merge->right, first), strip.rows);
      });
      step = next;
    }
    worker_.write(block, place(std::max<Index>(0, plan.root)));
  }

 private:
  Summaries<Real> place(Index at) const {
    return Summaries<Real>::in(memory_ + at * size_, rows_, worker_.pitch());
  }
  Summaries<Real> strip_at(std::int32_t at, Index first) const {
    return at == CanonicalStep::passing ? passing_ : strip_of(place(at), first);
  }

  ForwardWorker<Real>& worker_;
  Scratch<Real>& scratch_;
  Summaries<Real> passing_;
  Index rows_ = 0;
  Index size_ = 0;
  Real* memory_ = nullptr;
};

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
  static thread_local Scratch<Real> scratch;
  static thread_local AlignedBuffer<Real> passing;
  ForwardWorker<Real> worker(call, scratch);
  CanonicalBlock<Real> pass(worker, scratch, passing);
  for (const StripRows& block : blocks_of<Real>(problem, std::max<Index>(1, places))) {
    const VisibleTiles mask(problem, block.b);
    const Index key_length = problem.key_length(block.b);
    pass.run(block, mask, plan_of([&](Index leaf) {
               const Index begin = leaf * kLeafKeys<Real>;
               const KeyRange keys{begin, std::min(begin + kLeafKeys<Real>, key_length)};
               return keys.begin >= keys.end ||
                      mask.tile_class(block.queries(), keys) == TileClass::empty;
             }),
             key_length);
  }
  return {};
}

}  // namespace attest::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
