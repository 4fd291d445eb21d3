#include <array>
#include <charconv>
#include <utility>

#include "attest/problem_text.hpp"

namespace attest {
namespace {

std::string joined(const std::vector<Index>& numbers) {
  std::string text;
  for (const Index number : numbers) text += (text.empty() ? "" : ",") + std::to_string(number);
  return text;
}

std::string shape_text(const Problem& problem) {
  std::string text = std::to_string(problem.batch) + "x" + std::to_string(problem.heads_q);
  if (problem.heads_kv != problem.heads_q) text += "/" + std::to_string(problem.heads_kv);
  text += ":" + std::to_string(problem.seq_q) + "x";
  text += problem.key_lengths.empty() ? std::to_string(problem.seq_kv)
                                      : "{" + joined(problem.key_lengths) + "}";
  text += ":" + std::to_string(problem.head_dim);
  if (problem.head_dim_v != problem.head_dim) text += "/" + std::to_string(problem.head_dim_v);
  return text + " " + std::string(to_string(problem.dtype));
}

std::string mask_text(const Mask& mask) {
  if (mask.none()) return "none";
  std::string text;
  if (mask.causal) {
    switch (mask.causal->alignment) {
      case Causal::Alignment::top_left:
        text = "causal:tl";
        break;
      case Causal::Alignment::bottom_right:
        text = "causal:br";
        break;
      case Causal::Alignment::explicit_offset:
        text = "causal:off=" + std::to_string(mask.causal->offset);
        break;
    }
  }
  if (!mask.bits) return text;
  text += text.empty() ? "bits:" : "+bits:";
  for (Index row = 0; row < mask.bits->rows; ++row) {
    if (row > 0) text += '/';
    for (Index key = 0; key < mask.bits->columns; ++key)
      text += mask.bits->at(row, key) ? '1' : '0';
  }
  return text;
}

std::string scale_text(const Problem& problem) {
  return problem.scale.reciprocal_sqrt ? "rsqrt" : number_text(problem.scale.value, problem.dtype);
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

std::string numbers_text(const std::vector<double>& values, Dtype dtype) {
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i)
    text += (i == 0 ? "" : ",") + number_text(values[i], dtype);
  return text;
}

std::string values_text(const ValueRecipe& values, Dtype dtype) {
  if (values.kind == ValueRecipe::Kind::literal)
    return "lit:" + numbers_text(values.q, dtype) + ";" + numbers_text(values.k, dtype) + ";" +
           numbers_text(values.v, dtype) +
           (values.seed == 0 ? "" : ";" + std::to_string(values.seed));
  return (values.kind == ValueRecipe::Kind::real ? "real:" : "") + values.name + ":" +
         std::to_string(values.seed);
}

using KeyValue = std::pair<std::string_view, std::string>;

std::vector<KeyValue> key_values(const ProblemText& text) {
  const Problem& problem = text.problem;
  const Tiling& tiling = text.tiling;
  return {{"mask", mask_text(problem.mask)},
          {"scale", scale_text(problem)},
          {"empty", std::string(to_string(problem.all_masked))},
          {"lse", std::string(to_string(problem.lse))},
          {"tile", tile_text(tiling)},
          {"split", split_text(tiling.splits)},
          {"merge", merge_text(tiling.merge)},
          {"vals", values_text(text.values, problem.dtype)}};
}

std::string with_law(const std::string& line, const ProblemText& text) {
  return text.law.empty() ? line : line + " law=" + text.law;
}

}  // namespace

std::string minimal_text(const ProblemText& text) {
  std::string line = shape_text(text.problem);
  const std::vector<KeyValue> defaults = key_values(ProblemText{});
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

std::string number_text(double value, Dtype dtype) {
  std::array<char, 64> buffer{};
  char* const begin = buffer.data();
  char* const end = begin + buffer.size();
  const auto written = dtype == Dtype::f32 ? std::to_chars(begin, end, static_cast<float>(value))
                                           : std::to_chars(begin, end, value);
  return {begin, written.ptr};
}

}  // namespace attest
