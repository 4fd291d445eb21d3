#include <limits>
#include <utility>

#include "problem_text_words.hpp"

namespace attest {
namespace {

std::string side_text(Index longest, const std::vector<Index>& lengths) {
  return lengths.empty() ? std::to_string(longest) : "{" + joined(lengths) + "}";
}

std::string types_text(const Problem& problem) {
  std::string text(to_string(problem.dtype));
  const bool own_v = problem.v_dtype() != problem.k_dtype();
  if (own_v || problem.k_dtype() != problem.dtype)
    text += "/" + std::string(to_string(problem.k_dtype()));
  if (own_v) text += "/" + std::string(to_string(problem.v_dtype()));
  return text;
}

std::string shape_text(const Problem& problem) {
  std::string text = std::to_string(problem.batch) + "x" + std::to_string(problem.heads_q);
  if (problem.heads_kv != problem.heads_q) text += "/" + std::to_string(problem.heads_kv);
  text += ":" + side_text(problem.seq_q, problem.query_lengths) + "x" +
          side_text(problem.seq_kv, problem.key_lengths);
  text += ":" + std::to_string(problem.head_dim);
  if (problem.head_dim_v != problem.head_dim) text += "/" + std::to_string(problem.head_dim_v);
  return text + " " + types_text(problem);
}

std::string scale_text(const Problem& problem) {
  return problem.scale.reciprocal_sqrt ? "rsqrt"
                                       : number_text(problem.scale.value, problem.compute_dtype());
}

std::string softcap_text(const Problem& problem) {
  return problem.softcap == 0 ? "off" : number_text(problem.softcap, problem.compute_dtype());
}

std::string empty_text(const Problem& problem) {
  const std::string policy(to_string(problem.all_masked));
  if (!problem.empty_lse) return policy + ":any";
  if (*problem.empty_lse == -std::numeric_limits<double>::infinity()) return policy;
  return policy + ":" + number_text(*problem.empty_lse, problem.compute_dtype());
}

std::string backward_text(const Problem& problem) {
  if (!problem.backward) return "none";
  return std::string("dq,dk,dv") + (problem.backward->dbias ? ",dbias" : "") +
         (problem.backward->dsink ? ",dsink" : "") + (problem.backward->dlse ? ",dlse" : "");
}

std::string tile_text(const Tiling& tiling) {
  const std::string queries = std::to_string(tiling.tile_q);
  return tiling.tile_q == tiling.tile_kv ? queries : queries + "x" + std::to_string(tiling.tile_kv);
}

std::string split_text(const KvSplits& splits) {
  return splits.cuts.empty() ? std::to_string(splits.count) : "at:" + joined(splits.cuts);
}

std::string merge_text(const MergeOrder& order) {
  switch (order.kind) {
    case MergeOrder::Kind::left:
      return "left";
    case MergeOrder::Kind::right:
      return "right";
    case MergeOrder::Kind::balanced:
      return "balanced";
    case MergeOrder::Kind::random:
      return "random:" + std::to_string(order.seed);
    case MergeOrder::Kind::explicit_tree:
      break;
  }
  std::string text = "tree";
  char before = ':';
  for (const Index step : order.tree.steps) {
    text += before + (step == MergeTree::merge ? std::string("+") : std::to_string(step));
    before = '.';
  }
  return text;
}

std::string literal_text(const ValueRecipe& values, const Problem& problem) {
  std::string text = "lit:" + numbers_text(values.q, problem.dtype) + ";" +
                     numbers_text(values.k, problem.k_dtype()) + ";" +
                     numbers_text(values.v, problem.v_dtype());
  const Dtype compute = problem.compute_dtype();
  if (problem.bias) text += ";bias=" + numbers_text(values.bias, problem.bias_dtype());
  if (problem.sink && !problem.sink->zero) text += ";sink=" + numbers_text(values.sink, compute);
  if (problem.qv) text += ";qv=" + numbers_text(values.qv, problem.dtype);
  if (problem.backward) text += ";dout=" + numbers_text(values.dout, problem.out_dtype());
  if (problem.backward && problem.backward->dlse)
    text += ";dlse=" + numbers_text(values.dlse, compute);
  return values.seed == 0 ? text : text + ";" + std::to_string(values.seed);
}

std::string values_text(const ValueRecipe& values, const Problem& problem) {
  if (values.kind == ValueRecipe::Kind::literal) return literal_text(values, problem);
  return (values.kind == ValueRecipe::Kind::real ? "real:" : "") + values.name + ":" +
         std::to_string(values.seed);
}

using KeyValue = std::pair<std::string_view, std::string>;

std::vector<KeyValue> key_values(const ProblemText& text) {
  const Problem& problem = text.problem;
  const Tiling& tiling = text.tiling;
  return {{"mask", mask_text(problem.mask, problem.compute_dtype())},
          {"align", align_text(problem.mask)},
          {"win", window_text(problem.mask.window)},
          {"keep", "first:" + std::to_string(problem.mask.keep_first)},
          {"scale", scale_text(problem)},
          {"cap", softcap_text(problem)},
          {"bias", bias_text(problem)},
          {"alibi", alibi_text(problem)},
          {"order", order_text(problem.order)},
          {"sink", sink_text(problem)},
          {"qv", problem.qv ? "yes" : "no"},
          {"v", problem.v_is_k_view ? "view(k)" : "own"},
          {"descale", descale_text(problem)},
          {"out", std::string(to_string(problem.out_dtype()))},
          {"empty", empty_text(problem)},
          {"lse", std::string(to_string(problem.lse))},
          {"layout", layout_text(problem.layout)},
          {"kv", kv_text(problem)},
          {"bwd", backward_text(problem)},
          {"tile", tile_text(tiling)},
          {"split", split_text(tiling.splits)},
          {"merge", merge_text(tiling.merge)},
          {"vals", values_text(text.values, problem)}};
}

/// A text in which every key has its default, which for some of them depends on the types.
ProblemText defaults_of(const ProblemText& text) {
  ProblemText defaults;
  defaults.problem.dtype = text.problem.dtype;
  return defaults;
}

std::string with_law(const std::string& line, const ProblemText& text) {
  return text.law.empty() ? line : line + " law=" + text.law;
}

}  // namespace

std::string joined(const std::vector<Index>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size(); ++i)
    text += (i == 0 ? "" : ",") + std::to_string(numbers[i]);
  return text;
}

std::string numbers_text(const std::vector<double>& values, Dtype dtype) {
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i)
    text += (i == 0 ? "" : ",") + number_text(values[i], dtype);
  return text;
}

std::string minimal_text(const ProblemText& text) {
  std::string line = shape_text(text.problem);
  const std::vector<KeyValue> defaults = key_values(defaults_of(text));
  const std::vector<KeyValue> own = key_values(text);
  for (std::size_t i = 0; i < own.size(); ++i)
    if (own[i].second != defaults[i].second)
      line += " " + std::string(own[i].first) + "=" + own[i].second;
  return with_law(line, text);
}

std::string canonical_text(const ProblemText& text) {
  std::string line = shape_text(text.problem);
  for (const auto& [key, value] : key_values(text)) line += " " + std::string(key) + "=" + value;
  return with_law(line, text);
}

}  // namespace attest
