// A block of query rows of the backward pass: q and dout packed, lse and D found, dq written.

// One body for each target of Highway.
#if defined(ATTEST_KERNELS_SIMD_GRADIENT_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_KERNELS_SIMD_GRADIENT_ROWS_INL_H_
#undef ATTEST_KERNELS_SIMD_GRADIENT_ROWS_INL_H_
#else
#define ATTEST_KERNELS_SIMD_GRADIENT_ROWS_INL_H_
#endif

#include <algorithm>
#include <vector>

#include "kernels/result_rows.hpp"
#include "kernels/simd_gradient_sums-inl.h"
#include "kernels/simd_strip-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attest::kernels::HWY_NAMESPACE {

/// Rows up to whole strips; those that do not exist, or see nothing, are zero.
template <class Real>
struct GradientBlock {
  StripRows rows;
  Rows<Real> q;
  Rows<Real> dout;
  Real* lse = nullptr;
  Real* delta = nullptr;  ///< D = dout . out - dlse
  Rows<Real> dq;          ///< without the scale
  bool q_finite = true;
  bool dout_finite = true;
};

/// sum_c a(c) b(c).
template <class Real>
Real dot_product(const Real* a, const Real* b, Index columns) {
  const Tag<Real> d;
  Vec<Real> sums = hn::Zero(d);
  Index c = 0;
  for (; c + kLanes<Real> <= columns; c += kLanes<Real>)
    sums = hn::MulAdd(hn::LoadU(d, a + c), hn::LoadU(d, b + c), sums);
  Real sum = hn::GetLane(hn::SumOfLanes(d, sums));
  for (; c < columns; ++c) sum += a[c] * b[c];
  return sum;
}

template <class Real>
class GradientRows {
 public:
  GradientRows(const SimdBackwardCall& call, KeyRows<Real>& inputs, GradientScratch<Real>& scratch)
      : problem_(call.problem),
        views_(call.views),
        places_(call.problem),
        inputs_(inputs),
        scores_(call.problem, call.views),
        sinks_(sink_logits<Real>(call.problem, call.views.sink)),
        scratch_(scratch) {}

  const ScoreGradient<Real>& scores() const { return scores_; }

  /// Nothing is read of a row that sees no key and has no sink.
  GradientBlock<Real> begin(const StripRows& rows, const VisibleTiles& mask) {
    const Index count = (rows.rows + kStripRows - 1) / kStripRows * kStripRows;
    GradientBlock<Real> block{rows,
                              Rows<Real>::in(scratch_.q, count, problem_.head_dim),
                              Rows<Real>::in(scratch_.dout, count, problem_.head_dim_v),
                              scratch_.lse.at_least(count),
                              scratch_.delta.at_least(count),
                              Rows<Real>::in(scratch_.dq, count, problem_.head_dim)};
    std::fill_n(block.dq.elements, count * block.dq.pitch, Real(0));
    std::fill_n(block.lse, count, Real(0));
    std::fill_n(block.delta, count, Real(0));
    Real* const copy = scratch_.copy.at_least(block.q.pitch + 2 * block.dout.pitch);
    RowCopier<Real> copy_q;
    RowCopier<Real> copy_dout;
    bool sees = false;
    for (Index i = 0; i < count; ++i) {
      if (i < rows.rows && (i == 0 || rows.row(i).query != rows.row(i - 1).query))
        sees = !sinks_.empty() || sees_a_key(mask, rows.row(i).query, {0, problem_.seq_kv});
      if (i >= rows.rows || !sees) {
        std::fill_n(block.q.row(i), block.q.pitch, Real(0));
        std::fill_n(block.dout.row(i), block.dout.pitch, Real(0));
        continue;
      }
      copy_q.copy(inputs_.query(rows.row(i), copy), block.q, i);
      const RowPlace at = places_.query(rows.row(i));
      const Real* const dout = inputs_.stored(views_.dout, at, copy);
      copy_dout.copy(dout, block.dout, i);
      find_delta(rows.row(i), dout, copy + block.dout.pitch, block.lse[i], block.delta[i]);
    }
    block.q_finite = copy_q.finite();
    block.dout_finite = copy_dout.finite();
    return block;
  }

  void write(const GradientBlock<Real>& block, Real scale) const {
    for (Index i = 0; i < block.rows.rows; ++i) {
      Real* const row = block.dq.row(i);
      finish_row(row, block.dq.columns, scale);
      store_row(views_.dq, places_.query(block.rows.row(i)), static_cast<const Real*>(row));
    }
  }

 private:
  /// Halves the keys, down to a few that are asked one by one.
  static bool sees_a_key(const VisibleTiles& mask, Index query, const KeyRange& keys) {
    constexpr Index kFew = 16;
    if (keys.begin >= keys.end) return false;
    const TileClass found = mask.tile_class({query, query + 1}, keys);
    if (found != TileClass::partial) return found == TileClass::full;
    if (keys.end - keys.begin <= kFew) return mask.row(query, keys).any();
    const Index middle = keys.begin + (keys.end - keys.begin) / 2;
    return sees_a_key(mask, query, {keys.begin, middle}) ||
           sees_a_key(mask, query, {middle, keys.end});
  }

  /// The lse and D of a row; its sink belongs to no tile.
  void find_delta(const RowIndex& row, const Real* dout, Real* copy, Real& lse, Real& delta) const {
    const Tag<Real> d;
    const RowPlace at = places_.query(row);
    const Real* const out = inputs_.stored(views_.out, at, copy);
    lse = read_element<Real>(views_.lse, at, 0);
    delta = dot_product(dout, out, problem_.head_dim_v);
    if (problem_.backward->dlse) delta -= read_element<Real>(views_.dlse, at, 0);
    if (!scores_.has_sink()) return;
    const Real logit = sinks_[static_cast<std::size_t>(row.head)];
    const Real weight = hn::GetLane(Exp(d, hn::Set(d, logit - lse)));
    scores_.add_sink(row, -(weight * delta));
  }

  const Problem& problem_;
  const BackwardViews& views_;
  StoredPlaces places_;
  KeyRows<Real>& inputs_;
  ScoreGradient<Real> scores_;
  std::vector<Real> sinks_;
  GradientScratch<Real>& scratch_;
};

}  // namespace attest::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
