// The rows of a block whose sums lie on a grid, and what becomes of them.

// One body for each target of Highway.
#if defined(ATTEST_KERNELS_SIMD_ORDER_FREE_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_KERNELS_SIMD_ORDER_FREE_ROWS_INL_H_
#undef ATTEST_KERNELS_SIMD_ORDER_FREE_ROWS_INL_H_
#else
#define ATTEST_KERNELS_SIMD_ORDER_FREE_ROWS_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/simd_grid-inl.h"
#include "kernels/simd_results-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attest::kernels::HWY_NAMESPACE {

struct GridSums {
  Index rows = 0;
  Index pitch = 0;
  float* row_max = nullptr;
  Index* counts = nullptr;       ///< keys that take part
  float* largest = nullptr;      ///< rows x pitch: largest value of these keys, in size
  double* row_sum = nullptr;     ///< rows x lanes, on the grid of weights
  double* numerators = nullptr;  ///< rows x pitch, each column on a grid of its own

  int bits(Index i) const { return count_bits(std::max<Index>(1, counts[i])); }
  /// A weight is at most 1.
  Vec<double> start_of_sum(Index i) const {
    return grid_start(hn::Set(Tag<double>(), 1.0), bits(i));
  }
  Vec<double> start_of(Index i, Index column) const {
    const hn::Rebind<float, Tag<double>> halves;
    const auto sizes = hn::LoadU(halves, largest + i * pitch + column);
    return grid_start(hn::PromoteTo(Tag<double>(), sizes), bits(i));
  }
  /// Precondition: counts and `largest` are final.
  void begin_sums() const {
    const Tag<double> d;
    for (Index i = 0; i < rows; ++i) {
      hn::Store(start_of_sum(i), d, row_sum + i * kLanes<double>);
      for (Index c = 0; c < pitch; c += kLanes<double>)
        hn::Store(start_of(i, c), d, numerators + i * pitch + c);
    }
  }
};

class GridScratch {
 public:
  /// Rows that have seen nothing.
  GridSums rows(Index rows, Index pitch) {
    counts_.assign(static_cast<std::size_t>(rows), 0);
    const GridSums made{rows,
                        pitch,
                        row_max_.at_least(rows),
                        counts_.data(),
                        largest_.at_least(rows * pitch),
                        row_sum_.at_least(rows * kLanes<double>),
                        numerators_.at_least(rows * pitch)};
    std::fill_n(made.row_max, rows, kMinusInfinity<float>);
    std::fill_n(made.largest, rows * pitch, 0.0F);
    return made;
  }

 private:
  AlignedBuffer<float> row_max_;
  std::vector<Index> counts_;
  AlignedBuffer<float> largest_;
  AlignedBuffer<double> row_sum_;
  AlignedBuffer<double> numerators_;
};

/// Divides in double, and rounds that quotient.
class GridWriter {
 public:
  GridWriter(const Problem& problem, const ForwardViews& views)
      : problem_(problem),
        results_(problem, views),
        sinks_(sink_logits<float>(problem, views.sink)),
        quotients_(static_cast<std::size_t>(pitch_of<float>(problem.head_dim_v))),
        output_(quotients_.size()) {}

  void write(const RowIndex& row, const GridSums& sums, Index i) {
    const Tag<double> d;
    const Vec<double> lanes = hn::Load(d, sums.row_sum + i * kLanes<double>);
    // Exact: all of these are multiples of the step of the grid.
    Part keys{sums.row_max[i],
              hn::GetLane(hn::SumOfLanes(d, hn::Sub(lanes, sums.start_of_sum(i))))};
    if (std::isnan(keys.row_sum)) keys.row_max = std::numeric_limits<float>::quiet_NaN();
    Part whole = keys;
    double factor = 1;
    if (!sinks_.empty()) factor = add_sink(sinks_[static_cast<std::size_t>(row.head)], whole);
    divide(sums, i, factor, whole.row_sum);
    results_.write_output(
        row, std::span<const float>(output_.data(), static_cast<std::size_t>(problem_.head_dim_v)));
    if (problem_.lse == LseForm::none) return;
    RowSummary<float> counted;
    const Part& in_lse = !sinks_.empty() && problem_.sink->in_lse ? whole : keys;
    counted.row_max = in_lse.row_max;
    counted.row_sum = static_cast<float>(in_lse.row_sum);
    results_.write_lse(row, counted, attest::lse(counted));
  }

 private:
  struct Part {
    float row_max;
    double row_sum;
  };

  /// The sink is merged last: one key of weight 1 without a value. The factor on the keys.
  static double add_sink(float logit, Part& part) {
    const float to = part.row_max < logit ? logit : part.row_max;
    const double factor = hn::GetLane(rescale_factor(part.row_max, to));
    const double of_sink = hn::GetLane(rescale_factor(logit, to));
    part = {to, factor * part.row_sum + of_sink};
    return factor;
  }

  /// A row that saw nothing gives 0, no output is -0, and there is one NaN.
  void divide(const GridSums& sums, Index i, double factor, double row_sum) {
    const Tag<double> d;
    if (row_sum == 0) return std::fill(output_.begin(), output_.end(), 0.0F);
    for (Index c = 0; c < sums.pitch; c += kLanes<double>) {
      const Vec<double> sum = hn::Load(d, sums.numerators + i * sums.pitch + c);
      const Vec<double> numerator = hn::Mul(hn::Sub(sum, sums.start_of(i, c)), hn::Set(d, factor));
      hn::StoreU(hn::Div(numerator, hn::Set(d, row_sum)), d, quotients_.data() + c);
    }
    // DemoteTo of Highway makes the largest number of an infinity, where it is portable code.
    for (std::size_t c = 0; c < output_.size(); ++c) {
      const float output = static_cast<float>(quotients_[c]) + 0.0F;
      output_[c] = std::isnan(output) ? std::numeric_limits<float>::quiet_NaN() : output;
    }
  }

  const Problem& problem_;
  ResultRows<float> results_;
  std::vector<float> sinks_;
  std::vector<double> quotients_;
  std::vector<float> output_;
};

}  // namespace attest::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
