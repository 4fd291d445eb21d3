// How outputs and weights are rounded, told by numbers whose bits are known.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "attest/narrow_float.hpp"
#include "attest/random.hpp"
#include "probe/experiments.hpp"
#include "probe/hypothesis.hpp"
#include "probe/literal.hpp"

namespace attest::probe {
namespace {

using properties::Outputs;

struct Narrow {
  const char* name;
  Format format;
};
constexpr std::array kNarrow{Narrow{"bf16", kBf16}, Narrow{"f16", kF16},
                             Narrow{"tf32", {0x1p-11, 0x1p-126, 0x1p-137, 0x1.ffcp127}},
                             Narrow{"e4m3", kE4m3}, Narrow{"e5m2", kE5m2}};

/// Arithmetic in f32 may be off by this much, relative to the magnitude of the terms.
constexpr double kOfFloat = 0x1p-17;

double cut_to(const Format& format, double value) {
  const double nearest = round_to(format, value, Overflow::saturate);
  if (std::abs(nearest) <= std::abs(value)) return nearest;
  // One spacing back towards zero: values here are normal.
  int exponent = 0;
  std::frexp(value, &exponent);
  const double spacing =
      std::max(std::ldexp(2 * format.unit_roundoff, exponent - 1), 2 * format.rounding_underflow);
  return round_to(format, nearest - std::copysign(spacing, value), Overflow::saturate);
}

/// How a number is rounded on its way.
struct Rounding {
  std::string name;  ///< "rounded to bf16"
  std::optional<Format> format;
  bool cut = false;
  int offset_log2 = 0;

  double operator()(double value) const {
    if (!format) return value;
    const double scaled = std::ldexp(value, offset_log2);
    const double rounded =
        cut ? cut_to(*format, scaled) : round_to(*format, scaled, Overflow::saturate);
    return std::ldexp(rounded, -offset_log2);
  }
};

std::vector<Rounding> roundings(bool with_offsets) {
  std::vector<Rounding> all{{"not rounded", std::nullopt}};
  for (const Narrow& narrow : kNarrow)
    for (const bool cut : {false, true}) {
      const std::string name = (cut ? "cut to " : "rounded to ") + std::string(narrow.name);
      all.push_back({name, narrow.format, cut, 0});
      if (with_offsets && narrow.format.unit_roundoff >= kE4m3.unit_roundoff)
        all.push_back({name, narrow.format, cut, 8});
    }
  return all;
}

/// The format as a bound takes it: cutting errs twice as much as rounding.
Format bounding(const Rounding& rounding) {
  Format format = *rounding.format;
  if (rounding.cut) format.unit_roundoff *= 2;
  return format;
}

/// Largest error / tolerance over the numbers of an experiment.
class Fitting {
 public:
  void add(double got, double want, double tolerance) {
    const double error = std::abs(got - want);
    worst_ = std::max(worst_, error >= 0 ? error / tolerance : kClearMargin * 1e9);
    ++numbers_;
  }
  bool fits() const { return numbers_ > 0 && worst_ <= 1; }
  bool refused() const { return worst_ > kClearMargin; }

 private:
  double worst_ = 0;
  Index numbers_ = 0;
};

/// The means of four values, whose sum has 22 bits and is exact in any order.
Finding outputs_as_written(const Subject& subject, std::optional<Rounding>& told) {
  const std::string name = "output";
  constexpr Index kColumns = 24;
  Finding finding = cannot_tell(name, "");
  std::vector<Rounding> candidates;
  for (const Rounding& one : roundings(false))
    if (!one.format || one.format->unit_roundoff <= kBf16.unit_roundoff) candidates.push_back(one);
  for (const std::uint64_t seed : {1, 2}) {
    SplitMix64 random(seed);
    const auto made = literal(subject, "1x1:1x4:1/24 TYPE LSE",
                              {{}, {}, [&](Index, Index, Index key, Index) {
                                 constexpr std::array kLowest{-2, -9, -16, -20};
                                 const double odd = static_cast<double>(4 + random.below(4));
                                 return std::ldexp(odd, kLowest[static_cast<std::size_t>(key)]);
                               }});
    if (!made.ok()) return cannot_tell(name, made.status());
    const Case& on = made.value();
    finding.experiments.push_back(line_of(on));
    const Outputs got = subject.outputs(on);
    if (!got.status.ok()) return cannot_tell(name, got.status);
    std::vector<Fitting> fitted(candidates.size());
    for (Index c = 0; c < kColumns; ++c) {
      double mean = 0;
      for (Index key = 0; key < 4; ++key) mean += on.v.get(0, 0, key, c) / 4;
      for (std::size_t i = 0; i < candidates.size(); ++i)
        fitted[i].add(got.at({0, 0, 0}, c), candidates[i](mean), mean * kOfFloat);
    }
    std::optional<Rounding> only;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (fitted[i].refused()) continue;
      finding.reason = only ? "two roundings look the same here" : "";
      if (only) return finding;
      if (fitted[i].fits()) only = candidates[i];
    }
    if (!only || (told && told->name != only->name)) {
      finding.reason = "means of four values are not what any rounding makes of them";
      told.reset();
      return finding;
    }
    told = only;
  }
  finding.value = told->name;
  finding.sureness = Sureness::certain;
  finding.reason = "48 means whose exact value has 22 bits";
  return finding;
}

/// Scores of two keys beside a maximum of 0: eight bits each, exact in every type.
struct TwoScores {
  double first = 0, second = 0;
};

constexpr Index kRows = 40;

std::vector<TwoScores> scores(std::uint64_t seed) {
  SplitMix64 random(seed);
  std::vector<TwoScores> all;
  for (Index row = 0; row < kRows; ++row) {
    const int exponent = static_cast<int>(random.below(10)) - 3;
    const double apart = static_cast<double>(1 + random.below(24));
    const double first = 128 + static_cast<double>(random.below(100));
    all.push_back({-std::ldexp(first, -7 - exponent), -std::ldexp(first + apart, -7 - exponent)});
  }
  return all;
}

struct WeightsCandidate {
  Rounding rounding;
  bool sum_of_rounded = false;
};

/// out = (w1 - w2) / (1 + w1 + w2), in which the roundings of w1 and w2 stand out.
std::optional<std::string> fit_weights(const Subject& subject, std::uint64_t seed,
                                       const std::vector<WeightsCandidate>& candidates,
                                       std::vector<Fitting>& fitted, Finding& finding) {
  const std::vector<TwoScores> of_rows = scores(seed);
  const auto made = literal(
      subject, "1x1:40x3:2/1 TYPE LSE scale=1",
      {[&](Index, Index, Index row, Index c) {
         const TwoScores& two = of_rows[static_cast<std::size_t>(row)];
         return c == 0 ? two.first : two.second;
       },
       [](Index, Index, Index key, Index c) { return key == c + 1 ? 1.0 : 0.0; },
       [](Index, Index, Index key, Index) { return key == 0   ? 0.0
                                                   : key == 1 ? 1.0
                                                              : -1.0; }});
  if (!made.ok()) return made.status().message();
  finding.experiments.push_back(line_of(made.value()));
  const Outputs got = subject.outputs(made.value());
  if (!got.status.ok()) return got.status.message();
  const Problem& problem = made.value().problem;
  const Format written = subject.arithmetic().output.value_or(format_of(problem.out_dtype()));
  for (Index row = 0; row < kRows; ++row) {
    const TwoScores& two = of_rows[static_cast<std::size_t>(row)];
    const double first = std::exp(two.first), second = std::exp(two.second);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const WeightsCandidate& one = candidates[i];
      const double a = one.rounding(first), b = one.rounding(second);
      const double sum = one.sum_of_rounded ? 1 + a + b : 1 + first + second;
      const double want = (a - b) / sum;
      const double of_sums = kOfFloat * (first + second) / sum;
      const double tolerance =
          of_sums + (std::abs(want) + of_sums) * written.unit_roundoff + written.rounding_underflow;
      // exp may lie on the other side of a rounding point.
      const double at = one.rounding(first * (1 - kOfFloat / 4));
      const double behind = one.rounding(first * (1 + kOfFloat / 4));
      const double at2 = one.rounding(second * (1 - kOfFloat / 4));
      const double behind2 = one.rounding(second * (1 + kOfFloat / 4));
      const bool on_the_edge = one.rounding.format && (at != behind || at2 != behind2);
      if (!on_the_edge) fitted[i].add(got.at({0, 0, row}, 0), want, tolerance);
    }
  }
  return std::nullopt;
}

bool all_same(const std::vector<WeightsCandidate>& left, auto&& property) {
  return std::all_of(left.begin(), left.end(), [&](const WeightsCandidate& one) {
    return property(one) == property(left.front());
  });
}

std::string said(const std::vector<WeightsCandidate>& fitting) {
  const WeightsCandidate& first = fitting.front();
  std::string value = first.rounding.name;
  if (!first.rounding.format) return value;
  if (first.rounding.format->unit_roundoff >= kE4m3.unit_roundoff &&
      all_same(fitting, [](const auto& one) { return one.rounding.offset_log2; }) &&
      first.rounding.offset_log2 != 0)
    value += " after a factor of 2^8";
  if (all_same(fitting, [](const auto& one) { return one.sum_of_rounded; }))
    value += first.sum_of_rounded ? ", row_sum adds them rounded" : ", row_sum adds them unrounded";
  return value;
}

Finding weights_before_v(Subject& subject) {
  Finding finding = cannot_tell("weights before they multiply v", "");
  std::vector<WeightsCandidate> candidates;
  for (const Rounding& rounding : roundings(true)) {
    candidates.push_back({rounding, false});
    if (rounding.format) candidates.push_back({rounding, true});
  }
  std::vector<Fitting> fitted(candidates.size());
  for (const std::uint64_t seed : {1, 2})
    if (auto why = fit_weights(subject, seed, candidates, fitted, finding)) {
      finding.reason = *why;
      return finding;
    }
  std::vector<WeightsCandidate> fitting;
  bool one_fits = false;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (fitted[i].refused()) continue;
    fitting.push_back(candidates[i]);
    one_fits = one_fits || fitted[i].fits();
  }
  if (!one_fits) {
    finding.reason = "differences of two weights are not what any rounding makes of them";
    return finding;
  }
  if (!all_same(fitting, [](const auto& one) { return one.rounding.name; })) {
    finding.reason = "'" + fitting.front().rounding.name + "' and '" +
                     fitting.back().rounding.name + "' look the same in this output";
    return finding;
  }
  const Rounding& rounding = fitting.front().rounding;
  finding.value = said(fitting);
  finding.sureness = Sureness::certain;
  finding.reason = "differences of two weights, 80 rows; every other rounding is refused";
  subject.arithmetic().weights_known = true;
  subject.arithmetic().sum_known =
      all_same(fitting, [](const auto& one) { return one.sum_of_rounded; });
  if (rounding.format)
    subject.arithmetic().weights =
        WeightCast{bounding(rounding), rounding.offset_log2,
                   subject.arithmetic().sum_known && fitting.front().sum_of_rounded};
  return finding;
}

}  // namespace

void probe_arithmetic(Subject& subject, Found& found) {
  if (is_fp8(subject.dtype())) {
    found.push_back(cannot_tell("output", "the kernel takes no wider type than fp8"));
    return;
  }
  if (compute_dtype(subject.dtype()) == subject.dtype()) {
    std::optional<Rounding> told;
    found.push_back(outputs_as_written(subject, told));
    if (told && told->format) subject.arithmetic().output = bounding(*told);
  }
  found.push_back(weights_before_v(subject));
}

}  // namespace attest::probe
