#include "mutants/declared_mutants.hpp"

#include <string>
#include <utility>

#include "mutants/declared_kernels.hpp"

namespace attest::mutants {
namespace {

/// A value of 1 that is added first, and 63 that are too small to be added to it one by one; the
/// last key has no value and next to no weight, so that the output is not the mean of v.
std::string lost_addends() {
  std::string text = "1x1:1x65:1 f32 scale=1 tile=65 vals=lit:1;0";
  for (int key = 1; key < 64; ++key) text += ",0";
  text += ",-20;5.9e-8";
  for (int key = 1; key < 63; ++key) text += ",5.9e-8";
  return text + ",1,0";
}

/// Scores beside 2^-18, half an ulp of 64: seen from a maximum of -64 they are 2^-17 apart.
constexpr const char* kSeenFromFarBelow =
    "1x1:1x3:1 f32 scale=1 tile=1 vals=lit:1;-64,3.8e-6,3.83e-6;0,0,1";

class Pairs {
 public:
  template <template <class> class Steps>
  void add(std::string_view field, std::string_view truth, std::string_view caught_by,
           Declare honest, Declare too_little = as_computed, std::string case_text = {}) {
    add_kernel<DeclaringKernel<Steps>>(field, truth, caught_by, honest, too_little,
                                       std::move(case_text));
  }
  template <class Made>
  void add_kernel(std::string_view field, std::string_view truth, std::string_view caught_by,
                  Declare honest, Declare too_little, std::string case_text) {
    const auto make = [&](std::string_view name, std::string_view text, Declare declare) {
      return std::make_unique<Made>(description(name, text, field), declare);
    };
    pairs_.push_back({field, make("declares_its_", truth, honest),
                      make("declares_less_", truth, too_little), caught_by, std::move(case_text)});
  }
  void add(std::string_view field, std::string_view truth, std::string_view caught_by,
           const ChangedCall::Change& change, Declare honest, std::string case_text = {}) {
    const auto make = [&](std::string_view name, Declare declare) {
      return std::make_unique<ChangedCall>(description(name, truth, field), change, declare);
    };
    pairs_.push_back({field, make("declares_its_", honest), make("declares_less_", as_computed),
                      caught_by, std::move(case_text)});
  }
  std::vector<DeclaredPair> take() { return std::move(pairs_); }

 private:
  static KernelDescription description(std::string_view name, std::string_view truth,
                                       std::string_view field) {
    return describe(std::string(name) + std::string(field), truth);
  }
  std::vector<DeclaredPair> pairs_;
};

/// What is done to a score after its dot product. Cases as they are drawn have none of it.
void add_score_terms(Pairs& pairs) {
  // cap tanh(x / cap) grows with cap, at most in proportion.
  pairs.add(
      "tanh_relative_error", "the cap is larger by a factor 1 + 2^-12", "bound.lse",
      {.problem = [](Problem& problem) { problem.softcap *= 1 + 0x1p-12; }},
      [](DeclaredAccuracy& d) { d.tanh_relative_error += 0x1p-11; },
      "1x1:1x2:1 f32 scale=1 cap=2 lse=ln vals=lit:1;1,100;1,3");
  // And with x, at most in proportion: one more way to lose as many roundings.
  pairs.add(
      "softcap_roundings", "the argument of tanh is larger by a factor 1 + 2^-12", "bound.lse",
      {.problem =
           [](Problem& problem) {
             // What is added before the softcap would not be larger with the product.
             if (problem.softcap != 0 && problem.order == ScoreOrder{})
               problem.scale = {false, scale_value(problem) * (1 + 0x1p-12)};
           }},
      [](DeclaredAccuracy& d) {
        d.softcap_roundings += static_cast<Index>(0x1p-12 / d.format.unit_roundoff) + 1;
      },
      "1x1:1x2:1 f32 scale=1 cap=2 lse=ln vals=lit:1;1,1;1,3");
  pairs.add(
      "bias_relative_error", "ALiBi slopes are larger by a factor 1 + 2^-12", "bound.lse",
      {.problem =
           [](Problem& problem) {
             if (problem.alibi)
               for (double& slope : problem.alibi->slopes)
                 slope = static_cast<double>(static_cast<float>(slope * (1 + 0x1p-12)));
           }},
      [](DeclaredAccuracy& d) { d.bias_relative_error += 0x1p-12 + 0x1p-23; },
      "1x1:1x4:1 f32 alibi=col:br:1 lse=ln vals=lit:1;0,0,0,0;1,2,4,8");
}

}  // namespace

std::vector<DeclaredPair> declared_pairs() {
  Pairs pairs;
  pairs.add<ExpOfFourUlp>(
      "exp_relative_error", "exp is off by 4 ulp", "assume.exp_error",
      [](DeclaredAccuracy& d) { d.exp_relative_error = 12 * d.format.unit_roundoff; });
  pairs.add<ExpFlushes>("exp_absolute_error", "exp gives 0 below the normal range",
                        "assume.exp_error",
                        [](DeclaredAccuracy& d) { d.exp_absolute_error = d.format.min_normal; });
  pairs.add<LogOffByAFactor>("log_relative_error", "the logarithm is off by a factor 1 + 2^-18",
                             "assume.log_error",
                             [](DeclaredAccuracy& d) { d.log_relative_error = 0x1p-17; });
  pairs.add<LogOffByAConstant>("log_absolute_error", "the logarithm is off by 2^-18",
                               "assume.log_error",
                               [](DeclaredAccuracy& d) { d.log_absolute_error = 0x1p-17; });
  pairs.add<LongDivision>("division_roundings", "the division is off by 40 roundings", "bound.out",
                          [](DeclaredAccuracy& d) { d.division_roundings = 44; });
  pairs.add<FastReciprocal>("reciprocal_relative_error", "1 / row_sum is off by 2^-10", "bound.out",
                            [](DeclaredAccuracy& d) {
                              d.division_roundings = 3;
                              d.reciprocal_relative_error = 0x1p-10;
                            });
  // Two inputs of 11 bits: 2^-11 each, counted in roundings of the format.
  pairs.add("dot_roundings", "scores are made from q and k of 11 bits", "bound.lse",
            {.q_bits = 11, .k_bits = 11}, [](DeclaredAccuracy& d) {
              d.dot_roundings += static_cast<Index>(0x1p-10 / d.format.unit_roundoff) + 1;
            });
  pairs.add<DotInElevenBits>("dot_format", "products and sums of a score have 11 bits", "bound.lse",
                             [](DeclaredAccuracy& d) {
                               d.dot_format = d.format;
                               d.dot_format->unit_roundoff = 0x1p-11;
                             });
  pairs.add("scaled_query_error", "q is rounded to 8 bits", "bound.lse", {.q_bits = 8},
            [](DeclaredAccuracy& d) { d.scaled_query_error = 0x1p-8; });
  pairs.add("value_relative_error", "v is rounded to 8 bits", "bound.out", {.v_bits = 8},
            [](DeclaredAccuracy& d) { d.value_relative_error = 0x1p-8; });
  add_score_terms(pairs);
  pairs.add<SumsInFloat>("format", "sums of f64 are kept in f32", "bound.out",
                         [](DeclaredAccuracy& d) {
                           d.format = kF32;
                           d.exp_relative_error = 2 * kF32.unit_roundoff;
                           d.exp_absolute_error = 2 * kF32.rounding_underflow;
                           d.log_relative_error = 2 * kF32.unit_roundoff;
                         });
  pairs.add<BiasedExp>(
      "scope", "every rescale is off by 60 roundings", "bound.lse",
      [](DeclaredAccuracy& d) { d.exp_relative_error = 64 * d.format.unit_roundoff; },
      [](DeclaredAccuracy& d) {
        d.exp_relative_error = 64 * d.format.unit_roundoff;
        d.scope = SummaryScope::row;
      });
  pairs.add_kernel<IgnoresTiling>(
      "own_tiling", "keys are taken one by one, and every rescale is off by 60 roundings",
      "bound.lse",
      [](DeclaredAccuracy& d) {
        d.exp_relative_error = 64 * d.format.unit_roundoff;
        d.own_tiling = key_by_key();
      },
      [](DeclaredAccuracy& d) { d.exp_relative_error = 64 * d.format.unit_roundoff; },
      "1x1:1x9:1 f32 scale=1 tile=9 lse=ln vals=lit:1;-4,-3.5,-3,-2.5,-2,-1.5,-1,-0.5,0;"
      "1,1,1,1,1,1,1,1,1");
  pairs.add_kernel<IgnoresTiling>(
      "keys_of_a_part", "every key is a part, and every rescale is off by 60 roundings",
      "bound.lse",
      [](DeclaredAccuracy& d) {
        d.exp_relative_error = 64 * d.format.unit_roundoff;
        d.scope = SummaryScope::any;
      },
      [](DeclaredAccuracy& d) {
        d.exp_relative_error = 64 * d.format.unit_roundoff;
        d.scope = SummaryScope::any;
        d.keys_of_a_part = 9;
      },
      "1x1:1x9:1 f32 scale=1 tile=9 lse=ln vals=lit:1;-0.8,-0.7,-0.6,-0.5,-0.4,-0.3,-0.2,-0.1,0;"
      "1,1,1,1,1,1,1,1,1");
  pairs.add<TilesOfOneKey>(
      "longest_tile", "tiles have one key, and every rescale is off by 60 roundings", "bound.lse",
      [](DeclaredAccuracy& d) {
        d.exp_relative_error = 64 * d.format.unit_roundoff;
        d.longest_tile = 1;
      },
      [](DeclaredAccuracy& d) { d.exp_relative_error = 64 * d.format.unit_roundoff; },
      "1x1:1x9:1 f32 scale=1 tile=9 lse=ln vals=lit:1;-4,-3.5,-3,-2.5,-2,-1.5,-1,-0.5,0;"
      "1,1,1,1,1,1,1,1,1");
  pairs.add<CoarseGrid>("grid_bits", "numerators lack n^2 2^-20 times the largest value",
                        "bound.out", [](DeclaredAccuracy& d) { d.grid_bits = kCoarseGrid; });
  pairs.add<WeightsInEightBits>("weight_cast",
                                "weights are rounded to 8 bits before they multiply v", "bound.out",
                                [](DeclaredAccuracy& d) {
                                  d.weight_cast = WeightCast{kBf16, 0, false};
                                });
  pairs.add<FoldedExp>("exp_form", "weights are exp2(score log2 e - row_max log2 e)",
                       "assume.exp_of_zero",
                       [](DeclaredAccuracy& d) { d.exp_form = ExpForm::folded_base_two; });
  pairs.add<OutputInBf16>("output_format", "outputs are rounded to bf16", "bound.out",
                          [](DeclaredAccuracy& d) { d.output_format = kBf16; });
  pairs.add<FlushesResults>("underflow", "results below the normal range become 0",
                            "assume.gradual_underflow",
                            [](DeclaredAccuracy& d) { d.underflow = Underflow::flush_results; });
  pairs.add<ReversedSums>(
      "ordered_sums", "a tile is summed from its last key to its first", "bound.out",
      [](DeclaredAccuracy& d) { d.ordered_sums = false; }, as_computed, lost_addends());
  pairs.add<LaggingMaximum>(
      "lag_log2", "the maximum may lag by 2^100", "bound.out",
      [](DeclaredAccuracy& d) { d.lag_log2 = 100; }, as_computed, kSeenFromFarBelow);
  return pairs.take();
}

void append_declared_mutants(std::vector<Mutant>& mutants) {
  for (DeclaredPair& pair : declared_pairs())
    if (pair.case_text.empty()) mutants.push_back({std::move(pair.too_little), pair.caught_by});
  mutants.push_back({std::make_unique<DeclaringKernel<OutputCutToBf16>>(
                         describe("output_cut_to_bf16", "outputs of bf16 are cut, not rounded"),
                         [](DeclaredAccuracy& d) { d.output_format = kBf16; }),
                     "assume.nearest_even"});
}

}  // namespace attest::mutants
