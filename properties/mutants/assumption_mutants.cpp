// Arithmetic that the bounds do not expect: other roundings, flushed numbers, fast-math.
#include <limits>
#include <utility>

#include "attest/tensor.hpp"
#include "kernels/kernels.hpp"
#include "mutants/own_arithmetic.hpp"

namespace attest::mutants {
namespace {

template <class Real>
struct ExpOfZeroBelowOne : OwnArithmetic<Real> {
  Real exp_of(Real argument) const override {
    return argument == 0 ? 1 - kUnit<Real> : std::exp(argument);
  }
};

/// What the rounding of left + right left out, exactly (Moller, Knuth).
template <class Real>
Real left_out(Real left, Real right, Real sum) {
  const Real second = sum - left;
  return (left - (sum - second)) + (right - second);
}

template <class Real>
struct SumsTruncated : OwnArithmetic<Real> {
  Real add(Real left, Real right) const override {
    const Real sum = left + right;
    const Real rest = left_out(left, right, sum);
    const bool away = (sum > 0 && rest < 0) || (sum < 0 && rest > 0);
    return away ? std::nextafter(sum, Real(0)) : sum;
  }
};

template <class Real>
struct SumsRoundTiesAway : OwnArithmetic<Real> {
  Real add(Real left, Real right) const override {
    const Real sum = left + right;
    const Real rest = left_out(left, right, sum);
    const Real next =
        std::nextafter(sum, std::copysign(std::numeric_limits<Real>::infinity(), sum));
    return rest != 0 && rest == (next - sum) / 2 ? next : sum;
  }
};

template <class Real>
struct SumsRoundUp : OwnArithmetic<Real> {
  Real add(Real left, Real right) const override {
    const Real sum = left + right;
    return left_out(left, right, sum) > 0
               ? std::nextafter(sum, std::numeric_limits<Real>::infinity())
               : sum;
  }
};

template <class Real>
Real flushed(Real x) {
  return std::abs(x) < std::numeric_limits<Real>::min() ? Real(0) : x;
}

template <class Real>
struct SubnormalSumsAreZero : OwnArithmetic<Real> {
  Real add(Real left, Real right) const override { return flushed(left + right); }
};

template <class Real>
struct SubnormalValuesAreZero : OwnArithmetic<Real> {
  Real product(Real weight, Real value) const override { return weight * flushed(value); }
};

template <class Real>
struct SubnormalOutputsAreZero : OwnArithmetic<Real> {
  void finalize(const RowSummary<Real>& summary, const kernels::RowContext&,
                const TensorView<const Real>&, std::span<Real> output) const override {
    attest::finalize(summary, output);
    for (Real& element : output) element = flushed(element);
  }
};

template <class Real>
struct NanScoresAreDropped : OwnArithmetic<Real> {
  bool takes(Real score) const override { return !std::isnan(score); }
};

template <class Real>
struct NanValuesAreZero : OwnArithmetic<Real> {
  Real product(Real weight, Real value) const override {
    return std::isnan(value) ? Real(0) : weight * value;
  }
};

template <class Real>
struct InfiniteValuesAreFinite : OwnArithmetic<Real> {
  Real product(Real weight, Real value) const override {
    constexpr Real kMost = std::numeric_limits<Real>::max();
    return std::isnan(value) ? value : weight * std::clamp(value, -kMost, kMost);
  }
};

/// A maximum that is stored as an integer of 64 bits, or in fewer bits of exponent.
template <class Real>
struct MaximumSaturates : OwnArithmetic<Real> {
  Real next_row_max(Real row_max, Real tile_max) const override {
    const Real next = OwnArithmetic<Real>::next_row_max(row_max, tile_max);
    return std::isnan(next) ? next : std::clamp(next, Real(-0x1p63), Real(0x1p63));
  }
};

template <class Real>
struct MaximumStartsAtZero : OwnArithmetic<Real> {
  Real next_row_max(Real row_max, Real tile_max) const override {
    const Real next = OwnArithmetic<Real>::next_row_max(row_max, tile_max);
    return next < 0 ? Real(0) : next;
  }
};

/// What `if (score < -max) score = -max` makes of an excluded key.
class MinusInfinityIsFinite : public Kernel {
 public:
  const KernelDescription& description() const override { return description_; }
  DeclaredAccuracy accuracy(const Problem& problem) const override {
    return kernel_->accuracy(problem);
  }
  Status forward(const Problem& problem, const Tiling& tiling,
                 const ForwardViews& views) const override {
    if (Status status = check_call(description_.capabilities, problem, tiling, views); !status.ok())
      return status;
    Tensor k(problem.dtype, problem.k_extents());
    with_real_type(problem.dtype, [&](auto real) {
      using Real = decltype(real);
      const auto from = views.k.as<const Real>();
      const auto to = k.ref().as<Real>();
      for_each_index(problem.k_extents(), [&](Index b, Index h, Index key, Index c) {
        to(b, h, key, c) = std::max(from(b, h, key, c), std::numeric_limits<Real>::lowest());
      });
    });
    ForwardViews changed = views;
    changed.k = std::as_const(k).ref();
    return kernel_->forward(problem, tiling, changed);
  }

 private:
  KernelDescription description_ =
      describe("minus_infinity_is_finite", "k of -inf is read as the lowest finite number");
  std::unique_ptr<Kernel> kernel_ = kernels::make_scalar_sequential();
};

}  // namespace

void append_assumption_mutants(std::vector<Mutant>& mutants) {
  mutants.push_back(tiled_mutant<ExpOfZeroBelowOne>(
      "exp_of_zero_below_one", "exp(0) is the number below 1", "assume.exp_of_zero"));
  mutants.push_back({std::make_unique<MinusInfinityIsFinite>(), "assume.exp_of_minus_infinity"});
  mutants.push_back(tiled_mutant<SumsTruncated>("sums_truncated", "sums are rounded towards 0",
                                                "assume.nearest_even"));
  mutants.push_back(tiled_mutant<SumsRoundTiesAway>(
      "sums_round_ties_away", "a sum halfway between two numbers is rounded away from 0",
      "assume.nearest_even"));
  mutants.push_back(tiled_mutant<SumsRoundUp>("sums_round_up", "sums are rounded upwards",
                                              "assume.nearest_even"));
  mutants.push_back(tiled_mutant<SubnormalSumsAreZero>("subnormal_sums_are_zero",
                                                       "sums below the normal range become 0",
                                                       "assume.gradual_underflow"));
  mutants.push_back(tiled_mutant<SubnormalValuesAreZero>("subnormal_values_are_zero",
                                                         "values below the normal range count as 0",
                                                         "assume.gradual_underflow"));
  mutants.push_back(tiled_mutant<SubnormalOutputsAreZero>("subnormal_outputs_are_zero",
                                                          "outputs below the normal range become 0",
                                                          "assume.gradual_underflow"));
  mutants.push_back(tiled_mutant<NanScoresAreDropped>(
      "nan_scores_are_dropped", "a key whose score is NaN is left out", "assume.special_values"));
  mutants.push_back(tiled_mutant<NanValuesAreZero>(
      "nan_values_are_zero", "a value that is NaN counts as 0", "assume.special_values"));
  mutants.push_back(tiled_mutant<InfiniteValuesAreFinite>(
      "infinite_values_are_finite", "an infinite value counts as the largest finite number",
      "assume.special_values"));
  mutants.push_back(tiled_mutant<MaximumStartsAtZero>("maximum_starts_at_zero",
                                                      "a running maximum below 0 is replaced by 0",
                                                      "assume.large_scores"));
  mutants.push_back(tiled_mutant<MaximumSaturates>(
      "maximum_saturates", "the running maximum is kept within 2^63", "assume.large_scores"));
}

}  // namespace attest::mutants
