#include "attest/gradient_bound.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "gradient_errors.hpp"

namespace attest {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

class BoundEvaluation : GradientErrors {
 public:
  BoundEvaluation(const DeclaredGradientAccuracy& accuracy, const GradientFacts& facts)
      : GradientErrors(accuracy, facts) {
    weight_cast_ = rounding_to(accuracy.weight_cast);
    gradient_cast_ = rounding_to(accuracy.gradient_cast);
    const std::optional<Format> dk_format =
        accuracy.dk_format ? accuracy.dk_format : accuracy.output_format;
    dq_output_ = rounding_to(accuracy.output_format);
    dk_output_ = rounding_to(dk_format);
    dv_output_ = rounding_to(accuracy.dv_format ? accuracy.dv_format : dk_format);
    bound_.limit = Gradients<double>::of_size(inputs_, 0.0);
    dk_.resize(inputs_.k.size());
    dv_.resize(inputs_.v.size());
  }

  GradientBound run(std::span<const RowBound> forward) {
    if (read_ > 0 && ((scale_ > 0 && scale_ < read_) ||
                      (inputs_.softcap != 0 && std::abs(Wide{inputs_.softcap}) < read_)))
      refuse("the scale or the softcap may be flushed to zero");
    if (accuracy_.exp_form == ExpForm::folded_base_two && scale_ > 0) {
      if (scale_ < accuracy_.format.min_normal) refuse("the folded scale may be subnormal");
      expect_finite(2 * scale_, "the folded scale may overflow");
    }
    if (refused_) return {Gradients<double>::of_size(inputs_, kInfinity), unproven_};
    for (std::size_t i = 0; i < inputs_.rows.size(); ++i) {
      if (inputs_.rows[i].keys.empty() && !inputs_.rows[i].sink) continue;
      refused_ = false;
      if (forward[i].proven())
        row(i, forward[i]);
      else
        refuse(forward[i].unproven);
      if (refused_) give_up(i);
    }
    key_gradients();
    bound_.unproven = unproven_;
    return std::move(bound_);
  }

 private:
  /// A row without a bound leaves none to its own gradients and to those of the keys that it sees.
  void give_up(std::size_t i) {
    const GradientRow& row = inputs_.rows[i];
    const auto fill = [](auto& list, std::size_t at, Index width, auto value) {
      const auto first = list.begin() + static_cast<std::ptrdiff_t>(at) * width;
      std::fill(first, first + width, value);
    };
    TermSum unknown;
    unknown.error = kInfinity;
    unknown.terms = 1;
    fill(bound_.limit.dq, i, inputs_.head_dim, kInfinity);
    if (row.sink) bound_.limit.dsink[i] = kInfinity;
    for (const Index j : row.keys) {
      bound_.limit.dbias[i * static_cast<std::size_t>(inputs_.keys) + static_cast<std::size_t>(j)] =
          kInfinity;
      fill(dk_, static_cast<std::size_t>(j), inputs_.head_dim, unknown);
      fill(dv_, static_cast<std::size_t>(j), inputs_.head_dim_v, unknown);
    }
  }

  void row(std::size_t i, const RowBound& forward) {
    const GradientRow& row = inputs_.rows[i];
    const GradientRowFacts& facts = facts_.rows[i];
    const auto d = static_cast<std::size_t>(inputs_.head_dim);
    const auto dv = static_cast<std::size_t>(inputs_.head_dim_v);
    const Wide lse_size = magnitude_upper(facts.lse);
    const Wide lse_error = Wide{forward.lse} + read_;
    const Computed difference = delta(i, forward);
    std::vector<TermSum> dq(d);
    for (std::size_t at = 0; at < row.keys.size(); ++at) {
      const auto j = static_cast<std::size_t>(row.keys[at]);
      const GradientPair& pair = facts.pairs[at];
      const Score scores = score(pair, row, at, lse_size + lse_error);
      const Computed p = weight(pair.probability, pair.log_probability,
                                log_error(pair.log_probability, scores.score, lse_size, lse_error));
      const Computed ds = product(p, centred(pair, difference), pair.score_gradient);
      const Computed dx =
          inputs_.softcap == 0 ? ds : product(ds, slope(pair, scores.capped), pair.dot_gradient);
      const Computed p_cast = cast(p, weight_cast_);
      // What the cast loses to underflow is added with the sums: there the scale matters.
      const Computed dx_cast = cast(dx, {gradient_cast_.relative, 0});
      expect_finite(p.size() + ds.size() + dx.size() * std::max<Wide>(scale_, 1),
                    "a weight or the gradient of a score may overflow");
      expect_finite(p_cast.size(), weight_cast_.max_finite, "a weight may overflow its format");
      expect_finite(dx_cast.size() * std::max<Wide>(scale_, 1), gradient_cast_.max_finite,
                    "a gradient of a score may overflow its format");
      finish(bound_.limit.dbias[i * static_cast<std::size_t>(inputs_.keys) + j],
             inputs_.bias_before_softcap ? dx : ds, {});
      for (std::size_t c = 0; c < d; ++c) {
        dq[c].add(dx_cast, inputs_.k[j * d + c]);
        dk_[j * d + c].add(dx_cast, row.q[c]);
      }
      for (std::size_t c = 0; c < dv; ++c) dv_[j * dv + c].add(p_cast, row.output_gradient[c]);
    }
    for (std::size_t c = 0; c < d; ++c)
      finish(bound_.limit.dq[i * d + c],
             scaled_sum(dq[c], facts_.exact.dq[i * d + c], accuracy_.key_additions), dq_output_);
    if (row.sink) {
      const Computed sink{std::abs(Wide{*row.sink}), read_};
      const Computed p = weight(facts.sink_probability, facts.sink_log_probability,
                                log_error(facts.sink_log_probability, sink, lse_size, lse_error));
      finish(bound_.limit.dsink[i],
             product(p, difference, Wide{facts.sink_probability} * difference.magnitude), {});
    }
  }

  /// Roundings on the longest path of a term: its product, additions, and others.
  Wide path(const TermSum& sum, const std::optional<Index>& additions, Index others) const {
    return static_cast<Wide>(additions.value_or(std::max<Index>(sum.terms - 1, 0)) + 1 + others);
  }

  /// scale times a sum of dx^ and stored factors; the scale may have multiplied each dx already.
  Computed scaled_sum(const TermSum& sum, const Enclosure& exact,
                      const std::optional<Index>& additions) {
    const Wide g = growth(path(sum, additions, accuracy_.scale_roundings));
    const Wide larger = std::max<Wide>(scale_, 1);
    expect_finite(sum.magnitude * larger * (1 + g), "a sum of the gradient of q or k may overflow");
    const Wide underflow = static_cast<Wide>(sum.terms) * (2 * product_ + flush_) +
                           (product_ + gradient_cast_.absolute) * sum.factors;
    return {magnitude_upper(exact), scale_ * (sum.error + g * sum.magnitude + read_ * sum.weights) +
                                        (1 + g) * larger * underflow};
  }

  void key_gradients() {
    for (std::size_t at = 0; at < dk_.size(); ++at) {
      refused_ = false;
      if (dk_[at].terms > 0)
        finish(bound_.limit.dk[at],
               scaled_sum(dk_[at], facts_.exact.dk[at], accuracy_.row_additions), dk_output_);
    }
    for (std::size_t at = 0; at < dv_.size(); ++at) {
      const TermSum& sum = dv_[at];
      if (sum.terms == 0) continue;
      refused_ = false;
      const Wide g = growth(path(sum, accuracy_.row_additions, 0));
      expect_finite(sum.magnitude * (1 + g), "a sum of the gradient of v may overflow");
      finish(bound_.limit.dv[at],
             {magnitude_upper(facts_.exact.dv[at]), sum.error + g * sum.magnitude +
                                                        read_ * sum.weights +
                                                        (1 + g) * dot_underflow(sum.terms)},
             dv_output_);
    }
  }

  /// Rounding to the output format, and of this evaluation. What was refused has no limit.
  void finish(double& limit, const Computed& value, const Rounding& output) {
    expect_finite(value.size(), std::min(output.max_finite, accuracy_.format.max_finite),
                  "a gradient may overflow its format");
    limit = static_cast<double>(cast(value, output).error * kEvaluationSlack) * kEvaluationSlack +
            kSmallestNumber;
    if (!std::isfinite(limit)) refuse("the bound is not finite");
    if (refused_) limit = kInfinity;
  }

  Rounding weight_cast_, gradient_cast_, dq_output_, dk_output_, dv_output_;
  GradientBound bound_;
  std::vector<TermSum> dk_, dv_;
};

}  // namespace

double gradient_sum_bound(const DeclaredGradientAccuracy& accuracy,
                          std::span<const GradientTerm> terms) {
  Wide limits = 0;
  Wide computed = 0;
  for (const GradientTerm& term : terms) {
    limits += term.limit;
    computed += magnitude_upper(term.exact) + term.limit;
  }
  const auto additions = static_cast<Wide>(std::max<std::size_t>(terms.size(), 1) - 1);
  const Wide growth = std::expm1(additions * Wide{accuracy.format.unit_roundoff});
  if (!(computed * (1 + growth) < Wide{accuracy.format.max_finite} / 2)) return kInfinity;
  const Wide flush =
      accuracy.underflow == Underflow::gradual ? 0 : Wide{accuracy.format.min_normal};
  const Wide error = limits + growth * computed + (1 + growth) * additions * flush;
  return error == 0 ? 0 : static_cast<double>(error * kEvaluationSlack) + kSmallestNumber;
}

GradientBound gradient_bound(const DeclaredGradientAccuracy& accuracy, const GradientFacts& facts,
                             std::span<const RowBound> forward) {
  return BoundEvaluation(accuracy, facts).run(forward);
}

}  // namespace attest
