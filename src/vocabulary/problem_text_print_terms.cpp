#include "page_tables.hpp"
#include "problem_text_words.hpp"

namespace attest {

std::string bias_text(const Problem& problem) {
  if (!problem.bias) return "none";
  const Bias& bias = *problem.bias;
  std::string text = std::string(bias.per_batch ? "b" : "") + (bias.per_head ? "h" : "") +
                     (bias.per_query ? "2d" : "1d");
  if (problem.bias_dtype() != problem.compute_dtype())
    text += ":" + std::string(to_string(problem.bias_dtype()));
  return text;
}

std::string alibi_text(const Problem& problem) {
  if (!problem.alibi) return "none";
  const Alibi& alibi = *problem.alibi;
  std::string text = "abs";
  if (alibi.form == Alibi::Form::relative) text = "rel";
  if (alibi.form == Alibi::Form::column) text = "col";
  text += alibi.alignment == Causal::Alignment::top_left ? ":tl" : ":br";
  return alibi.slopes.empty() ? text : text + ":" + numbers_text(alibi.slopes, Dtype::f32);
}

std::string order_text(const ScoreOrder& order) {
  std::string before = "scale";
  std::string after = ",cap";
  (order.bias_before_softcap ? before : after) += ",bias";
  (order.alibi_before_softcap ? before : after) += ",alibi";
  (order.mask_before_softcap ? before : after) += ",mask";
  return before + after;
}

std::string sink_text(const Problem& problem) {
  if (!problem.sink) return "none";
  return std::string(problem.sink->zero ? "one" : "head") + (problem.sink->in_lse ? "" : ":out");
}

std::string descale_text(const Problem& problem) {
  if (!problem.descales) return "none";
  const Descales& by = *problem.descales;
  return numbers_text(by.q, Dtype::f32) + ";" + numbers_text(by.k, Dtype::f32) + ";" +
         numbers_text(by.v, Dtype::f32);
}

namespace {

std::string order_name(Layout::Order order) {
  switch (order) {
    case Layout::Order::bshd:
      return "bshd";
    case Layout::Order::bhsd:
      return "bhsd";
    case Layout::Order::sbhd:
      return "sbhd";
    case Layout::Order::thd:
      break;
  }
  return "thd";
}

}  // namespace

std::string layout_text(const Layout& layout) {
  std::string text = order_name(layout.order);
  if (layout.row_padding != 0) text += ":pad=" + std::to_string(layout.row_padding);
  if (layout.column_stride != 1) text += ":col=" + std::to_string(layout.column_stride);
  return text;
}

std::string kv_text(const Problem& problem) {
  const KvStorage& kv = problem.kv;
  if (kv.kind == KvStorage::Kind::dense) return "dense";
  if (kv.kind == KvStorage::Kind::left_padded) return "leftpad";
  std::string text = "paged:" + std::to_string(kv.page_size);
  if (has_small_page_table(problem) && kv == pages_in_order(problem)) return text;
  text += ":" + std::to_string(kv.pages);
  char before = ':';
  for (const std::vector<Index>& table : kv.page_table) {
    text += before + joined(table);
    before = '/';
  }
  return kv.page_table.empty() ? text + ":" : text;
}

}  // namespace attest
