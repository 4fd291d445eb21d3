// What a probe says of kernels whose conventions are known: it names what is unusual, and says
// nothing that is wrong of anything else.
#include "probe/probe.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "attest/problem_text.hpp"
#include "kernels/registry.hpp"
#include "mutants/correct_kernels.hpp"
#include "mutants/mutants.hpp"
#include "probe/test_variants.hpp"

namespace attest::probe {
namespace {

using testing::HasSubstr;
using Values = std::vector<std::string>;
/// What may be said of each finding. A name stands for those that begin with it, too.
using Truths = std::map<std::string, Values>;

/// What is true of a kernel that does as it is asked.
Truths usual() {
  return {{"lse base", {"e"}},
          {"lse base, 2 asked", {"2"}},
          {"empty row, out", {"0"}},
          {"empty row, lse", {"-inf"}},
          {"causal, bottom-right asked", {"bottom-right"}},
          {"causal, top-left asked", {"top-left"}},
          {"causal, bottom-right asked, key lengths", {"corner of each member's own length"}},
          {"window", {"inclusive, self not counted"}},
          {"window in a causal mask", {"inclusive, self not counted"}},
          {"first tokens of a window", {"kept where the left limit drops them"}},
          {"kv head of query head h", {"h / (heads_q / heads_kv)"}},
          {"scale, none asked", {"1 / sqrt(head_dim)"}},
          {"scale, 0.75 asked", {"as asked"}},
          {"softcap", {"after the scale"}},
          {"softcap and bias, softcap first asked", {"softcap before bias"}},
          {"softcap and bias, bias first asked", {"bias before softcap"}},
          {"alibi=abs:br", {"-slope |p - j|, p from bottom-right"}},
          {"alibi=abs:tl", {"-slope |p - j|, p from top-left"}},
          {"alibi=rel:br", {"-slope (p - j), p from bottom-right"}},
          {"alibi=col:br", {"column form: +slope j"}},
          {"sink", {"in the denominator, counted in the lse"}},
          {"sink, not in the lse asked", {"in the denominator, not in the lse"}},
          {"score of an excluded key", {"none, or below -1.329228e+36"}},
          {"excluded k = NaN or inf", {"does not leak"}},
          {"excluded v = NaN or inf", {"does not leak"}},
          {"stale rows", {"all rows written"}}};
}

const std::string kChain = "one key after the other, first to last";
const std::string kNoStep = "no step in 272 keys";
const std::string kNoLag = "none above 1: it rises at once, or is known beforehand";

std::string weights_of(const std::optional<WeightCast>& cast) {
  if (!cast) return "not rounded";
  std::string value = "rounded to bf16";
  if (cast->format == kF16) value = "rounded to f16";
  if (cast->format == kE4m3) value = "rounded to e4m3";
  if (cast->format == kE5m2) value = "rounded to e5m2";
  if (cast->offset_log2 != 0) value += " after a factor of 2^8";
  return value +
         (cast->sum_of_rounded ? ", row_sum adds them rounded" : ", row_sum adds them unrounded");
}

/// What the declaration of a kernel that is right says of its arithmetic.
void add_arithmetic(const Kernel& kernel, Truths& truths) {
  Problem problem;
  problem.seq_kv = 272;
  const DeclaredAccuracy declared = kernel.accuracy(problem);
  truths["output"] = {declared.output_format ? "rounded to bf16" : "not rounded"};
  const std::string weights = weights_of(declared.weight_cast);
  // Beside rounded outputs the sum cannot be told.
  truths["weights before they multiply v"] = {weights, weights.substr(0, weights.find(','))};
  truths["sums over keys"] = {"24 bits (f32)"};
  if (declared.format == kF64) truths["sums over keys"] = {"53 bits (f64)"};
  if (declared.grid_bits > 0)
    truths["sums over keys"] = {std::to_string(declared.grid_bits) +
                                " bits below the largest term, in any order (a grid)"};
  truths["order of the sums"] = {kChain};
  truths["kv tile"] = {"as the call asks"};
  if (declared.scope == SummaryScope::row) truths["kv tile"] = {kNoStep};
  if (declared.scope == SummaryScope::tile && !declared.own_tiling)
    truths["order of the sums"] = {
        "tiles of 8 keys, each a chain, added one after the other where tile=8 is asked"};
  if (declared.own_tiling)
    truths["kv tile"] = {std::to_string(declared.own_tiling->tile_kv) + " keys"};
  truths["lag of the maximum"] = {kNoLag};
  if (declared.lag_log2 == 8) truths["lag of the maximum"] = {"between 7.75 and 8.25 log2 units"};
}

const Values* known(const Truths& truths, const std::string& name) {
  const Values* longest = nullptr;
  std::size_t length = 0;
  for (const auto& [known_name, values] : truths)
    if (name.rfind(known_name, 0) == 0 && known_name.size() >= length &&
        (name.size() == known_name.size() || name[known_name.size()] == ','))
      longest = &values, length = known_name.size();
  return longest;
}

void expect_nothing_wrong(const Findings& said, const Truths& truths) {
  for (const Finding& one : said.findings) {
    if (one.sureness == Sureness::cannot_tell) {
      EXPECT_EQ(one.value, "") << one.name;
      EXPECT_NE(one.reason, "") << one.name;
      continue;
    }
    EXPECT_FALSE(one.experiments.empty()) << one.name;
    const Values* const values = known(truths, one.name);
    if (values == nullptr) {
      ADD_FAILURE() << "nothing is known of '" << one.name << "': " << one.value;
      continue;
    }
    EXPECT_NE(std::find(values->begin(), values->end(), one.value), values->end())
        << one.name << ": '" << one.value << "', " << one.reason;
  }
}

const Finding* find(const Findings& said, const std::string& name) {
  for (const Finding& one : said.findings)
    if (one.name == name) return &one;
  return nullptr;
}

/// A kernel, and what is unusual: the first `must` of them have to be told.
struct Row {
  std::string kernel;
  std::vector<std::pair<std::string, std::string>> must;
  Truths may = {};  ///< true as well, and may be told
};

std::vector<Row> table() {
  const std::string any_key = "a finite number above -1.329228e+36";
  return {
      {"mutant:lse_in_base_two",
       {{"lse base", "2"}, {"causal, bottom-right asked", "bottom-right"}}},
      {"mutant:lse_is_row_max", {{"lse base", "the maximum alone"}}},
      {"mutant:lse_times_ln_two", {{"lse base", "e, times ln 2 once more"}}},
      {"mutant:natural_for_base_two", {{"lse base, 2 asked", "e"}}},
      {"mutant:top_left_instead_of_bottom_right",
       {{"causal, bottom-right asked", "top-left"},
        {"causal, bottom-right asked, key lengths", "top-left"}}},
      {"mutant:bottom_right_of_padded_length",
       {{"causal, bottom-right asked, key lengths", "corner of the longest length"}}},
      {"mutant:causal_one_too_many",
       {{"causal, bottom-right asked", "bottom-right, 1 key more"},
        {"causal, top-left asked", "top-left, 1 key more"}}},
      {"mutant:window_left_exclusive",
       {{"window", "left limit counts the query itself"},
        {"window in a causal mask", "left limit counts the query itself"}}},
      {"mutant:window_right_exclusive", {{"window", "right limit counts the query itself"}}},
      {"mutant:window_from_top_left",
       {{"window", "inclusive, self not counted, from the top-left corner"}}},
      {"mutant:forgets_first_tokens", {{"first tokens of a window", "dropped"}}},
      {"mutant:keeps_beyond_the_right_limit",
       {{"first tokens of a window", "kept beyond the right limit, too"}}},
      {"mutant:head_map_modulo", {{"kv head of query head h", "h mod heads_kv"}}},
      {"mutant:decode_maps_heads_modulo",
       {{"kv head of query head h, one query", "h mod heads_kv"},
        {"kv head of query head h, several queries", "h / (heads_q / heads_kv)"}}},
      {"mutant:fully_masked_row_gives_mean",
       {{"empty row, out, by bits", "mean of v"}},
       {{"empty row, out, by key lengths", {"NaN"}}, {"empty row, out", {"mean of v"}}}},
      {"mutant:fully_masked_row_gives_nan", {{"empty row, out", "NaN"}}},
      {"mutant:empty_lse_is_plus_infinity", {{"empty row, lse", "+inf"}}},
      {"mutant:empty_lse_is_zero", {{"empty row, lse", "the number 0"}}},
      {"mutant:empty_slot_not_written",
       {{"stale rows", "out and lse of rows without keys not written"},
        {"empty row, out", "not written"},
        {"empty row, lse", "not written"}}},
      {"mutant:masks_with_minus_1e9",
       {{"score of an excluded key", any_key}, {"excluded v = NaN or inf", "NaN and inf LEAK"}},
       {{"empty row, out", {"mean of v", "NaN"}},
        {"empty row, lse", {"the number -1000000000", "the number -1e9", "the number -1e+09"}}}},
      {"mutant:excluded_keys_weigh_zero",
       {{"excluded v = NaN or inf", "NaN and inf LEAK"}},
       {{"empty row, out, by key lengths", {"0", "NaN"}}}},
      {"mutant:softcap_before_everything",
       {{"softcap and bias, bias first asked", "softcap before bias"}}},
      {"mutant:alibi_favours_the_far",
       {{"alibi=abs:br", "-slope |p - j|, p from bottom-right, slopes of the other sign"}},
       {{"alibi=abs:tl", {"-slope |p - j|, p from top-left, slopes of the other sign"}},
        {"alibi=rel:br", {"-slope (p - j), p from bottom-right, slopes of the other sign"}},
        {"alibi=col:br", {"column form: +slope j, slopes of the other sign"}}}},
      {"mutant:relative_alibi_as_column", {{"alibi=rel:br", "column form: +slope j"}}},
      {"mutant:alibi_from_top_left",
       {{"alibi=abs:br", "-slope |p - j|, p from top-left"}},
       {{"alibi=rel:br", {"-slope (p - j), p from top-left"}}}},
      {"mutant:sink_ignored", {{"sink", "left out"}, {"sink, not in the lse asked", "left out"}}},
      {"mutant:sink_of_decode_only",
       {{"sink, several queries", "left out"},
        {"sink, one query", "in the denominator, counted in the lse"}},
       {{"sink, not in the lse asked, several queries", {"left out"}}}},
      {"mutant:sink_never_in_lse", {{"sink", "in the denominator, not in the lse"}}},
      {"mutant:sink_of_the_next_head",
       {{"sink", "that of the next head"}},
       {{"sink, not in the lse asked", {"that of the next head"}}}},
      {"mutant:forgets_the_scale",
       {{"scale, none asked", "none"}, {"scale, 0.75 asked", "none, whatever is asked"}}},
      {"mutant:output_rounded_to_eight_bits", {{"output", "rounded to bf16"}}},
      {"mutant:declares_less_weight_cast",
       {{"weights before they multiply v", "rounded to bf16, row_sum adds them unrounded"}}},
  };
}

TEST(ProbeTable, NamesWhatIsUnusualAndNothingWrong) {
  int named = 0;
  for (const Row& row : table()) {
    SCOPED_TRACE(row.kernel);
    const mutants::Mutant* const mutant = mutants::find(row.kernel);
    ASSERT_NE(mutant, nullptr);
    const Findings said = probe_kernel(*mutant->kernel);
    Truths truths = usual();
    add_arithmetic(*mutant->kernel, truths);
    for (const auto& [name, values] : row.may) truths[name] = values;
    for (const auto& [name, value] : row.must) truths[name] = {value};
    expect_nothing_wrong(said, truths);
    for (const auto& [name, value] : row.must) {
      const Finding* const one = find(said, name);
      EXPECT_NE(one, nullptr) << name;
      if (one == nullptr) continue;
      EXPECT_EQ(one->value, value) << name << ": " << one->reason;
    }
    ++named;
  }
  EXPECT_GE(named, 30);
}

/// What has to be told of a correct kernel, where it can be called so.
const Values kAlwaysTold{"lse base",          "empty row, out",          "empty row, lse",
                         "scale, 0.75 asked", "excluded k = NaN or inf", "stale rows"};

void expect_usual(const Kernel& kernel) {
  SCOPED_TRACE(kernel.description().name);
  const Findings said = probe_kernel(kernel);
  Truths truths = usual();
  add_arithmetic(kernel, truths);
  expect_nothing_wrong(said, truths);
  for (const std::string& name : kAlwaysTold) {
    const Finding* const one = find(said, name);
    ASSERT_NE(one, nullptr) << name;
    EXPECT_EQ(one->sureness, Sureness::certain) << name << ": " << one->reason;
  }
}

TEST(Probe, SaysNothingWrongOfBuiltInKernels) {
  for (const auto& kernel : kernels::builtin_kernels()) expect_usual(*kernel);
}

TEST(Probe, TellsTheArithmeticOfBuiltInKernels) {
  const auto told = [](const char* kernel, const char* name) {
    const Findings said = probe_kernel(*kernels::find_builtin(kernel));
    const Finding* const one = find(said, name);
    return one == nullptr ? "" : one->value;
  };
  const char* const weights = "weights before they multiply v";
  EXPECT_EQ(told("builtin:flash_bf16p", weights), "rounded to bf16, row_sum adds them unrounded");
  EXPECT_EQ(told("builtin:flash_bf16p_sum", weights), "rounded to bf16, row_sum adds them rounded");
  // Their roundings are too fine for the sum to be told within the margin.
  EXPECT_EQ(told("builtin:flash_f16p", weights), "rounded to f16");
  EXPECT_EQ(told("builtin:flash_e4m3p", weights),
            "rounded to e4m3 after a factor of 2^8, row_sum adds them unrounded");
  EXPECT_EQ(told("builtin:flash_e5m2p", weights),
            "rounded to e5m2 after a factor of 2^8, row_sum adds them unrounded");
  EXPECT_EQ(told("builtin:flash_lazy", "lag of the maximum"), "between 7.75 and 8.25 log2 units");
  EXPECT_EQ(told("builtin:flash_bf16out", "output"), "rounded to bf16");
  EXPECT_EQ(told("builtin:scalar_sequential", "kv tile"), "as the call asks");
  EXPECT_EQ(told("builtin:flash_e4m3p", "kv tile"), "as the call asks");
  EXPECT_EQ(told("builtin:textbook", "kv tile"), kNoStep);
}

TEST(Probe, SaysNothingWrongOfUnusualCorrectKernels) {
  for (const auto& kernel : mutants::correct_kernels()) {
    SCOPED_TRACE(kernel->description().name);
    Truths truths = usual();
    const Findings said = probe_kernel(*kernel);
    // Their arithmetic is unusual, and looked at elsewhere.
    Findings of_conventions = said;
    std::erase_if(of_conventions.findings,
                  [&](const Finding& one) { return known(truths, one.name) == nullptr; });
    // Of the kernel that rounds v to 8 bits not more can be told.
    EXPECT_GE(
        std::count_if(of_conventions.findings.begin(), of_conventions.findings.end(),
                      [](const Finding& one) { return one.sureness != Sureness::cannot_tell; }),
        8);
    expect_nothing_wrong(of_conventions, truths);
  }
}

std::string told(const Kernel& kernel, const std::string& name) {
  const Findings said = probe_kernel(kernel);
  const Finding* const one = find(said, name);
  return one == nullptr ? "" : one->value;
}

TEST(Probe, NamesOrdersOfSums) {
  EXPECT_EQ(told(SumsInOrder(in_pairs), "order of the sums"), "in pairs of neighbours");
  EXPECT_EQ(told(SumsInOrder(from_the_last), "order of the sums"),
            "one key after the other, last to first");
  EXPECT_EQ(told(SumsInOrder(in_four_lanes), "order of the sums"),
            "4 lanes of keys 4 apart, added by halves");
  EXPECT_EQ(told(SumsInOrder(in_double), "sums over keys"), "53 bits (f64)");
}

TEST(Probe, NamesConventionsThatNoMutantHas) {
  EXPECT_EQ(told(*changes(softcap_before_scale, {Feature::softcap}), "softcap"),
            "before the scale");
  EXPECT_EQ(told(*changes(plain_relative_alibi, {Feature::alibi}), "alibi=col:br"),
            "-slope (p - j), p from bottom-right");
  EXPECT_EQ(told(*changes(bottom_right_always, {}), "causal, top-left asked"), "bottom-right");
}

TEST(Probe, SuggestsAProblemInTheConventionsOfTheKernel) {
  const Findings said =
      probe_kernel(*mutants::find("mutant:top_left_instead_of_bottom_right")->kernel);
  EXPECT_THAT(said.suggested, HasSubstr("mask=causal:tl"));
  EXPECT_THAT(said.suggested, HasSubstr("lse=ln"));
  ProblemText text;
  TextError error;
  EXPECT_TRUE(parse_problem_text(said.suggested, text, error)) << error.message;
  EXPECT_THAT(probe_kernel(*mutants::find("mutant:lse_in_base_two")->kernel).suggested,
              HasSubstr("lse=log2"));
}

TEST(Probe, ExperimentsAreLinesThatCanBeReplayed) {
  const Findings said = probe_kernel(*kernels::find_builtin("builtin:scalar_tree"));
  Index lines = 0;
  for (const Finding& one : said.findings)
    for (const std::string& line : one.experiments) {
      ProblemText text;
      TextError error;
      EXPECT_TRUE(parse_problem_text(line, text, error)) << one.name << ": " << error.message;
      ++lines;
    }
  EXPECT_GT(lines, 60);
}

TEST(Probe, TakesAnErrorForAnAnswerOfThatExperimentAlone) {
  for (const bool throws : {false, true}) {
    const Findings said = probe_kernel(Fails(throws));
    const Finding* const causal = find(said, "causal, bottom-right asked");
    ASSERT_NE(causal, nullptr);
    EXPECT_EQ(causal->sureness, Sureness::cannot_tell);
    EXPECT_FALSE(causal->not_declared);
    EXPECT_THAT(causal->reason, HasSubstr(throws ? "out of luck" : "exit code 139"));
    EXPECT_EQ(find(said, "lse base")->value, "e");
  }
}

TEST(Probe, SaysThatNoCallSucceeds) {
  const Findings said = probe_kernel(TakesNothing());
  ASSERT_EQ(said.findings.size(), 1U);
  EXPECT_EQ(said.findings.front().sureness, Sureness::cannot_tell);
  EXPECT_EQ(said.findings.front().reason, "no device");
  EXPECT_EQ(said.suggested, "");
}

TEST(Probe, SaysWhatIsNotDeclared) {
  const Findings said = probe_kernel(*kernels::find_builtin("builtin:eigen_materialised"));
  const Finding* const softcap = find(said, "softcap");
  ASSERT_NE(softcap, nullptr);
  EXPECT_TRUE(softcap->not_declared);
  EXPECT_EQ(softcap->value, "");
}

}  // namespace
}  // namespace attest::probe
