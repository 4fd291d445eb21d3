// A kernel of one row that can be told to do what a declared accuracy allows: narrow weights,
// folded base two, a lagging maximum, flushed results, softcap, addends, sink, reciprocals, narrow
// outputs, values that it descales.
#pragma once

#include <cmath>
#include <numbers>
#include <optional>
#include <vector>

#include "attest/narrow_float.hpp"
#include "test_row_kernels.hpp"

namespace attest {

struct VariantRow {
  Inputs<float> inputs;
  float softcap = 0;
  std::vector<ScoreAddend> addends;  ///< exact in float
  std::optional<float> sink;
};

/// The sum of the addends of a key before the softcap, or after it.
inline Wide sum_of_addends(const VariantRow& of, std::size_t j, bool before) {
  Wide sum = 0;
  for (const ScoreAddend& addend : of.addends)
    if ((of.softcap != 0 && addend.before_softcap) == before) sum += Wide{addend.value[j]};
  return sum;
}

/// Scores below this are those of keys that a finite number masks: no sum sees their errors. Rows
/// with such keys have no softcap.
inline constexpr Wide kStandIn = -1e8L;

inline RowFacts facts_of(const VariantRow& of) {
  ExactRow row = exact_row(of.inputs);
  for (std::size_t j = 0; j < row.scores.size(); ++j) {
    Wide& score = row.scores[j];
    score += sum_of_addends(of, j, true);
    const Wide uncapped = std::abs(score);
    if (of.softcap != 0) score = Wide{of.softcap} * std::tanh(score / Wide{of.softcap});
    score += sum_of_addends(of, j, false);
    if (score >= kStandIn)
      row.score_error +=
          kWideUlp * (4 * uncapped + 8 * std::abs(score) + 8 * std::abs(Wide{of.softcap}) + 5000);
  }
  if (of.sink) {
    row.scores.push_back(Wide{*of.sink});
    row.magnitudes.push_back(0);
    row.values.resize(row.values.size() + row.columns);
  }
  RowFacts facts = facts_of(row);
  if (of.sink) facts.keys.back() = RowFacts::kSinkKey;
  facts.softcap = static_cast<double>(of.softcap);
  for (std::size_t j = 0; j < of.inputs.keys(); ++j)
    if (row.scores[j] < kStandIn)
      facts.score_radius[j] = rounded_up(16 * kWideUlp * std::abs(row.scores[j]) +
                                         std::abs(row.scores[j] - Wide{facts.score[j]}));
  facts.addends = of.addends;
  if (of.sink)
    for (ScoreAddend& addend : facts.addends) addend.value.push_back(0);
  const std::size_t head_dim = of.inputs.head_dim();
  for (std::size_t j = 0; j < of.inputs.keys(); ++j) {
    double size = 0;
    for (std::size_t c = 0; c < head_dim; ++c)
      size +=
          static_cast<double>(std::abs(of.inputs.q[c]) + std::abs(of.inputs.k[j * head_dim + c]));
    facts.input_magnitude_max = std::max(facts.input_magnitude_max, size * 1.001);
  }
  return facts;
}

class VariantKernel {
 public:
  VariantKernel(const VariantRow& row, const DeclaredAccuracy& accuracy, Index tile_kv)
      : row_(row), accuracy_(accuracy), tile_kv_(static_cast<std::size_t>(tile_kv)) {}

  NormalisedRow<float> run() {
    numerator_.assign(row_.inputs.columns, 0);
    const std::size_t n = row_.inputs.keys();
    for (std::size_t begin = 0; begin < n; begin += tile_kv_)
      absorb(begin, std::min(n, begin + tile_kv_));
    if (row_.sink) {
      raise(*row_.sink);
      sum_ = out(sum_ + weight(*row_.sink));
    }
    NormalisedRow<float> result;
    result.lse = lse();
    const float offset =
        std::ldexp(1.0F, accuracy_.weight_cast ? accuracy_.weight_cast->offset_log2 : 0);
    for (const float numerator : numerator_) {
      const bool reciprocal = accuracy_.division_roundings == 2;
      const float unscaled = out(numerator / offset);
      const float output = reciprocal ? out(unscaled * out(1 / sum_)) : out(unscaled / sum_);
      result.output.push_back(accuracy_.output_format
                                  ? round_to(*accuracy_.output_format, output, Overflow::saturate)
                                  : output);
    }
    return result;
  }

 private:
  bool folded() const { return accuracy_.exp_form == ExpForm::folded_base_two; }
  float folded_factor() const { return row_.inputs.scale * std::numbers::log2e_v<float>; }

  float out(float value) const {
    const bool flushed = accuracy_.underflow != Underflow::gradual && std::abs(value) < 0x1p-126F;
    return flushed ? 0.0F : value;
  }
  float in(float value) const {
    const bool unread =
        accuracy_.underflow == Underflow::flush_results_and_inputs && std::abs(value) < 0x1p-126F;
    return unread ? 0.0F : value;
  }
  float in_dot(float value) const {
    if (!accuracy_.dot_format) return out(value);
    return round_to(*accuracy_.dot_format, value, Overflow::saturate);
  }

  float score(std::size_t key) const {
    const Inputs<float>& inputs = row_.inputs;
    const bool scaled_query = accuracy_.scaled_query_error != 0;
    float dot = 0;
    for (std::size_t c = 0; c < inputs.head_dim(); ++c) {
      float q = in(inputs.q[c]);
      if (scaled_query) q = round_to(kBf16, q * inputs.scale, Overflow::saturate);
      dot = in_dot(dot + in_dot(q * in(inputs.k[key * inputs.head_dim() + c])));
    }
    float score = scaled_query || folded() ? dot : in_dot(inputs.scale * dot);
    score = with_addends(score, key, true);
    if (row_.softcap != 0) score = out(row_.softcap * out(std::tanh(out(score / row_.softcap))));
    return with_addends(score, key, false);
  }

  /// One after the other, or summed up first.
  float with_addends(float score, std::size_t key, bool before) const {
    float sum = 0;
    for (const ScoreAddend& addend : row_.addends) {
      if ((row_.softcap != 0 && addend.before_softcap) != before) continue;
      float value = in(static_cast<float>(addend.value[key]));
      if (addend.computed) value = round_to(addend_format(), value, Overflow::saturate);
      if (key % 2 == 0)
        score = out(score + value);
      else
        sum = out(sum + value);
    }
    return key % 2 == 0 ? score : out(score + sum);
  }
  /// Addends that the kernel computes are rounded once, as coarsely as it declares.
  Format addend_format() const {
    Format format = kF32;
    format.unit_roundoff = std::max(format.unit_roundoff, accuracy_.bias_relative_error);
    return format;
  }
  /// A value that it descales is rounded once, as coarsely as it declares.
  float value_of(float value) const {
    if (accuracy_.value_relative_error == 0) return in(value);
    Format format = kF32;
    format.unit_roundoff = std::max(format.unit_roundoff, accuracy_.value_relative_error);
    return out(round_to(format, in(value), Overflow::saturate));
  }

  /// exp of the distance from `from` to `to`.
  float rescale(float from, float to) const {
    if (folded()) return out(std::exp2(out((from - to) * folded_factor())));
    return out(std::exp(out(from - to)));
  }
  float weight(float score) const {
    if (!folded()) return out(std::exp(out(score - max_)));
    const float shift = max_ * folded_factor();
    return out(std::exp2(std::fma(score, folded_factor(), -shift)));
  }

  void raise(float candidate) {
    const double lag = accuracy_.lag_log2 * std::numbers::ln2;
    const double rise = static_cast<double>(candidate - max_) *
                        (folded() ? static_cast<double>(row_.inputs.scale) : 1);
    if (!(rise > lag)) return;
    if (sum_ != 0) {
      const float factor = rescale(max_, candidate);
      sum_ = out(sum_ * factor);
      for (float& numerator : numerator_) numerator = out(numerator * factor);
    }
    max_ = candidate;
  }

  void absorb(std::size_t begin, std::size_t end) {
    std::vector<float> scores;
    for (std::size_t key = begin; key < end; ++key) scores.push_back(score(key));
    raise(*std::max_element(scores.begin(), scores.end()));
    for (std::size_t key = begin; key < end; ++key) {
      const float exact = weight(scores[key - begin]);
      float rounded = exact;
      float offset = 1;
      if (accuracy_.weight_cast) {
        offset = std::ldexp(1.0F, accuracy_.weight_cast->offset_log2);
        rounded = round_to(accuracy_.weight_cast->format, exact * offset, Overflow::saturate);
      }
      const bool sum_of_rounded = accuracy_.weight_cast && accuracy_.weight_cast->sum_of_rounded;
      sum_ = out(sum_ + (sum_of_rounded ? rounded / offset : exact));
      for (std::size_t c = 0; c < numerator_.size(); ++c)
        numerator_[c] = out(numerator_[c] + out(rounded * value_of(row_.inputs.value(key)[c])));
    }
  }

  float lse() const {
    if (!folded()) return out(max_ + std::log(sum_));
    return (max_ * folded_factor() + std::log2(sum_)) * std::numbers::ln2_v<float>;
  }

  const VariantRow& row_;
  DeclaredAccuracy accuracy_;
  std::size_t tile_kv_;
  float max_ = RowSummary<float>::minus_infinity;
  float sum_ = 0;
  std::vector<float> numerator_;
};

}  // namespace attest
