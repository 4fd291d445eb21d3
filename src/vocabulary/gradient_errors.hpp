// The errors of one query row in the gradient bound: its score, its weight, dP - D. Symbols in
// brackets are those of docs/numerics.md, gradients.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>

#include "attest/gradient_bound.hpp"
#include "computed.hpp"
#include "late_addends.hpp"

namespace attest {

/// What a kernel of the declared accuracy computes on the way to its gradients, each with a bound
/// of its error; and the first reason why there is none.
class GradientErrors {
 public:
  /// Both arguments are kept by reference.
  GradientErrors(const DeclaredGradientAccuracy& accuracy, const GradientFacts& facts)
      : accuracy_(accuracy), facts_(facts), inputs_(facts.inputs) {
    const bool flushes = accuracy.underflow != Underflow::gradual;
    if (flushes) flush_ = accuracy.format.min_normal;
    if (accuracy.underflow == Underflow::flush_results_and_inputs)
      read_ = accuracy.format.min_normal;
    product_ = flushes ? flush_ : Wide{accuracy.format.rounding_underflow};
    exp_absolute_ = std::max(Wide{accuracy.exp_absolute_error}, flush_);
    tanh_absolute_ = std::max(Wide{accuracy.tanh_absolute_error}, flush_);
    scale_ = std::abs(Wide{inputs_.scale});
  }

 protected:
  void refuse(const std::string& reason) {
    refused_ = true;
    if (unproven_.empty()) unproven_ = reason;
  }
  /// Assumption A6, with a factor of two for the last rounding.
  void expect_finite(Wide magnitude, double max_finite, const char* reason) {
    if (!(magnitude < Wide{max_finite} / 2)) refuse(reason);
  }
  void expect_finite(Wide magnitude, const char* reason) {
    expect_finite(magnitude, accuracy_.format.max_finite, reason);
  }

  Rounding rounding_to(const std::optional<Format>& format) const {
    // A number of the arithmetic is not rounded again.
    if (!format || *format == accuracy_.format) return {};
    return {format->unit_roundoff, flush_ > 0 ? format->min_normal : format->rounding_underflow,
            format->max_finite};
  }
  /// e^(count u) - 1: what `count` roundings on a path can do.
  Wide growth(Wide count) const { return std::expm1(count * Wide{accuracy_.format.unit_roundoff}); }
  /// Underflow of a dot product of `length` terms: products, and additions that are flushed.
  Wide dot_underflow(Index length) const { return static_cast<Wide>(length) * (product_ + flush_); }

  /// What is added to the score of the row's visible key `at`, before the softcap or after it.
  Additions additions(const GradientRow& row, std::size_t at, bool before) const {
    Additions found;
    for (const ScoreAddend& addend : row.addends)
      if ((inputs_.softcap != 0 && addend.before_softcap) == before)
        found.add(addend, at, accuracy_.bias_relative_error, product_, read_);
    return found;
  }

  /// c^ and s^: the score after softcap and after what is added to it there.
  struct Score {
    Computed capped;
    Computed score;
  };
  /// `lse` is the magnitude of the lse that the kernel reads.
  Score score(const GradientPair& pair, const GradientRow& row, std::size_t at, Wide lse) {
    const Additions before = additions(row, at, true);
    const Additions after = additions(row, at, false);
    const Wide h = growth(static_cast<Wide>(accuracy_.dot_roundings));
    const Wide dot = Wide{pair.dot_magnitude};
    expect_finite(dot * std::max<Wide>(scale_, 1) * (1 + h), "a score may overflow");
    Wide error = 0;
    if (accuracy_.dot_roundings > 0)
      error = scale_ * (dot * h + (1 + h) * dot_underflow(inputs_.head_dim)) + product_;
    error += scale_ * read_ * Wide{pair.input_magnitude};
    Score result;
    if (inputs_.softcap != 0) {
      const Wide cap = std::abs(Wide{inputs_.softcap});
      const Wide uncapped = scale_ * dot + before.magnitude;
      error = error_after(before, scale_ * dot, error, uncapped, growth(1), flush_);
      expect_finite((uncapped + error) * std::max<Wide>(1, 1 / cap), "a score may overflow");
      const Wide chain = std::expm1(Wide{accuracy_.format.unit_roundoff} *
                                        static_cast<Wide>(accuracy_.softcap_roundings) -
                                    std::log1p(-Wide{accuracy_.tanh_relative_error}));
      error += chain * (Wide{pair.capped} + error) +
               (1 + chain) * (cap * (product_ + tanh_absolute_) + product_);
    }
    result.capped = {pair.capped, error};
    const LateAddends late = late_addends(row.addends, at, inputs_.softcap != 0);
    const Wide others = Wide{pair.capped} + error + late.others;
    if (accuracy_.exp_form == ExpForm::folded_base_two ||
        !stands_for_a_mask(late.stand_in, others, lse, accuracy_.format))
      expect_finite(Wide{pair.capped} + after.magnitude + error, "a score may overflow");
    error = error_after(after, pair.capped, error, pair.score, growth(1), flush_);
    result.score = {pair.score, error};
    return result;
  }

  /// [Y] of exp(score - lse) in the log domain.
  Wide log_error(Wide log_probability, const Computed& score, Wide lse_size, Wide lse_error) const {
    Wide argument = score.error + lse_error;
    Wide folded = 0;
    if (accuracy_.exp_form == ExpForm::folded_base_two)
      folded = growth(2) * (score.size() + lse_size + lse_error) + product_;
    argument += folded;
    return argument + growth(1) * (log_probability + argument) + product_ -
           std::log1p(-Wide{accuracy_.exp_relative_error});
  }

  /// exp(...) of a probability p whose logarithm is off by y. Where y is large p may be nothing all
  /// the same: the computed number and p are both at least 0.
  Computed weight(Wide probability, Wide log_probability, Wide y) const {
    constexpr Wide kLargeError = 0.5;
    const Wide relative = probability * std::expm1(y);
    if (y <= kLargeError) return {probability, relative + exp_absolute_};
    const Wide both =
        probability + std::exp(y * kEvaluationSlack - log_probability * (1 - 0x1p-50L));
    return {probability, std::min(both, relative) + exp_absolute_};
  }

  /// fl(a * b).
  Computed product(const Computed& a, const Computed& b, Wide magnitude) const {
    const Wide error = a.error * b.size() + a.magnitude * b.error;
    return {magnitude, error + growth(1) * (magnitude + error) + product_};
  }

  /// 1 - (c / cap)^2, formed as it stands or as (1 - y)(1 + y), y from c or straight from tanh.
  Computed slope(const GradientPair& pair, const Computed& capped) const {
    if (inputs_.softcap == 0) return {1, 0};
    const Wide cap = std::abs(Wide{inputs_.softcap});
    const Wide y = Wide{pair.capped} / cap;
    const Wide from_capped = capped.error / cap;
    const Wide dy = from_capped + growth(1) * (y + from_capped) + product_;
    const Wide square = (y + dy) * (y + dy);
    return {pair.slope, (1 + growth(3)) * (dy * (2 * y + dy) + growth(1) * square + 3 * product_) +
                            growth(3) * Wide{pair.slope}};
  }

  static Computed cast(const Computed& value, const Rounding& rounding) {
    return {value.magnitude, value.error + rounding.error(value.size())};
  }

  /// D^_i = fl(fl(dout . o^) - dlse).
  Computed delta(std::size_t i, const RowBound& forward) {
    const GradientRow& row = inputs_.rows[i];
    const GradientRowFacts& facts = facts_.rows[i];
    const Wide h = growth(static_cast<Wide>(accuracy_.delta_roundings));
    Wide products = 0;
    Wide error = 0;
    for (std::size_t c = 0; c < row.output_gradient.size(); ++c) {
      const Wide gradient = std::abs(Wide{row.output_gradient[c]});
      const Wide output = magnitude_upper(facts.output[c]) + Wide{forward.output[c]};
      products += gradient * output;
      error += gradient * Wide{forward.output[c]} + read_ * (gradient + output);
    }
    error += h * products + (1 + h) * dot_underflow(inputs_.head_dim_v);
    expect_finite(products * (1 + h) + std::abs(Wide{row.lse_gradient}),
                  "the dot product of dout and out may overflow");
    if (row.lse_gradient != 0) {
      error += read_;
      error += growth(1) * (Wide{facts.delta} + error) + flush_;
    }
    return {facts.delta, error};
  }

  /// fl(dP^ - D^).
  Computed centred(const GradientPair& pair, const Computed& delta) {
    const Wide h = growth(static_cast<Wide>(accuracy_.value_dot_roundings));
    const Wide products = Wide{pair.value_dot_magnitude};
    expect_finite(products * (1 + h) + delta.size(), "the dot product of dout and v may overflow");
    const Wide error = h * products + (1 + h) * dot_underflow(inputs_.head_dim_v) +
                       read_ * Wide{pair.value_input_magnitude} + delta.error;
    return {pair.centred, error + growth(1) * (Wide{pair.centred} + error) + flush_};
  }

  const DeclaredGradientAccuracy& accuracy_;
  const GradientFacts& facts_;
  const GradientInputs& inputs_;
  Wide flush_ = 0;    ///< absolute error of an addition: 0, or the smallest normal number
  Wide read_ = 0;     ///< absolute error of reading a stored number
  Wide product_ = 0;  ///< absolute error of a multiplication or division
  Wide scale_ = 0;
  std::string unproven_;
  bool refused_ = false;  ///< since this was set to false

 private:
  Wide exp_absolute_ = 0, tanh_absolute_ = 0;
};

}  // namespace attest
