// Summaries of rows are merged, and become outputs and lse.

// One body for each target of Highway.
#if defined(ATTEST_KERNELS_SIMD_RESULTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_KERNELS_SIMD_RESULTS_INL_H_
#undef ATTEST_KERNELS_SIMD_RESULTS_INL_H_
#else
#define ATTEST_KERNELS_SIMD_RESULTS_INL_H_
#endif

#include <cmath>
#include <vector>

#include "kernels/result_rows.hpp"
#include "kernels/simd_convert-inl.h"
#include "kernels/simd_scratch-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attest::kernels::HWY_NAMESPACE {

/// exp(from - to) for a part that is relative to `from`; 0 for an empty one.
template <class Real>
HWY_INLINE Vec<Real> rescale_factor(Real from, Real to) {
  const Tag<Real> d;
  return ExpNonPositive(d, hn::Set(d, from - reference_of(to)));
}

/// to(c) = left_factor left(c) + right_factor right(c), each product and the sum rounded.
template <class Real>
HWY_INLINE void combine(Vec<Real> left_factor, const Real* left, Vec<Real> right_factor,
                        const Real* right, Index count, Real* to) {
  const Tag<Real> d;
  for (Index c = 0; c < count; c += kLanes<Real>) {
    const Vec<Real> scaled_left = hn::Mul(left_factor, hn::Load(d, left + c));
    const Vec<Real> scaled_right = hn::Mul(right_factor, hn::Load(d, right + c));
    hn::Store(hn::Add(scaled_left, scaled_right), d, to + c);
  }
}

/// The sum of a row in its first lane, so that a key of a small part passes no more additions than
/// that part has.
template <class Real>
HWY_INLINE void add_lanes(Real* row_sum) {
  const Tag<Real> d;
  const Real sum = hn::GetLane(hn::SumOfLanes(d, hn::Load(d, row_sum)));
  hn::Store(hn::Zero(d), d, row_sum);
  row_sum[0] = sum;
}

/// left = merge(left, right) for all rows: attest/summary.hpp. Both are relative to the larger
/// maximum, and one of the factors is 1.
template <class Real>
void merge_into(const Summaries<Real>& left, const Summaries<Real>& right) {
  for (Index i = 0; i < left.rows; ++i) {
    const Real to = left.row_max[i] < right.row_max[i] ? right.row_max[i] : left.row_max[i];
    const Vec<Real> of_left = rescale_factor(left.row_max[i], to);
    const Vec<Real> of_right = rescale_factor(right.row_max[i], to);
    add_lanes(left.row_sum + i * kLanes<Real>);
    add_lanes(right.row_sum + i * kLanes<Real>);
    combine(of_left, left.row_sum + i * kLanes<Real>, of_right, right.row_sum + i * kLanes<Real>,
            kLanes<Real>, left.row_sum + i * kLanes<Real>);
    combine(of_left, left.numerators + i * left.pitch, of_right, right.numerators + i * right.pitch,
            left.pitch, left.numerators + i * left.pitch);
    left.row_max[i] = to + Real(0);  // +0 for -0
  }
}

/// output(c) = numerator(c) / row_sum. A row that saw nothing gives 0, and no output is -0: what
/// excluded keys added, 0 of either sign, leaves no trace.
template <class Real>
void divide_row(const Real* numerator, Real row_sum, Index pitch, Real* output) {
  const Tag<Real> d;
  const Vec<Real> divisor = hn::Set(d, row_sum);
  for (Index c = 0; c < pitch; c += kLanes<Real>) {
    const Vec<Real> quotient = hn::Div(hn::Load(d, numerator + c), divisor);
    hn::StoreU(row_sum == 0 ? hn::Zero(d) : hn::Add(quotient, hn::Zero(d)), d, output + c);
  }
}

template <class Real>
class RowWriter {
 public:
  RowWriter(const Problem& problem, const ForwardViews& views)
      : problem_(problem),
        places_(problem),
        out_(views.out),
        results_(problem, views),
        sinks_(sink_logits<Real>(problem, views.sink)),
        output_(static_cast<std::size_t>(pitch_of<Real>(problem.head_dim_v))) {}

  /// Begins to fetch the place of a row.
  void prefetch(const RowIndex& row) const {
    const auto* const first =
        static_cast<const std::byte*>(out_.data) + row_offset(out_, places_.query(row));
    const Index bytes =
        problem_.head_dim_v * out_.strides[3] * static_cast<Index>(size_of(out_.dtype));
    for (Index byte = 0; byte < bytes; byte += 64) __builtin_prefetch(first + byte, 1);
  }
  /// Row `i` of the summaries is that of `row`; its numerators may be overwritten.
  void write(const RowIndex& row, const Summaries<Real>& part, Index i) {
    const Tag<Real> d;
    RowSummary<Real> keys;
    keys.row_max = part.row_max[i];
    keys.row_sum = hn::GetLane(hn::SumOfLanes(d, hn::Load(d, part.row_sum + i * kLanes<Real>)));
    Real* const numerator = part.numerators + i * part.pitch;
    RowSummary<Real> whole = keys;
    if (!sinks_.empty()) whole = with_sink(row, keys, numerator, part.pitch);
    divide_row(numerator, whole.row_sum, part.pitch, output_.data());
    write_output(row);
    if (problem_.lse == LseForm::none) return;
    const RowSummary<Real>& counted = !sinks_.empty() && problem_.sink->in_lse ? whole : keys;
    results_.write_lse(row, counted, attest::lse(counted));
  }

 private:
  /// The sink is merged last: one key of weight 1 without a value.
  RowSummary<Real> with_sink(const RowIndex& row, const RowSummary<Real>& keys, Real* numerator,
                             Index pitch) const {
    const Tag<Real> d;
    const Real logit = sinks_[static_cast<std::size_t>(row.head)];
    RowSummary<Real> whole;
    whole.row_max = keys.row_max < logit ? logit : keys.row_max;
    const Vec<Real> factor = rescale_factor(keys.row_max, whole.row_max);
    const Real of_sink = hn::GetLane(rescale_factor(logit, whole.row_max));
    whole.row_sum = hn::GetLane(factor) * keys.row_sum + of_sink;
    for (Index c = 0; c < pitch; c += kLanes<Real>)
      hn::Store(hn::Mul(factor, hn::Load(d, numerator + c)), d, numerator + c);
    return whole;
  }

  void write_output(const RowIndex& row) const {
    const RowPlace at = places_.query(row);
    const auto columns = static_cast<std::size_t>(problem_.head_dim_v);
    if constexpr (std::is_same_v<Real, float>)
      if (converts(out_.dtype) && out_.strides[3] == 1) {
        auto* const first = static_cast<std::byte*>(out_.data) + row_offset(out_, at);
        return convert_to(out_.dtype, output_.data(), problem_.head_dim_v,
                          reinterpret_cast<std::uint16_t*>(first));
      }
    write_row(out_, at, std::span<const Real>(output_.data(), columns));
  }

  const Problem& problem_;
  StoredPlaces places_;
  TensorRef out_;
  ResultRows<Real> results_;
  std::vector<Real> sinks_;
  std::vector<Real> output_;
};

}  // namespace attest::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
