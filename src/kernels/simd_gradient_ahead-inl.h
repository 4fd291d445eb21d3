// Fetches what the next tile and the next block will read while the products of this one are
// formed.

// One body for each target of Highway.
#if defined(ATTEST_KERNELS_SIMD_GRADIENT_AHEAD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_KERNELS_SIMD_GRADIENT_AHEAD_INL_H_
#undef ATTEST_KERNELS_SIMD_GRADIENT_AHEAD_INL_H_
#else
#define ATTEST_KERNELS_SIMD_GRADIENT_AHEAD_INL_H_
#endif

#include <algorithm>

#include "kernels/simd_gradient_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attest::kernels::HWY_NAMESPACE {

/// A few rows a step, so that they arrive beside the arithmetic.
template <class Real>
class GradientAhead {
 public:
  GradientAhead(const KeyRows<Real>& inputs, const GradientRows<Real>& rows,
                const KeyGradient<Real>& dk, const KeyGradient<Real>& dv)
      : inputs_(inputs), rows_(rows), dk_(dk), dv_(dv) {}

  /// The block after this one, or none; `steps` of all its tiles.
  void begin_block(const StripRows& next, Index steps) {
    next_block_ = next;
    row_ = 0;
    rows_a_step_ = a_step(next.rows, steps);
  }
  /// This tile, whose sums are added to memory, and the one after it, or none.
  void begin_tile(const RowIndex& at, const KeyRange& keys, const KeyRange& next, Index steps) {
    at_ = at;
    sums_ = keys;
    next_ = next;
    keys_a_step_ = a_step(std::max(keys.end - keys.begin, next.end - next.begin), steps);
  }
  void step() {
    for (Index i = 0; i < keys_a_step_; ++i) {
      if (sums_.begin < sums_.end) {
        dk_.prefetch(at_.batch, sums_.begin);
        dv_.prefetch(at_.batch, sums_.begin++);
      }
      if (next_.begin < next_.end) inputs_.prefetch_key(at_.batch, at_.head, next_.begin++);
    }
    for (Index i = 0; i < rows_a_step_ && row_ < next_block_.rows; ++i)
      rows_.prefetch(next_block_.row(row_++));
  }

 private:
  static Index a_step(Index count, Index steps) { return (count + steps - 1) / steps; }

  const KeyRows<Real>& inputs_;
  const GradientRows<Real>& rows_;
  const KeyGradient<Real>& dk_;
  const KeyGradient<Real>& dv_;
  StripRows next_block_;
  RowIndex at_;
  KeyRange sums_, next_;
  Index row_ = 0, rows_a_step_ = 0, keys_a_step_ = 0;
};

}  // namespace attest::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
