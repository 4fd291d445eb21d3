// What may be said of kernels whose conventions are known, for the tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "attest/kernel.hpp"
#include "probe/probe.hpp"

namespace attest::probe {

using Values = std::vector<std::string>;
/// What may be said of each finding. A name stands for those that begin with it, too.
using Truths = std::map<std::string, Values>;

inline const std::string kChunk = "of the key axis: floor(p / C) = floor(j / C)";
inline const std::string kTable = "by the page table";

/// What is true of a kernel that does as it is asked.
inline Truths usual() {
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
          {"prefix", {"seen by every query, whatever causal says"}},
          {"chunk", {kChunk}},
          {"chunk in a causal mask", {kChunk}},
          {"chunk, key lengths", {"p from the corner of each member's own length"}},
          {"segments", {"q_segment = k_segment"}},
          {"qv, no scale asked", {"scale * (q . k + qv . v)"}},
          {"qv, scale 0.5 asked", {"scale * (q . k + qv . v)"}},
          {"descales", {"one a (batch, kv head) pair, batch-major"}},
          {"paged cache", {kTable}},
          {"paged cache, shared pages", {kTable}},
          {"left padding", {"in front of the keys"}},
          {"packed rows", {"each member from its own first row on"}},
          {"dq, scale", {"applied once"}},
          {"dk, scale", {"applied once"}},
          {"delta, subtracted from dout . v", {"row sum of dout * out"}},
          {"gradient of the lse", {"subtracted from delta"}},
          {"dk and dv, heads of a group", {"summed"}},
          {"dk and dv, tiles of queries", {"summed"}},
          {"lse that weights are formed from", {"that of the row"}},
          {"causal in the backward pass, bottom-right asked", {"bottom-right"}},
          {"causal in the backward pass, top-left asked", {"top-left"}},
          {"dv of keys that a row does not see", {"none"}},
          {"derivative of the softcap", {"at the capped score"}},
          {"derivative of the softcap, bias after it", {"at the capped score"}},
          {"dbias of a bias for all queries", {"summed over them"}},
          {"dsink", {"-weight * delta"}},
          {"dsink, gradient of the lse", {"counted in delta"}},
          {"weights before they multiply dout", {"not rounded"}},
          {"empty row, dq", {"0"}},
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

inline const std::string kChain = "one key after the other, first to last";
inline const std::string kNoStep = "no step in 272 keys";
inline const std::string kNoLag = "none above 1: it rises at once, or is known beforehand";

inline std::string weights_of(const std::optional<WeightCast>& cast) {
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
inline void add_arithmetic(const Kernel& kernel, Truths& truths) {
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

inline const Values* known(const Truths& truths, const std::string& name) {
  const Values* longest = nullptr;
  std::size_t length = 0;
  for (const auto& [known_name, values] : truths)
    if (name.rfind(known_name, 0) == 0 && known_name.size() >= length &&
        (name.size() == known_name.size() || name[known_name.size()] == ','))
      longest = &values, length = known_name.size();
  return longest;
}

inline void expect_nothing_wrong(const Findings& said, const Truths& truths) {
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

inline const Finding* find(const Findings& said, const std::string& name) {
  for (const Finding& one : said.findings)
    if (one.name == name) return &one;
  return nullptr;
}

/// The value of a finding; empty where there is none.
inline std::string told(const Kernel& kernel, const std::string& name) {
  const Findings said = probe_kernel(kernel);
  const Finding* const one = find(said, name);
  return one == nullptr ? "" : one->value;
}

}  // namespace attest::probe
