#include "problem_text_words.hpp"

namespace attest {
namespace {

std::string diagonal_text(const Causal& diagonal) {
  switch (diagonal.alignment) {
    case Causal::Alignment::top_left:
      return "tl";
    case Causal::Alignment::bottom_right:
      return "br";
    case Causal::Alignment::explicit_offset:
      break;
  }
  return "off=" + std::to_string(diagonal.offset);
}

/// The rows of a table, joined by '/'; `cell(row, column)` writes one cell.
template <class Table, class Cell>
std::string rows_text(const Table& table, const char* between, Cell&& cell) {
  std::string text;
  for (Index row = 0; row < table.rows; ++row) {
    if (row > 0) text += '/';
    for (Index column = 0; column < table.columns; ++column) {
      if (column > 0) text += between;
      text += cell(static_cast<std::size_t>(row * table.columns + column));
    }
  }
  return text;
}

template <class Bits>
std::string bits_text(const Bits& bits) {
  return rows_text(bits, "", [&](std::size_t at) { return bits.visible[at] ? "1" : "0"; });
}

std::string documents_text(const Segments& segments) {
  if (segments.q == segments.k) return joined(segments.q);
  return joined(segments.q) + "/" + joined(segments.k);
}

std::string limit_text(const std::optional<Index>& limit) {
  return limit ? std::to_string(*limit) : "*";
}

}  // namespace

std::string mask_text(const Mask& mask, Dtype compute) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : "+") + part; };
  if (mask.causal) add("causal:" + diagonal_text(*mask.causal));
  if (mask.prefix) add("prefix:" + std::to_string(*mask.prefix));
  if (mask.chunk) add("chunk:" + std::to_string(*mask.chunk));
  if (mask.segments) add("doc:" + documents_text(*mask.segments));
  if (mask.bits) add("bits:" + bits_text(*mask.bits));
  if (mask.blocks)
    add("block:" + std::to_string(mask.blocks->block_q) + "x" +
        std::to_string(mask.blocks->block_kv) + ":" + bits_text(*mask.blocks));
  if (mask.additive)
    add("add:" + rows_text(*mask.additive, ",", [&](std::size_t at) {
          return number_text(mask.additive->value[at], compute);
        }));
  return text.empty() ? "none" : text;
}

std::string align_text(const Mask& mask) {
  return mask.alignment ? diagonal_text(*mask.alignment) : "none";
}

std::string window_text(const Window& window) {
  return limit_text(window.left) + ":" + limit_text(window.right);
}

}  // namespace attest
