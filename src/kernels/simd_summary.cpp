#include "kernels/simd_summary.hpp"

#include <algorithm>
#include <utility>

#include "kernels/simd_dispatch.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd_summary.cpp"
#include "hwy/foreach_target.h"  // compiles this file once for each target

#include "hwy/highway.h"
#include "kernels/simd_products-inl.h"
#include "kernels/simd_results-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attest::kernels::HWY_NAMESPACE {

/// A summary in the form in which the passes hold it: the sum of a row is that of its lanes.
template <class Real>
class OneRow {
 public:
  explicit OneRow(const RowSummary<Real>& summary)
      : columns_(static_cast<Index>(summary.numerator.size())) {
    const Index pitch = pitch_of<Real>(columns_);
    Real* const memory = memory_.at_least(Summaries<Real>::elements(1, pitch));
    part_ = Summaries<Real>::in(memory, 1, pitch);
    part_.clear();
    part_.row_max[0] = summary.row_max;
    part_.row_sum[0] = summary.row_sum;
    std::copy(summary.numerator.begin(), summary.numerator.end(), part_.numerators);
  }

  const Summaries<Real>& part() const { return part_; }
  RowSummary<Real> summary() const {
    const Tag<Real> d;
    RowSummary<Real> summary;
    summary.row_max = part_.row_max[0];
    summary.row_sum = hn::GetLane(hn::SumOfLanes(d, hn::Load(d, part_.row_sum)));
    summary.numerator.assign(part_.numerators, part_.numerators + columns_);
    return summary;
  }

 private:
  Index columns_;
  AlignedBuffer<Real> memory_;
  Summaries<Real> part_;
};

template <class Real>
RowSummary<Real> merge_rows(const RowSummary<Real>& left, const RowSummary<Real>& right) {
  const OneRow<Real> merged(left);
  merge_into(merged.part(), OneRow<Real>(right).part());
  return merged.summary();
}

template <class Real>
RowSummary<Real> absorb_key(const RowSummary<Real>& before, Real score, const Real* value) {
  const OneRow<Real> row(before);
  const Summaries<Real>& part = row.part();
  HWY_ALIGN Real weights[kTileKeys<Real>];
  std::fill(weights, weights + kLanes<Real>, kMinusInfinity<Real>);
  weights[0] = score;
  HWY_ALIGN Real factors[kStripRows];
  const StripSoftmax<Real> softmax{weights, part.row_max, part.row_sum, factors, nullptr, 1, 0, 1};
  weigh_strip(softmax);
  AlignedBuffer<Real> memory;
  Real* const values = memory.at_least(part.pitch);
  std::fill_n(values, part.pitch, Real(0));
  std::copy_n(value, before.numerator.size(), values);
  using Values = PackedValues<Real>;
  add_columns<1>(ValueBlock<Real, Values>{factors, weights, Values{values, part.pitch}, 1,
                                          part.pitch, part.numerators});
  return row.summary();
}

template <class Real>
void divide_summary(const RowSummary<Real>& summary, Real* output) {
  const OneRow<Real> row(summary);
  AlignedBuffer<Real> memory;
  Real* const quotients = memory.at_least(row.part().pitch);
  divide_row(row.part().numerators, summary.row_sum, row.part().pitch, quotients);
  std::copy_n(quotients, summary.numerator.size(), output);
}

template <class Real>
Real rescale_row(Real from, Real to) {
  return hn::GetLane(rescale_factor(from, to));
}

RowSummary<float> merge_f32(const RowSummary<float>& left, const RowSummary<float>& right) {
  return merge_rows(left, right);
}
RowSummary<double> merge_f64(const RowSummary<double>& left, const RowSummary<double>& right) {
  return merge_rows(left, right);
}
RowSummary<float> absorb_f32(const RowSummary<float>& before, float score, const float* value) {
  return absorb_key(before, score, value);
}
RowSummary<double> absorb_f64(const RowSummary<double>& before, double score, const double* value) {
  return absorb_key(before, score, value);
}
void divide_f32(const RowSummary<float>& summary, float* output) {
  divide_summary(summary, output);
}
void divide_f64(const RowSummary<double>& summary, double* output) {
  divide_summary(summary, output);
}
float rescale_f32(float from, float to) {
  return rescale_row(from, to);
}
double rescale_f64(double from, double to) {
  return rescale_row(from, to);
}

}  // namespace attest::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attest::kernels {
namespace {

HWY_EXPORT(merge_f32);
HWY_EXPORT(merge_f64);
HWY_EXPORT(absorb_f32);
HWY_EXPORT(absorb_f64);
HWY_EXPORT(divide_f32);
HWY_EXPORT(divide_f64);
HWY_EXPORT(rescale_f32);
HWY_EXPORT(rescale_f64);

/// The functions of one target.
template <class Real>
struct Steps {
  RowSummary<Real> (*merge)(const RowSummary<Real>&, const RowSummary<Real>&);
  RowSummary<Real> (*absorb)(const RowSummary<Real>&, Real, const Real*);
  void (*divide)(const RowSummary<Real>&, Real*);
  Real (*rescale)(Real, Real);
};

template <class Real>
class SimdSummaryOps : public SummaryOps<Real> {
 public:
  explicit SimdSummaryOps(const Steps<Real>& steps) : steps_(steps) {}

  void absorb(RowSummary<Real>& summary, Real score, std::span<const Real> value) const override {
    if (score == RowSummary<Real>::minus_infinity) return;
    summary = steps_.absorb(summary, score, value.data());
  }
  Real rescale(Real from, Real to) const override { return steps_.rescale(from, to); }
  RowSummary<Real> merge(const RowSummary<Real>& left,
                         const RowSummary<Real>& right) const override {
    return steps_.merge(left, right);
  }
  NormalisedRow<Real> normalise(const RowSummary<Real>& summary) const override {
    NormalisedRow<Real> row{attest::lse(summary), std::vector<Real>(summary.numerator.size())};
    steps_.divide(summary, row.output.data());
    return row;
  }

 private:
  Steps<Real> steps_;
};

}  // namespace

std::unique_ptr<SummaryOps<float>> simd_summary_ops_f32(std::int64_t target) {
  return std::make_unique<SimdSummaryOps<float>>(
      Steps<float>{for_target(HWY_DISPATCH_TABLE(merge_f32), target),
                   for_target(HWY_DISPATCH_TABLE(absorb_f32), target),
                   for_target(HWY_DISPATCH_TABLE(divide_f32), target),
                   for_target(HWY_DISPATCH_TABLE(rescale_f32), target)});
}

std::unique_ptr<SummaryOps<double>> simd_summary_ops_f64(std::int64_t target) {
  return std::make_unique<SimdSummaryOps<double>>(
      Steps<double>{for_target(HWY_DISPATCH_TABLE(merge_f64), target),
                    for_target(HWY_DISPATCH_TABLE(absorb_f64), target),
                    for_target(HWY_DISPATCH_TABLE(divide_f64), target),
                    for_target(HWY_DISPATCH_TABLE(rescale_f64), target)});
}

}  // namespace attest::kernels
#endif  // HWY_ONCE
