// What a probe says of wrong kernels: it names what is unusual, and says nothing that is wrong of
// anything else.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "mutants/mutants.hpp"
#include "probe/test_findings.hpp"

namespace attest::probe {
namespace {

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
       {{"window", "inclusive, self not counted, from the top-left corner"},
        {"chunk", "of the query axis: p from top-left"},
        {"chunk, key lengths", "p from top-left"}}},
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
      {"mutant:prefix_one_longer", {{"prefix", "one token more"}}},
      {"mutant:chunks_of_the_key_axis",
       {{"chunk", "of the query axis: p from top-left"},
        {"chunk, key lengths", "p from top-left"},
        {"chunk in a causal mask", kChunk}}},
      {"mutant:chunk_corner_of_the_longest",
       {{"chunk, key lengths", "p from the corner of the longest length"}, {"chunk", kChunk}}},
      {"mutant:documents_of_the_next_key", {{"segments", "that of the next key"}}},
      {"mutant:pages_in_order",
       {{"paged cache", "pages in the order of memory"}},
       {{"paged cache, shared pages", {"pages in the order of memory"}}}},
      {"mutant:pages_of_the_first_member",
       {{"paged cache", "table of the first member"},
        {"paged cache, shared pages", "table of the first member"}}},
      {"mutant:pages_of_one_member_each",
       {{"paged cache, shared pages", "a shared page is taken for the next one"},
        {"paged cache", kTable}}},
      {"mutant:last_pages_of_the_table",
       {{"paged cache", "last pages of a table that is longer than needed"},
        {"paged cache, shared pages", kTable}}},
      {"mutant:padding_on_the_right", {{"left padding", "looked for behind the keys"}}},
      {"mutant:descales_of_the_first_head", {{"descales", "that of the first pair everywhere"}}},
  };
}

/// Kernels whose backward pass is unusual.
std::vector<Row> gradient_table() {
  return {
      {"mutant:dq_scaled_twice", {{"dq, scale", "applied twice"}, {"dk, scale", "applied once"}}},
      {"mutant:dk_without_scale", {{"dk, scale", "left out"}, {"dq, scale", "applied once"}}},
      {"mutant:no_delta", {{"delta, subtracted from dout . v", "left out"}}},
      {"mutant:delta_of_the_next_row",
       {{"delta, subtracted from dout . v", "that of the next query"}}},
      {"mutant:delta_without_dlse",
       {{"gradient of the lse", "left out"},
        {"delta, subtracted from dout . v", "row sum of dout * out"}}},
      {"mutant:dlse_sign", {{"gradient of the lse", "added to delta"}}},
      {"mutant:group_sum_forgets_last_head",
       {{"dk and dv, heads of a group", "the last one left out"}}},
      // A tile of another head overwrites them, too.
      {"mutant:tile_sums_overwrite",
       {{"dk and dv, tiles of queries", "the last one alone"}},
       {{"dk and dv, heads of a group", {"the last one alone"}}}},
      {"mutant:skips_last_query_tile", {{"dk and dv, tiles of queries", "the last one left out"}}},
      {"mutant:lse_of_another_head",
       {{"lse that weights are formed from", "that of the next head"}}},
      {"mutant:dv_from_unmasked_keys",
       {{"dv of keys that a row does not see", "as if it saw them"}},
       {{"causal in the backward pass, bottom-right asked, dv", {"no mask at all"}},
        {"causal in the backward pass, top-left asked, dv", {"no mask at all"}}}},
      {"mutant:no_softcap_slope",
       {{"derivative of the softcap", "left out"}},
       {{"derivative of the softcap, bias after it", {"left out"}}}},
      {"mutant:softcap_slope_of_uncapped_score",
       {{"derivative of the softcap", "at the score before it"}}},
      {"mutant:softcap_slope_after_bias",
       {{"derivative of the softcap, bias after it", "where the bias has been added"},
        {"derivative of the softcap", "at the capped score"}}},
      {"mutant:dbias_of_the_last_row",
       {{"dbias of a bias for all queries", "that of the last one"}}},
      {"mutant:dsink_sign", {{"dsink", "weight * delta"}}},
      {"mutant:dsink_without_dlse",
       {{"dsink, gradient of the lse", "left out"}, {"dsink", "-weight * delta"}}},
      {"mutant:backward_weights_to_bf16",
       {{"weights before they multiply dout", "rounded to bf16"}}},
      {"mutant:takes_one_key_more",
       {{"causal in the backward pass, bottom-right asked", "bottom-right, 1 key more"},
        {"causal in the backward pass, top-left asked", "top-left, 1 key more"}}},
      {"mutant:empty_rows_give_nan_dq", {{"empty row, dq", "NaN"}}},
      {"mutant:dq_of_empty_rows_unwritten", {{"empty row, dq", "not written"}}},
  };
}

void expect_named(const std::vector<Row>& table) {
  for (const Row& row : table) {
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
      EXPECT_EQ(one->sureness, Sureness::certain) << name;
    }
  }
}

TEST(ProbeTable, NamesWhatIsUnusualAndNothingWrong) {
  EXPECT_GE(table().size(), 40U);
  expect_named(table());
}

TEST(ProbeTable, NamesWhatIsUnusualInABackwardPass) {
  EXPECT_GE(gradient_table().size(), 20U);
  expect_named(gradient_table());
}

}  // namespace
}  // namespace attest::probe
