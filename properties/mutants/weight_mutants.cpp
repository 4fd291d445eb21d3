// Mistakes in the forms that accelerators use: narrow weights, exp2, lag, reciprocals, flushing.
#include <cmath>
#include <limits>
#include <numbers>

#include "kernels/flash_steps.hpp"
#include "mutants/tiled_mutant.hpp"

namespace attest::mutants {
namespace {

using kernels::FlashForm;

template <class Real>
using Steps = kernels::FlashSteps<Real>;

/// Computes in one form and declares another.
template <template <class> class MutantSteps = kernels::FlashSteps>
Mutant flash_mutant(std::string_view name, std::string_view mistake, std::string_view killed_by,
                    const FlashForm& declared, const FlashForm& done) {
  return {
      std::make_unique<kernels::FlashKernel<MutantSteps>>(describe(name, mistake), declared, done),
      killed_by};
}
template <template <class> class MutantSteps = kernels::FlashSteps>
Mutant flash_mutant(std::string_view name, std::string_view mistake, std::string_view killed_by,
                    const FlashForm& form) {
  return flash_mutant<MutantSteps>(name, mistake, killed_by, form, form);
}

FlashForm with_cast(const Format& format, int offset_log2, bool sum_of_rounded) {
  FlashForm form;
  form.weight_cast = WeightCast{format, offset_log2, sum_of_rounded};
  form.cast_overflow = format == kE4m3 ? Overflow::saturate : Overflow::infinity;
  return form;
}

FlashForm folded() {
  FlashForm form;
  form.exp_form = ExpForm::folded_base_two;
  return form;
}

/// The number of `format` next to `value` on the side of zero.
template <class Real>
Real truncated(const Format& format, Real value) {
  const Real nearest = round_to(format, value);
  if (!(std::abs(nearest) > std::abs(value))) return nearest;
  // One spacing below a number that is not a power of two; half a spacing is enough to get there.
  const Real below =
      nearest - std::copysign(static_cast<Real>(format.unit_roundoff), nearest) * std::abs(nearest);
  return round_to(format, below);
}

template <class Real>
struct TruncatesWeights : Steps<Real> {
  using Steps<Real>::Steps;
  Real cast(Real weight, const WeightCast& to) const override {
    return truncated(to.format, weight);
  }
};

template <class Real>
struct TruncatesOutputs : Steps<Real> {
  using Steps<Real>::Steps;
  Real round_output(Real element, const Format& to) const override {
    return truncated(to, element);
  }
};

template <class Real>
struct NumeratorInBf16 : Steps<Real> {
  using Steps<Real>::Steps;
  using Summary = RowSummary<Real>;
  void add_weighted(Summary& summary, Real weight, std::span<const Real> value) const override {
    Steps<Real>::add_weighted(summary, weight, value);
    for (Real& element : summary.numerator) element = round_to(kBf16, element);
  }
};

template <class Real>
struct RowSumInBf16 : Steps<Real> {
  using Steps<Real>::Steps;
  using Summary = RowSummary<Real>;
  void add_weighted(Summary& summary, Real weight, std::span<const Real> value) const override {
    Steps<Real>::add_weighted(summary, weight, value);
    summary.row_sum = round_to(kBf16, summary.row_sum);
  }
};

template <class Real>
struct RescalesInBf16 : Steps<Real> {
  using Steps<Real>::Steps;
  Real rescale(Real from, Real to) const override {
    return round_to(kBf16, Steps<Real>::rescale(from, to));
  }
};

template <class Real>
struct ScoresInBf16 : Steps<Real> {
  using Steps<Real>::Steps;
  Real score(std::span<const Real> q, std::span<const Real> k, Real scale) const override {
    Real sum = 0;
    for (std::size_t c = 0; c < q.size(); ++c) sum = round_to(kBf16, sum + q[c] * k[c]);
    return sum * scale;
  }
};

/// 2^x = 2^floor(x) * (1 + f (0.6565 + 0.3435 f)), off by up to 2e-3.
template <class Real>
struct Exp2OfDegreeTwo : Steps<Real> {
  using Steps<Real>::Steps;
  static Real exp2(Real x) {
    if (!std::isfinite(x)) return std::exp2(x);
    const Real whole = std::floor(x);
    const Real f = x - whole;
    return std::ldexp(1 + f * (Real(0.6565) + f * Real(0.3435)),
                      static_cast<int>(std::max(whole, Real(-10000))));
  }
  Real weight(Real score, Real row_max) const override {
    return exp2(std::fma(score, this->factor(), -(row_max * this->factor())));
  }
  Real rescale(Real from, Real to) const override {
    if (from == RowSummary<Real>::minus_infinity) return 0;
    return exp2((from - to) * this->factor());
  }
};

template <class Real>
struct Exp2WithoutLog2e : Steps<Real> {
  using Steps<Real>::Steps;
  Real weight(Real score, Real row_max) const override {
    return std::exp2((score - row_max) * this->factor() * std::numbers::ln2_v<Real>);
  }
  Real rescale(Real from, Real to) const override {
    return from == RowSummary<Real>::minus_infinity ? Real(0) : weight(from, to);
  }
};

template <class Real>
struct NaturalExpOfFoldedScale : Steps<Real> {
  using Steps<Real>::Steps;
  Real weight(Real score, Real row_max) const override {
    return std::exp((score - row_max) * this->factor());
  }
  Real rescale(Real from, Real to) const override {
    return from == RowSummary<Real>::minus_infinity ? Real(0) : weight(from, to);
  }
};

template <class Real>
struct FoldedLseInBaseTwo : Steps<Real> {
  using Steps<Real>::Steps;
  Real lse(const RowSummary<Real>& summary) const override {
    return Steps<Real>::lse(summary) * std::numbers::log2e_v<Real>;
  }
};

template <class Real>
struct ReciprocalOfTwelveBits : Steps<Real> {
  using Steps<Real>::Steps;
  Real reciprocal(Real row_sum) const override {
    int exponent = 0;
    const Real mantissa = std::frexp(1 / row_sum, &exponent);
    return std::ldexp(std::floor(mantissa * 4096) / 4096, exponent);
  }
};

/// The right side of a merge still carries the offset of its weights.
template <class Real>
struct MergesSumWithItsOffset : Steps<Real> {
  using Steps<Real>::Steps;
  using Summary = RowSummary<Real>;
  Summary merge(const Summary& left, const Summary& right) const override {
    if (left.is_identity() || right.is_identity()) return Steps<Real>::merge(left, right);
    Summary carrying = right;
    carrying.row_sum *= 256;
    return Steps<Real>::merge(left, carrying);
  }
};

/// The lag saves the rescale, but new weights are relative to the new maximum all the same.
template <class Real>
struct RaisesMaximumWithoutRescale : Steps<Real> {
  using Steps<Real>::Steps;
  Real next_row_max(Real row_max, Real tile_max) const override {
    return row_max < tile_max ? tile_max : row_max;
  }
  void raise_row_max(RowSummary<Real>& summary, Real row_max) const override {
    const bool lags = Steps<Real>::next_row_max(summary.row_max, row_max) == summary.row_max;
    if (!lags) Steps<Real>::raise_row_max(summary, row_max);
    summary.row_max = row_max;
  }
};

void append_narrow_mutants(std::vector<Mutant>& mutants) {
  FlashForm lagging_e4m3 = with_cast(kE4m3, 8, false);
  lagging_e4m3.lag_log2 = 4;
  mutants.push_back(flash_mutant(
      "fp8_saturates_under_lag",
      "e4m3 weights with offset 2^8 saturate at 448 where the maximum lags; row_sum does not",
      "bound.out", lagging_e4m3));
  mutants.push_back(flash_mutant(
      "e4m3_without_offset", "weights are cast to e4m3 without the declared offset 2^8",
      "bound.out", with_cast(kE4m3, 8, false), with_cast(kE4m3, 0, false)));
  mutants.push_back(flash_mutant<MergesSumWithItsOffset>(
      "merges_sum_with_its_offset", "a merge forgets to undo the offset 2^8 of one row_sum",
      "tiling.kv_splits", with_cast(kE4m3, 8, true)));
  const FlashForm bf16 = with_cast(kBf16, 0, false);
  const FlashForm bf16_sum = with_cast(kBf16, 0, true);
  mutants.push_back(flash_mutant<TruncatesWeights>(
      "truncates_weights", "weights are cut to bf16, not rounded to nearest", "bound.out", bf16));
  mutants.push_back(flash_mutant<NumeratorInBf16>(
      "numerator_in_bf16", "the numerator is rounded to bf16 after every addition", "bound.out",
      bf16));
  mutants.push_back(flash_mutant<RowSumInBf16>(
      "row_sum_in_bf16", "row_sum is rounded to bf16 after every addition", "bound.lse", bf16));
  mutants.push_back(flash_mutant<RescalesInBf16>(
      "rescales_in_bf16", "rescale factors are rounded to bf16, as the weights are", "bound.lse",
      bf16));
  mutants.push_back(flash_mutant("sums_rounded_weights",
                                 "row_sum adds the rounded weights, but the unrounded are declared",
                                 "bound.lse", bf16, bf16_sum));
  mutants.push_back(flash_mutant("sums_unrounded_weights",
                                 "row_sum adds the unrounded weights, but the rounded are declared",
                                 "symmetry.constant_values", bf16_sum, bf16));
}

}  // namespace

void append_weight_mutants(std::vector<Mutant>& mutants) {
  append_narrow_mutants(mutants);
  mutants.push_back(flash_mutant<ScoresInBf16>("scores_in_bf16", "dot products are summed in bf16",
                                               "bound.lse", FlashForm{}));
  mutants.push_back(flash_mutant<Exp2OfDegreeTwo>(
      "exp2_of_degree_two", "exp2 is a polynomial of degree 2, declared as exact to an ulp",
      "bound.lse", folded()));
  mutants.push_back(flash_mutant<Exp2WithoutLog2e>(
      "exp2_without_log2e", "weights are 2^(score - maximum)", "bound.out", folded()));
  mutants.push_back(flash_mutant<NaturalExpOfFoldedScale>(
      "natural_exp_of_folded_scale", "weights are exp of what was scaled for exp2", "bound.out",
      folded()));
  mutants.push_back(flash_mutant<FoldedLseInBaseTwo>("folded_lse_in_base_two",
                                                     "the lse of an exp2 kernel is left in base 2",
                                                     "bound.lse", folded()));
  FlashForm reciprocal;
  reciprocal.by_reciprocal = true;
  mutants.push_back(flash_mutant<ReciprocalOfTwelveBits>(
      "reciprocal_of_twelve_bits", "1 / row_sum has 12 bits, declared as correctly rounded",
      "symmetry.constant_values", reciprocal));
  FlashForm lagging;
  lagging.lag_log2 = 8;
  mutants.push_back(flash_mutant<RaisesMaximumWithoutRescale>(
      "raises_maximum_without_rescale",
      "where the lag saves a rescale, new weights are relative to the new maximum", "bound.lse",
      lagging));
  FlashForm flushing;
  flushing.underflow = Underflow::flush_results;
  mutants.push_back(flash_mutant<kernels::FlushSteps>(
      "flushes_undeclared",
      "results below the normal range become 0, gradual underflow is declared", "bound.out",
      FlashForm{}, flushing));
  FlashForm bf16_out;
  bf16_out.output_format = kBf16;
  mutants.push_back(flash_mutant<TruncatesOutputs>(
      "truncates_outputs", "the output is cut to bf16, not rounded to nearest", "bound.out",
      bf16_out));
}

}  // namespace attest::mutants
