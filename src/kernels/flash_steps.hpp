// The tiled pass in the forms that kernels on accelerators use: narrow weights, exp2 with the scale
// folded in, a running maximum that lags, and so on. What differs is in FlashForm, and both the
// arithmetic and the declared accuracy are made from it.
//
// Sources: FlashAttention-2 (Dao 2023) and 3 (Shah et al. 2024); the forms that the public kernels
// of FlashAttention-4 add are described in ../shared/design/numerics.md, section 1.7.
#pragma once

#include <cmath>
#include <numbers>
#include <optional>

#include "attest/narrow_float.hpp"
#include "kernels/tiled_steps.hpp"

namespace attest::kernels {

struct FlashForm {
  ExpForm exp_form = ExpForm::natural;
  double lag_log2 = 0;  ///< the maximum is raised only where it would rise by more than this
  std::optional<WeightCast> weight_cast = std::nullopt;
  Overflow cast_overflow = Overflow::infinity;  ///< of the weight cast
  bool by_reciprocal = false;                   ///< numerator * fl(1 / row_sum)
  std::optional<Format> output_format = std::nullopt;
  Underflow underflow = Underflow::gradual;
  PartForm part_form = {};  ///< of the (output, lse) parts that it hands out
};

/// exp, exp2, log and log2 of glibc 2.28 or later on x86-64: at most 1 ulp each (glibc manual,
/// "Known Maximum Errors in Math Functions"; sources e_exp2f.c 0.502, e_log2f.c 0.752,
/// e_exp2.c 0.511, e_log2.c 0.548 ulp).
inline DeclaredAccuracy flash_accuracy(const Problem& problem, const FlashForm& form) {
  DeclaredAccuracy accuracy = scalar_accuracy(problem, SummaryScope::split);
  accuracy.exp_form = form.exp_form;
  // The scale is a part of the factor on the exponent, not of the score.
  if (form.exp_form == ExpForm::folded_base_two) accuracy.dot_roundings = problem.head_dim;
  accuracy.lag_log2 = form.lag_log2;
  accuracy.weight_cast = form.weight_cast;
  accuracy.division_roundings = form.by_reciprocal ? 2 : 1;  // 1 / row_sum, then the product
  accuracy.output_format = form.output_format;
  accuracy.underflow = form.underflow;
  // Where exp may be flushed, it is off by a whole smallest normal number.
  if (form.underflow != Underflow::gradual)
    accuracy.exp_absolute_error = accuracy.format.min_normal;
  return accuracy;
}

/// With ExpForm::folded_base_two a score, and with it row_max, is the dot product without the scale
/// (but with its sign), and weights are powers of two:
///   c = fl(fl(|scale|) * fl(log2 e)),  weight = exp2(fma(score, c, -fl(row_max c))),
///   rescale = exp2(fl(fl(from - to) c)),
///   lse = fl( fl( fl(row_max c) + fl(log2 row_sum) ) fl(ln 2) ):
/// beside log2 and the constant ln 2, three roundings, of which the first is the very number that
/// the weights are relative to.
template <class Real>
class FlashSteps : public TiledSteps<Real> {
 public:
  using Summary = RowSummary<Real>;

  FlashSteps(const FlashForm& form, Real scale)
      : form_(form),
        factor_(std::abs(scale) * std::numbers::log2e_v<Real>),
        sign_(std::copysign(Real(1), scale)) {}

  Real score(std::span<const Real> q, std::span<const Real> k, Real scale) const override {
    return scaled_dot(q, k, is_folded() ? sign_ : scale);
  }
  PartForm part_form() const override { return form_.part_form; }
  Real next_row_max(Real row_max, Real tile_max) const override {
    const Real to_log2 = is_folded() ? factor_ : std::numbers::log2e_v<Real>;
    // A little below the lag that is declared, for the roundings of this comparison.
    const auto lag = static_cast<Real>(form_.lag_log2 * (1 - 0x1p-20));
    if ((tile_max - row_max) * to_log2 <= lag) return row_max;
    return TiledSteps<Real>::next_row_max(row_max, tile_max);
  }
  Real weight(Real score, Real row_max) const override {
    if (!is_folded()) return TiledSteps<Real>::weight(score, row_max);
    return std::exp2(std::fma(score, factor_, -(row_max * factor_)));
  }
  Real rescale(Real from, Real to) const override {
    if (!is_folded() || from == Summary::minus_infinity) return attest::rescale(from, to);
    return std::exp2((from - to) * factor_);
  }
  /// The weight as it multiplies v; multiplying by a power of two is exact.
  virtual Real cast(Real weight, const WeightCast& to) const {
    const Real offset = std::ldexp(Real(1), to.offset_log2);
    return round_to(to.format, weight * offset, form_.cast_overflow) / offset;
  }
  void add_weighted(Summary& summary, Real weight, std::span<const Real> value) const override {
    if (!form_.weight_cast) return attest::add_weighted(summary, weight, value);
    const Real narrow = cast(weight, *form_.weight_cast);
    summary.row_sum += form_.weight_cast->sum_of_rounded ? narrow : weight;
    for (std::size_t c = 0; c < value.size(); ++c) summary.numerator[c] += narrow * value[c];
  }
  void raise_row_max(Summary& summary, Real row_max) const override {
    attest::raise_row_max(summary, row_max, factor_of());
  }
  Summary merge(const Summary& left, const Summary& right) const override {
    return attest::merge(left, right, factor_of());
  }
  Real lse(const Summary& summary) const override {
    if (!is_folded() || summary.is_identity()) return attest::lse(summary);
    return (summary.row_max * factor_ + std::log2(summary.row_sum)) * std::numbers::ln2_v<Real>;
  }
  virtual Real reciprocal(Real row_sum) const { return 1 / row_sum; }
  virtual Real round_output(Real element, const Format& to) const { return round_to(to, element); }
  void finalize(const Summary& summary, const RowContext&, const TensorView<const Real>&,
                std::span<Real> output) const override {
    write_output(summary, output);
  }
  NormalisedRow<Real> normalise(const Summary& summary) const override {
    NormalisedRow<Real> row{lse(summary), std::vector<Real>(summary.numerator.size())};
    write_output(summary, row.output);
    return row;
  }

 protected:
  const FlashForm& form() const { return form_; }
  Real factor() const { return factor_; }
  bool is_folded() const { return form_.exp_form == ExpForm::folded_base_two; }

 private:
  auto factor_of() const {
    return [this](Real from, Real to) { return this->rescale(from, to); };
  }
  void write_output(const Summary& summary, std::span<Real> output) const {
    attest::finalize(summary, output);
    if (form_.by_reciprocal && !summary.is_identity()) {
      const Real factor = reciprocal(summary.row_sum);
      for (std::size_t c = 0; c < output.size(); ++c) output[c] = summary.numerator[c] * factor;
    }
    if (!form_.output_format) return;
    for (Real& element : output) element = round_output(element, *form_.output_format);
  }

  FlashForm form_;
  Real factor_;  ///< c
  Real sign_;    ///< of the scale
};

/// Results below the normal range become 0 (of their sign); a stand-in for FTZ hardware.
template <class Real>
class FlushSteps : public FlashSteps<Real> {
 public:
  using Summary = RowSummary<Real>;
  using FlashSteps<Real>::FlashSteps;

  Real score(std::span<const Real> q, std::span<const Real> k, Real scale) const override {
    Real sum = 0;
    for (std::size_t c = 0; c < q.size(); ++c) sum = flushed(sum + flushed(q[c] * k[c]));
    return flushed(sum * scale);
  }
  Real weight(Real score, Real row_max) const override {
    return flushed(std::exp(flushed(score - row_max)));
  }
  Real rescale(Real from, Real to) const override { return flushed(attest::rescale(from, to)); }
  void add_weighted(Summary& summary, Real weight, std::span<const Real> value) const override {
    summary.row_sum += weight;
    for (std::size_t c = 0; c < value.size(); ++c)
      summary.numerator[c] = flushed(summary.numerator[c] + flushed(weight * value[c]));
  }
  void raise_row_max(Summary& summary, Real row_max) const override {
    FlashSteps<Real>::raise_row_max(summary, row_max);
    flush(summary);
  }
  Summary merge(const Summary& left, const Summary& right) const override {
    Summary merged = FlashSteps<Real>::merge(left, right);
    if (!left.is_identity() && !right.is_identity()) flush(merged);
    return merged;
  }
  void finalize(const Summary& summary, const RowContext& row, const TensorView<const Real>& v,
                std::span<Real> output) const override {
    FlashSteps<Real>::finalize(summary, row, v, output);
    for (Real& element : output) element = flushed(element);
  }

 private:
  static Real flushed(Real result) {
    return std::abs(result) < std::numeric_limits<Real>::min() ? std::copysign(Real(0), result)
                                                               : result;
  }
  static void flush(Summary& summary) {
    summary.row_sum = flushed(summary.row_sum);
    for (Real& element : summary.numerator) element = flushed(element);
  }
};

/// A tiled kernel that declares one form and computes in it, or, to be wrong, in another.
template <template <class> class Steps = FlashSteps>
class FlashKernel : public Kernel {
 public:
  FlashKernel(KernelDescription description, const FlashForm& declared, const FlashForm& done)
      : description_(std::move(description)),
        declared_(declared),
        done_(done),
        steps_f32_(done, 1),
        steps_f64_(done, 1) {}
  FlashKernel(KernelDescription description, const FlashForm& form)
      : FlashKernel(std::move(description), form, form) {}

  const KernelDescription& description() const override { return description_; }
  DeclaredAccuracy accuracy(const Problem& problem) const override {
    return flash_accuracy(problem, declared_);
  }
  Status forward(const Problem& problem, const Tiling& tiling,
                 const ForwardViews& views) const override {
    if (Status status = check_call(description_.capabilities, problem, tiling, views); !status.ok())
      return status;
    return with_real_type(problem.dtype, [&](auto real) {
      using Real = decltype(real);
      const Steps<Real> steps(done_, static_cast<Real>(scale_value(problem)));
      return TiledForward<Real>(steps, SummaryScope::split, problem, tiling, views).run();
    });
  }
  const SummaryOps<float>* summary_ops_f32() const override {
    return shows_summaries() ? &steps_f32_ : nullptr;
  }
  const SummaryOps<double>* summary_ops_f64() const override {
    return shows_summaries() ? &steps_f64_ : nullptr;
  }

 private:
  /// A folded row_max is in other units, and one that lags is no maximum: neither is a summary in
  /// the sense of attest/summary.hpp.
  bool shows_summaries() const { return done_.exp_form == ExpForm::natural && done_.lag_log2 == 0; }

  KernelDescription description_;
  FlashForm declared_;
  FlashForm done_;
  Steps<float> steps_f32_;
  Steps<double> steps_f64_;
};

}  // namespace attest::kernels
