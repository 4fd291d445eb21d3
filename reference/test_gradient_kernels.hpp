// Backward kernels for the tests: a textbook one, a tiled one, and both with planted faults.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "attest/gradient_bound.hpp"
#include "reference/correctly_rounded.hpp"
#include "reference/test_gradient_forms.hpp"

namespace attest::reference {

/// What the forward pass gives to the backward pass, per row.
template <class Real>
struct ForwardRow {
  std::vector<Real> output;
  Real lse{};
};

/// The forward pass: textbook, largest score subtracted.
template <class Real>
class BackwardKernel {
 public:
  BackwardKernel(const GradientInputs& inputs, const KernelForm& form)
      : inputs_(inputs),
        form_(form),
        d_(static_cast<std::size_t>(inputs.head_dim)),
        dv_(static_cast<std::size_t>(inputs.head_dim_v)),
        keys_(static_cast<std::size_t>(inputs.keys)) {}

  ForwardRow<Real> forward(const GradientRow& row) const {
    using std::exp;
    using std::log;
    ForwardRow<Real> result{std::vector<Real>(dv_, real(0)), real(0)};
    if (row.keys.empty() && !row.sink) return result;
    std::vector<Real> scores;
    for (std::size_t at = 0; at < row.keys.size(); ++at) scores.push_back(score(row, at).biased);
    Real largest = row.sink ? real(*row.sink) : scores[0];
    for (const Real s : scores) largest = largest < s ? s : largest;
    Real sum = row.sink ? exp(real(*row.sink) - largest) : real(0);
    for (std::size_t at = 0; at < scores.size(); ++at) {
      const Real weight = exp(scores[at] - largest);
      sum = sum + weight;
      for (std::size_t c = 0; c < dv_; ++c)
        result.output[c] = result.output[c] + weight * value(row.keys[at], c);
    }
    for (Real& o : result.output) o = o / sum;
    result.lse = largest + log(sum);
    return result;
  }

  Gradients<double> backward(const std::vector<ForwardRow<Real>>& forward) {
    const std::size_t rows = inputs_.rows.size();
    dq_.assign(rows * d_, real(0));
    dk_.assign(keys_ * d_, real(0));
    dv_sums_.assign(keys_ * dv_, real(0));
    result_ = Gradients<double>::of_size(inputs_, 0.0);
    std::vector<Real> delta(rows, real(0));
    for (std::size_t i = 0; i < rows; ++i) delta[i] = delta_of(inputs_.rows[i], forward[i]);
    const std::size_t tile = form_.tiled ? 2 : keys_;
    for (std::size_t first = 0; first < keys_; first += tile)
      for (std::size_t r = 0; r < rows; ++r) {
        const std::size_t i = form_.tiled ? rows - 1 - r : r;
        absorb(i, first, std::min(first + tile, keys_), forward[i], delta[i]);
      }
    for (std::size_t i = 0; i < rows; ++i) sink_gradient(i, forward[i], delta[i]);
    const std::optional<Format> dk_format = form_.dk_format ? form_.dk_format : form_.output_format;
    const std::optional<Format> dv_format = form_.dv_format ? form_.dv_format : dk_format;
    for (std::size_t at = 0; at < dq_.size(); ++at)
      result_.dq[at] = output(form_.fault == Fault::scale_missing_in_dq ? dq_[at] : scaled(dq_[at]),
                              form_.output_format);
    for (std::size_t at = 0; at < dk_.size(); ++at)
      result_.dk[at] =
          output(form_.fault == Fault::scale_missing_in_dk ? dk_[at] : scaled(dk_[at]), dk_format);
    for (std::size_t at = 0; at < dv_sums_.size(); ++at)
      result_.dv[at] = output(dv_sums_[at], dv_format);
    return result_;
  }

 private:
  static Real real(double x) { return static_cast<Real>(x); }
  struct Score {
    Real ratio{};  ///< x / softcap
    Real capped{};
    Real biased{};
  };

  Real value(Index key, std::size_t c) const {
    return real(inputs_.v[static_cast<std::size_t>(key) * dv_ + c]);
  }
  Real key(Index j, std::size_t c) const {
    return real(inputs_.k[static_cast<std::size_t>(j) * d_ + c]);
  }

  Real dot_of(const GradientRow& row, Index j) const {
    Real dot = real(0);
    for (std::size_t c = 0; c < d_; ++c) dot = dot + real(row.q[c]) * key(j, c);
    return dot;
  }
  Score score(const GradientRow& row, std::size_t at) const {
    return score(dot_of(row, row.keys[at]), &row, at);
  }
  /// Without a row: without addends.
  Score score(Real dot, const GradientRow* row, std::size_t at) const {
    using std::tanh;
    Score result;
    result.capped = real(inputs_.scale) * dot;
    if (row != nullptr && inputs_.softcap != 0) add(result.capped, *row, at, true);
    if (inputs_.softcap != 0) {
      const Real cap = real(inputs_.softcap);
      result.ratio = result.capped / cap;
      result.capped = cap * tanh(result.ratio);
    }
    result.biased = result.capped;
    if (row != nullptr && inputs_.softcap == 0) add(result.biased, *row, at, true);
    if (row != nullptr) add(result.biased, *row, at, false);
    return result;
  }
  static void add(Real& score, const GradientRow& row, std::size_t at, bool before) {
    for (const ScoreAddend& addend : row.addends)
      if (addend.before_softcap == before) score = score + real(addend.value[at]);
  }

  /// exp(s - lse), naturally or as exp2(s c - lse log2 e).
  Real probability(const GradientRow& row, Index j, const Score& s, Real lse) const {
    using std::exp;
    using std::exp2;
    Real p;
    if (form_.folded) {
      const Real log2_e = real(1.4426950408889634074);
      const bool plain = inputs_.softcap == 0 && row.addends.empty();
      const Real c = plain ? real(inputs_.scale) * log2_e : log2_e;
      const Real a = (plain ? dot_of(row, j) : s.biased);
      p = exp2(fused(a, c, -(lse * log2_e)));
    } else {
      p = exp(s.biased - lse);
    }
    if (form_.fault == Fault::coarse_exp) p = p * real(1 + 0x1p-12);
    if (form_.fault == Fault::undeclared_weight_cast) p = cast(p, kBf16);
    return p;
  }

  Real delta_of(const GradientRow& row, const ForwardRow<Real>& forward) const {
    if (form_.fault == Fault::delta_missing || (row.keys.empty() && !row.sink)) return real(0);
    Real delta = real(0);
    for (std::size_t c = 0; c < dv_; ++c) {
      const Real o = form_.fault == Fault::delta_of_rounded_output ? cast(forward.output[c], kBf16)
                                                                   : forward.output[c];
      delta = delta + real(row.output_gradient[c]) * o;
    }
    return form_.fault == Fault::lse_gradient_missing ? delta : delta - real(row.lse_gradient);
  }

  Real slope(const Score& s) const {
    if (inputs_.softcap == 0 || form_.fault == Fault::slope_missing) return real(1);
    using std::tanh;
    if (form_.slope_by_factors) {
      const Real y = tanh(s.ratio);
      return (real(1) - y) * (real(1) + y);
    }
    const Real y =
        (form_.fault == Fault::slope_of_biased_score ? s.biased : s.capped) / real(inputs_.softcap);
    return real(1) - y * y;
  }

  /// Keys [first, last) of row i.
  void absorb(std::size_t i, std::size_t first, std::size_t last, const ForwardRow<Real>& forward,
              Real delta) {
    const GradientRow& row = inputs_.rows[i];
    std::vector<Real> dq(d_, real(0));
    Real lse = forward.lse;
    if (form_.fault == Fault::own_sum_without_last_key) lse = own_lse(row, lse);
    for (std::size_t at = 0; at < row.keys.size(); ++at) {
      const auto j = static_cast<std::size_t>(row.keys[at]);
      if (j < first || j >= last) continue;
      const Score s = score(row, at);
      const Real p = probability(row, row.keys[at], s, lse);
      Real dp = real(0);
      for (std::size_t c = 0; c < dv_; ++c)
        dp = dp + real(row.output_gradient[c]) * value(row.keys[at], c);
      const Real ds = p * (dp - delta);
      Real dx = inputs_.softcap != 0 ? ds * slope(s) : ds;
      result_.dbias[i * keys_ + j] = static_cast<double>(inputs_.bias_before_softcap ? dx : ds);
      if (form_.tiled && form_.fault != Fault::scale_missing_in_dk &&
          form_.fault != Fault::scale_missing_in_dq)
        dx = real(inputs_.scale) * dx;
      dx = cast(dx, form_.gradient_cast);
      for (std::size_t c = 0; c < d_; ++c) {
        dq[c] = dq[c] + dx * key(row.keys[at], c);
        if (form_.fault == Fault::narrow_sums) dq[c] = cast(dq[c], kBf16);
        if (form_.fault == Fault::row_missing_in_dk && i + 1 == inputs_.rows.size()) continue;
        dk_[j * d_ + c] = dk_[j * d_ + c] + dx * real(row.q[c]);
      }
      const Real weight = cast(p, form_.weight_cast);
      for (std::size_t c = 0; c < dv_; ++c)
        dv_sums_[j * dv_ + c] = dv_sums_[j * dv_ + c] + weight * real(row.output_gradient[c]);
    }
    for (std::size_t c = 0; c < d_; ++c) dq_[i * d_ + c] = dq_[i * d_ + c] + dq[c];
    if (form_.fault == Fault::mask_leak_in_dv) leak(row, forward.lse, first, last);
  }

  void leak(const GradientRow& row, Real lse, std::size_t first, std::size_t last) {
    if (row.keys.empty()) return;
    for (std::size_t j = first; j < last; ++j) {
      const auto index = static_cast<Index>(j);
      if (std::find(row.keys.begin(), row.keys.end(), index) != row.keys.end()) continue;
      using std::exp;
      const Real p = exp(score(dot_of(row, index), nullptr, 0).biased - lse);
      for (std::size_t c = 0; c < dv_; ++c)
        dv_sums_[j * dv_ + c] = dv_sums_[j * dv_ + c] + p * real(row.output_gradient[c]);
    }
  }

  Real own_lse(const GradientRow& row, Real lse) const {
    using std::exp;
    using std::log;
    if (row.keys.size() < 2) return lse;
    Real sum = row.sink ? exp(real(*row.sink) - lse) : real(0);
    for (std::size_t at = 0; at + 1 < row.keys.size(); ++at)
      sum = sum + exp(score(row, at).biased - lse);
    return real(0) < sum ? lse + log(sum) : lse;
  }

  void sink_gradient(std::size_t i, const ForwardRow<Real>& forward, Real delta) {
    using std::exp;
    using std::exp2;
    const GradientRow& row = inputs_.rows[i];
    if (!row.sink) return;
    const Real log2_e = real(1.4426950408889634074);
    const Real p = form_.folded ? exp2(fused(real(*row.sink), log2_e, -(forward.lse * log2_e)))
                                : exp(real(*row.sink) - forward.lse);
    result_.dsink[i] =
        static_cast<double>(form_.fault == Fault::sink_sign ? p * delta : -(p * delta));
  }

  Real scaled(Real sum) const { return form_.tiled ? sum : real(inputs_.scale) * sum; }
  static double output(Real x, const std::optional<Format>& format) {
    const auto wide = static_cast<double>(x);
    return format ? round_to_format(wide, *format) : wide;
  }
  static Real cast(Real x, const std::optional<Format>& format) {
    return format ? real(round_to_format(static_cast<double>(x), *format)) : x;
  }

  const GradientInputs& inputs_;
  KernelForm form_;
  std::size_t d_, dv_, keys_;
  std::vector<Real> dq_, dk_, dv_sums_;
  Gradients<double> result_;
};

}  // namespace attest::reference
