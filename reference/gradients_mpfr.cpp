#include "reference/gradients.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "reference/interval.hpp"
#include "reference/precision.hpp"

namespace attest::reference {
namespace {

template <int Bits>
Interval<Bits> times(const Interval<Bits>& x, double factor) {
  return x * Interval<Bits>(factor);
}
template <int Bits>
void add_product(Interval<Bits>& sum, const Interval<Bits>& x, double factor) {
  sum += times<Bits>(x, factor);
}
/// The upper end, as a point.
template <int Bits>
Interval<Bits> upper_end(const Interval<Bits>& x) {
  Interval<Bits> end;
  mpfr_set(end.lower(), x.upper(), MPFR_RNDN);
  mpfr_set(end.upper(), x.upper(), MPFR_RNDN);
  return end;
}
template <int Bits>
bool upper_end_is_larger(const Interval<Bits>& a, const Interval<Bits>& b) {
  return mpfr_greater_p(a.upper(), b.upper()) != 0;
}

/// 1 - tanh(x)^2 = 4 e / (1 + e)^2 with e = exp(-2 |x|): no cancellation where tanh saturates.
template <int Bits>
Interval<Bits> tanh_slope(const Interval<Bits>& x) {
  const Interval<Bits> e = exp(times<Bits>(abs(x), -2));
  const Interval<Bits> one_more = e + Interval<Bits>(1);
  return times<Bits>(e, 4) / (one_more * one_more);
}

/// Two vectors, side by side: their product and the bounds of sizes.
struct DotSizes {
  double products = 0;
  double inputs = 0;
};
DotSizes dot_sizes(const double* a, const double* b, std::size_t length) {
  DotSizes sizes;
  for (std::size_t c = 0; c < length; ++c) {
    sizes.products += std::abs(a[c] * b[c]);
    sizes.inputs += std::abs(a[c]) + std::abs(b[c]);
  }
  return {upper_sum<Outward>(sizes.products, length), upper_sum<Outward>(sizes.inputs, 2 * length)};
}

template <int Bits>
class GradientEvaluation {
 public:
  explicit GradientEvaluation(const GradientInputs& inputs)
      : inputs_(inputs),
        keys_(static_cast<std::size_t>(inputs.keys)),
        head_dim_(static_cast<std::size_t>(inputs.head_dim)),
        head_dim_v_(static_cast<std::size_t>(inputs.head_dim_v)),
        dk_(inputs.k.size(), Number(0)),
        dv_(inputs.v.size(), Number(0)) {}

  GradientFacts run() {
    facts_.inputs = inputs_;
    facts_.exact = Gradients<Enclosure>::of_size(inputs_, {});
    facts_.rows.resize(inputs_.rows.size());
    for (std::size_t i = 0; i < inputs_.rows.size(); ++i) {
      const GradientRow& row = inputs_.rows[i];
      facts_.rows[i].output.resize(head_dim_v_);
      facts_.rows[i].lse = {-std::numeric_limits<double>::infinity(), 0, 0};
      if (row.keys.empty() && !row.sink) continue;
      weigh_keys(row, facts_.rows[i]);
      score_gradients(row, i);
      products_with_inputs(row, i);
    }
    for (std::size_t at = 0; at < dk_.size(); ++at)
      facts_.exact.dk[at] = to_enclosure<Bits>(times<Bits>(dk_[at], inputs_.scale));
    for (std::size_t at = 0; at < dv_.size(); ++at)
      facts_.exact.dv[at] = to_enclosure<Bits>(dv_[at]);
    return std::move(facts_);
  }

 private:
  using Number = Interval<Bits>;

  const double* key(Index j) const { return &inputs_.k[static_cast<std::size_t>(j) * head_dim_]; }
  const double* value(Index j) const {
    return &inputs_.v[static_cast<std::size_t>(j) * head_dim_v_];
  }

  static Number dot(const double* a, const double* b, std::size_t length) {
    Number sum = 0;
    for (std::size_t c = 0; c < length; ++c) add_product<Bits>(sum, Number(a[c]), b[c]);
    return sum;
  }

  /// What is added to the score before the softcap, or after it.
  void add_addends(Number& score, const GradientRow& row, std::size_t j, bool before) const {
    for (const ScoreAddend& addend : row.addends)
      if ((inputs_.softcap != 0 && addend.before_softcap) == before)
        score += Number(addend.value[j]);
  }

  /// Scores, slopes of the softcap and probabilities of one row.
  void weigh_keys(const GradientRow& row, GradientRowFacts& facts) {
    const std::size_t n = row.keys.size();
    facts.pairs.assign(n, {});
    std::vector<Number> score(n, Number(0));
    slope_.assign(n, Number(1));
    Number shift = row.sink ? Number(*row.sink) : Number(0);
    bool shifted = row.sink.has_value();
    for (std::size_t j = 0; j < n; ++j) {
      GradientPair& pair = facts.pairs[j];
      const DotSizes sizes = dot_sizes(row.q.data(), key(row.keys[j]), head_dim_);
      pair.dot_magnitude = sizes.products;
      pair.input_magnitude = sizes.inputs;
      Number x = times<Bits>(dot(row.q.data(), key(row.keys[j]), head_dim_), inputs_.scale);
      add_addends(x, row, j, true);
      if (inputs_.softcap != 0) {
        const Number ratio = x / Number(inputs_.softcap);
        slope_[j] = tanh_slope<Bits>(ratio);
        x = times<Bits>(tanh(ratio), inputs_.softcap);
      }
      pair.slope = magnitude_upper<Bits>(slope_[j]);
      pair.capped = magnitude_upper<Bits>(x);
      add_addends(x, row, j, false);
      pair.score = magnitude_upper<Bits>(x);
      if (!shifted || upper_end_is_larger<Bits>(x, shift)) shift = upper_end<Bits>(x);
      shifted = true;
      score[j] = std::move(x);
    }
    // Any point near the maximum gives the same quotients; a double may be too far from it.
    probability_.clear();
    Number sum = 0;
    for (const Number& s : score) sum += probability_.emplace_back(exp(Number(s - shift)));
    sink_ = row.sink ? exp(Number(*row.sink - shift)) : Number(0);
    sum += sink_;
    for (Number& p : probability_) p /= sum;
    sink_ /= sum;
    const Number lse = log(sum) + shift;
    for (std::size_t j = 0; j < n; ++j) {
      facts.pairs[j].probability = magnitude_upper<Bits>(probability_[j]);
      facts.pairs[j].log_probability = magnitude_upper<Bits>(Number(score[j] - lse));
    }
    facts.sink_probability = magnitude_upper<Bits>(sink_);
    if (row.sink) facts.sink_log_probability = magnitude_upper<Bits>(Number(*row.sink - lse));
    facts.lse = to_enclosure<Bits>(lse);
  }

  /// D_i, dS and dx; gradients of the bias and of the sink.
  void score_gradients(const GradientRow& row, std::size_t i) {
    GradientRowFacts& facts = facts_.rows[i];
    const std::size_t n = row.keys.size();
    Number delta = 0;
    for (std::size_t c = 0; c < head_dim_v_; ++c) {
      Number output = 0;
      for (std::size_t j = 0; j < n; ++j)
        add_product<Bits>(output, probability_[j], value(row.keys[j])[c]);
      facts.output[c] = to_enclosure<Bits>(output);
      add_product<Bits>(delta, output, row.output_gradient[c]);
    }
    delta -= Number(row.lse_gradient);
    facts.delta = magnitude_upper<Bits>(delta);
    dx_.clear();
    for (std::size_t j = 0; j < n; ++j) {
      GradientPair& pair = facts.pairs[j];
      const double* v = value(row.keys[j]);
      const DotSizes sizes = dot_sizes(row.output_gradient.data(), v, head_dim_v_);
      pair.value_dot_magnitude = sizes.products;
      pair.value_input_magnitude = sizes.inputs;
      const Number centred = dot(row.output_gradient.data(), v, head_dim_v_) - delta;
      pair.centred = magnitude_upper<Bits>(centred);
      const Number ds = probability_[j] * centred;
      pair.score_gradient = magnitude_upper<Bits>(ds);
      const Number& dx = dx_.emplace_back(inputs_.softcap != 0 ? Number(ds * slope_[j]) : ds);
      facts_.exact.dbias[i * keys_ + static_cast<std::size_t>(row.keys[j])] =
          to_enclosure<Bits>(inputs_.bias_before_softcap ? dx : ds);
      pair.dot_gradient = magnitude_upper<Bits>(dx);
    }
    if (row.sink) facts_.exact.dsink[i] = to_enclosure<Bits>(Number(-(sink_ * delta)));
  }

  void products_with_inputs(const GradientRow& row, std::size_t i) {
    for (std::size_t c = 0; c < head_dim_; ++c) {
      Number dq = 0;
      for (std::size_t j = 0; j < dx_.size(); ++j) {
        add_product<Bits>(dq, dx_[j], key(row.keys[j])[c]);
        add_product<Bits>(dk_[static_cast<std::size_t>(row.keys[j]) * head_dim_ + c], dx_[j],
                          row.q[c]);
      }
      facts_.exact.dq[i * head_dim_ + c] = to_enclosure<Bits>(times<Bits>(dq, inputs_.scale));
    }
    for (std::size_t j = 0; j < dx_.size(); ++j)
      for (std::size_t c = 0; c < head_dim_v_; ++c)
        add_product<Bits>(dv_[static_cast<std::size_t>(row.keys[j]) * head_dim_v_ + c],
                          probability_[j], row.output_gradient[c]);
  }

  const GradientInputs& inputs_;
  std::size_t keys_, head_dim_, head_dim_v_;
  GradientFacts facts_;
  std::vector<Number> dk_;  ///< before the scale
  std::vector<Number> dv_;
  // Of the row at hand, per visible key.
  std::vector<Number> slope_, probability_, dx_;
  Number sink_ = 0;  ///< probability of the sink
};

}  // namespace

Enclosure enclose_sum(std::span<const Enclosure> terms) {
  free_cache_at_thread_end();
  using Number = Interval<768>;
  Number sum = 0;
  for (const Enclosure& term : terms) {
    Number around;
    mpfr_set_d(around.lower(), -term.radius, MPFR_RNDN);  // exact
    mpfr_set_d(around.upper(), term.radius, MPFR_RNDN);
    sum += Number(term.high) + Number(term.low) + around;
  }
  return to_enclosure<768>(sum);
}

GradientFacts evaluate_gradients(const GradientInputs& inputs, int bits) {
  free_cache_at_thread_end();
  return with_precision(
      bits, [&](auto constant) { return GradientEvaluation<constant()>(inputs).run(); });
}

}  // namespace attest::reference
