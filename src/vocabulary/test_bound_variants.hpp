// Variants of kernels for the tests of their bounds: what each declares, what it would leave out if
// it declared less, and rows on which that shows.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "attest/random.hpp"
#include "test_variant_kernels.hpp"

namespace attest {

struct Variant {
  std::string name;
  std::function<void(DeclaredAccuracy&)> declare;     ///< beside f32, natural exp, one division
  std::function<void(DeclaredAccuracy&)> understate;  ///< what a kernel that declares less says
  bool softcap = false;
  int addends = 0;
  bool sink = false;
  bool tiny_values = false;  ///< understating shows on values near the end of the range only
  double stand_in = 0;       ///< added to some keys instead of a mask
};

inline WeightCast cast_to(const Format& format, int offset_log2, bool sum_of_rounded) {
  return {format, offset_log2, sum_of_rounded};
}

inline Variant weights(const std::string& name, const WeightCast& cast) {
  return {name, [cast](DeclaredAccuracy& accuracy) { accuracy.weight_cast = cast; },
          [](DeclaredAccuracy& accuracy) { accuracy.weight_cast.reset(); }};
}

inline void flush(DeclaredAccuracy& accuracy, Underflow underflow) {
  accuracy.underflow = underflow;
  accuracy.exp_absolute_error = accuracy.format.min_normal;
}

inline std::vector<Variant> variants() {
  std::vector<Variant> list{
      weights("weights in bf16", cast_to(kBf16, 0, false)),
      weights("weights in bf16, summed rounded", cast_to(kBf16, 0, true)),
      weights("weights in f16", cast_to(kF16, 0, false)),
      weights("weights in e4m3, offset 8", cast_to(kE4m3, 8, false)),
      weights("weights in e4m3, offset 8, summed rounded", cast_to(kE4m3, 8, true)),
      weights("weights in e5m2, offset 8", cast_to(kE5m2, 8, false)),
      weights("weights in e4m3, no offset", cast_to(kE4m3, 0, false)),
  };
  list.push_back({"folded base two",
                  [](DeclaredAccuracy& accuracy) { accuracy.exp_form = ExpForm::folded_base_two; },
                  [](DeclaredAccuracy& accuracy) { accuracy.exp_form = ExpForm::natural; }});
  list.push_back({"lag 8", [](DeclaredAccuracy& accuracy) { accuracy.lag_log2 = 8; }, nullptr});
  list.push_back({"lag 8 in bf16",
                  [](DeclaredAccuracy& accuracy) {
                    accuracy.lag_log2 = 8;
                    accuracy.weight_cast = cast_to(kBf16, 0, false);
                  },
                  [](DeclaredAccuracy& accuracy) { accuracy.weight_cast.reset(); }});
  list.push_back({"folded, lag 8",
                  [](DeclaredAccuracy& accuracy) {
                    accuracy.exp_form = ExpForm::folded_base_two;
                    accuracy.lag_log2 = 8;
                  },
                  nullptr});
  list.push_back(
      {"reciprocal", [](DeclaredAccuracy& accuracy) { accuracy.division_roundings = 2; }, nullptr});
  list.push_back({"output in bf16",
                  [](DeclaredAccuracy& accuracy) { accuracy.output_format = kBf16; },
                  [](DeclaredAccuracy& accuracy) { accuracy.output_format.reset(); }});
  list.push_back({"output in f16",
                  [](DeclaredAccuracy& accuracy) { accuracy.output_format = kF16; },
                  [](DeclaredAccuracy& accuracy) { accuracy.output_format.reset(); }});
  list.push_back({"scores in bf16", [](DeclaredAccuracy& accuracy) { accuracy.dot_format = kBf16; },
                  [](DeclaredAccuracy& accuracy) { accuracy.dot_format.reset(); }});
  list.push_back({"scaled query in bf16",
                  [](DeclaredAccuracy& accuracy) { accuracy.scaled_query_error = 0x1p-8; },
                  [](DeclaredAccuracy& accuracy) { accuracy.scaled_query_error = 0; }});
  list.push_back({"softcap",
                  [](DeclaredAccuracy& accuracy) {
                    accuracy.tanh_relative_error = 4 * accuracy.format.unit_roundoff;
                  },
                  nullptr, true});
  list.push_back({"bias", [](DeclaredAccuracy&) {}, nullptr, false, 1});
  list.push_back({"three addends", [](DeclaredAccuracy&) {}, nullptr, false, 3});
  const auto coarse_addends = [](DeclaredAccuracy& accuracy) {
    accuracy.tanh_relative_error = 4 * accuracy.format.unit_roundoff;
    accuracy.bias_relative_error = 0x1p-12;
  };
  const auto exact_addends = [](DeclaredAccuracy& accuracy) { accuracy.bias_relative_error = 0; };
  list.push_back({"coarse addends", coarse_addends, exact_addends, false, 3});
  list.push_back({"coarse addends around a softcap", coarse_addends, exact_addends, true, 4});
  for (const bool coarse : {false, true})
    list.push_back({coarse ? "values descaled to bf16" : "descaled values",
                    [coarse](DeclaredAccuracy& accuracy) {
                      accuracy.value_relative_error = coarse ? 0x1p-8 : 0x1p-12;
                    },
                    [](DeclaredAccuracy& accuracy) { accuracy.value_relative_error = 0; }});
  for (const double stand_in : {-1e4, -1e9, -1e30, -static_cast<double>(0x1.fffffep127F)})
    list.push_back({"masked by " + std::to_string(std::ilogb(stand_in)) + " bits",
                    [](DeclaredAccuracy&) {}, nullptr, false, 1, false, false, stand_in});
  list.push_back({"masked after a softcap",
                  [](DeclaredAccuracy& accuracy) {
                    accuracy.tanh_relative_error = 4 * accuracy.format.unit_roundoff;
                  },
                  nullptr, true, 4, true, false, -static_cast<double>(0x1.fffffep127F)});
  list.push_back({"descaled values, flushed results",
                  [](DeclaredAccuracy& accuracy) {
                    accuracy.value_relative_error = accuracy.format.unit_roundoff;
                    flush(accuracy, Underflow::flush_results);
                  },
                  nullptr, false, 0, false, true});
  list.push_back({"softcap, bias and sink",
                  [](DeclaredAccuracy& accuracy) {
                    accuracy.tanh_relative_error = 4 * accuracy.format.unit_roundoff;
                  },
                  nullptr, true, 4, true});
  list.push_back({"sink", [](DeclaredAccuracy&) {}, nullptr, false, 0, true});
  for (const Underflow underflow : {Underflow::flush_results, Underflow::flush_results_and_inputs})
    list.push_back({underflow == Underflow::flush_results ? "flushed results" : "flushed inputs",
                    [underflow](DeclaredAccuracy& accuracy) { flush(accuracy, underflow); },
                    [](DeclaredAccuracy& accuracy) {
                      accuracy.underflow = Underflow::gradual;
                      accuracy.exp_absolute_error = 0x1p-149;
                    },
                    false, 1, false, true});
  return list;
}

/// In [-1, 1).
inline double random_unit(SplitMix64& random) {
  return std::ldexp(static_cast<double>(random.next() >> 11), -52) - 1;
}

inline constexpr std::size_t kMostColumns = 9;
inline constexpr std::size_t kMostKeys = 40;

inline VariantRow random_row(const Variant& variant, SplitMix64& random) {
  VariantRow row;
  Inputs<float>& inputs = row.inputs;
  inputs.q.resize(1 + random.below(kMostColumns));
  const std::size_t keys = 1 + random.below(kMostKeys);
  inputs.columns = 3;
  inputs.k.resize(keys * inputs.q.size());
  inputs.v.resize(keys * inputs.columns);
  inputs.scale = static_cast<float>(std::abs(random_unit(random)) + 0.01);
  const int score_size = static_cast<int>(random.below(10)) - 3;
  const float offset = random.below(4) == 0 ? 64.0F : 0.0F;
  for (float& element : inputs.q)
    element = static_cast<float>(std::ldexp(random_unit(random), score_size));
  for (float& element : inputs.k) element = static_cast<float>(random_unit(random)) + offset;
  if (random.below(4) == 0) {  // ascending scores: the maximum rises in every tile
    for (std::size_t j = 0; j < keys; ++j)
      for (std::size_t c = 0; c < inputs.q.size(); ++c)
        inputs.k[j * inputs.q.size() + c] =
            std::copysign(static_cast<float>(j) / static_cast<float>(keys), inputs.q[c]);
  }
  const int value_size = variant.tiny_values ? -110 - static_cast<int>(random.below(39))
                                             : -static_cast<int>(random.below(3)) * 40;
  const double mean = random.below(3) == 0 ? 20 : 0;
  for (float& element : inputs.v)
    element = static_cast<float>(std::ldexp(random_unit(random) + mean, value_size));
  if (variant.softcap) row.softcap = static_cast<float>(1 + std::abs(random_unit(random)) * 30);
  for (int addend = 0; addend < variant.addends; ++addend) {
    ScoreAddend& added = row.addends.emplace_back();
    added.before_softcap = addend % 2 == 1;
    added.computed = addend < 2;
    for (std::size_t j = 0; j < keys; ++j)
      added.value.push_back(
          static_cast<double>(static_cast<float>(random_unit(random) * (addend == 2 ? 256 : 16))));
  }
  if (variant.stand_in != 0) {
    ScoreAddend& mask = row.addends.emplace_back();
    for (std::size_t j = 0; j < keys; ++j)
      mask.value.push_back(
          j % 3 != 1 && keys > 1 ? static_cast<double>(static_cast<float>(variant.stand_in)) : 0);
  }
  if (variant.sink) row.sink = static_cast<float>(random_unit(random) * 8);
  return row;
}

inline DeclaredAccuracy accuracy_of(const VariantRow& row) {
  DeclaredAccuracy accuracy = declared(row.inputs, SummaryScope::split);
  accuracy.dot_roundings += 1;
  return accuracy;
}

/// Largest share of its bound that an output or an lse of the row takes.
inline double worst_ratio(const RowBound& bound, const RowFacts& facts,
                          const NormalisedRow<float>& got) {
  double worst = 0;
  const auto add = [&](const Enclosure& want, float value, double limit) {
    const double ratio = want.distance_lower(static_cast<double>(value)) / limit;
    worst = std::isnan(ratio) ? kInfinity : std::max(worst, ratio);
  };
  add(facts.lse, got.lse, bound.lse);
  for (std::size_t c = 0; c < got.output.size(); ++c)
    add(facts.output[c], got.output[c], bound.output[c]);
  return worst;
}

}  // namespace attest
