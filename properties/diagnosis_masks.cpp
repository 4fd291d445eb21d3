// Mistakes about which keys a query sees: another diagonal, another window, other documents.
#include <algorithm>
#include <cmath>
#include <utility>

#include "properties/diagnosis_alternatives.hpp"

namespace attest::properties {
namespace {

Causal at_offset(Index offset) {
  return {Causal::Alignment::explicit_offset, offset};
}

/// The diagonal of the causal part, moved; window and chunk stand by it, too.
template <int by>
bool diagonal_moved(Case& of, Index b) {
  if (!of.problem.mask.causal) return false;
  of.problem.mask.causal = at_offset(causal_offset(of.problem, b) + by);
  return true;
}

/// The same, but window and chunk stay where they are: as bits, of this member.
template <int by>
bool diagonal_alone_moved(Case& of, Index b) {
  Mask& mask = of.problem.mask;
  if (!mask.causal || (mask.window.none() && !mask.chunk)) return false;
  const Index was = mask_offset(of.problem, b);
  const Index seq_q = of.problem.seq_q;
  const Index seq_kv = of.problem.seq_kv;
  // A window needs its own diagonal where there is a causal part: every pair is asked for once.
  MaskBits bits{seq_q, seq_kv, std::vector<bool>(static_cast<std::size_t>(seq_q * seq_kv))};
  for (Index query = 0; query < seq_q; ++query)
    for (Index key = 0; key < seq_kv; ++key) {
      const bool causal = key <= query + was + by || (mask.prefix && key < *mask.prefix);
      const Index p = query + was;
      const auto& window = mask.window;
      const bool left = !window.left || key >= p - *window.left || key < mask.keep_first;
      const bool right = !window.right || key <= p + *window.right;
      const auto chunk_of = [&](Index position) {
        return position >= 0 ? position / *mask.chunk : -((-position - 1) / *mask.chunk) - 1;
      };
      const bool chunk = !mask.chunk || chunk_of(p) == chunk_of(key);
      const bool also = !mask.bits || mask.bits->at(query, key);
      bits.visible[static_cast<std::size_t>(query * seq_kv + key)] =
          causal && left && right && chunk && also;
    }
  mask.causal.reset();
  mask.prefix.reset();
  mask.window = {};
  mask.keep_first = 0;
  mask.chunk.reset();
  mask.bits = std::move(bits);
  return true;
}

bool causal_from(Case& of, Index b, Index offset) {
  Mask& mask = of.problem.mask;
  if (!mask.causal || causal_offset(of.problem, b) == offset) return false;
  mask.causal = at_offset(offset);
  return true;
}
bool causal_top_left(Case& of, Index b) {
  if (!causal_from(of, b, 0)) return false;
  of.problem.mask.causal = Causal{};
  return true;
}
bool causal_bottom_right(Case& of, Index b) {
  const Problem& problem = of.problem;
  if (!causal_from(of, b, problem.key_length(b) - problem.query_length(b))) return false;
  of.problem.mask.causal = Causal{Causal::Alignment::bottom_right, 0};
  return true;
}
bool causal_corner_of_longest(Case& of, Index b) {
  const auto& causal = of.problem.mask.causal;
  if (!causal || causal->alignment != Causal::Alignment::bottom_right) return false;
  return causal_from(of, b, of.problem.seq_kv - of.problem.seq_q);
}

bool diagonal_top_left(Case& of, Index b) {
  Mask& mask = of.problem.mask;
  if (!mask.alignment || mask_offset(of.problem, b) == 0) return false;
  mask.alignment = Causal{};
  return true;
}
bool diagonal_bottom_right(Case& of, Index b) {
  Mask& mask = of.problem.mask;
  const Index offset = of.problem.key_length(b) - of.problem.query_length(b);
  if (!mask.alignment || mask_offset(of.problem, b) == offset) return false;
  mask.alignment = Causal{Causal::Alignment::bottom_right, 0};
  return true;
}
bool diagonal_corner_of_longest(Case& of, Index b) {
  Mask& mask = of.problem.mask;
  if (!mask.alignment || mask.alignment->alignment != Causal::Alignment::bottom_right) return false;
  const Index offset = of.problem.seq_kv - of.problem.seq_q;
  if (mask_offset(of.problem, b) == offset) return false;
  mask.alignment = at_offset(offset);
  return true;
}

template <int by>
bool left_moved(Case& of, Index) {
  auto& left = of.problem.mask.window.left;
  if (!left || *left + by < 0) return false;
  *left += by;
  return true;
}
template <int by>
bool right_moved(Case& of, Index) {
  auto& right = of.problem.mask.window.right;
  if (!right || *right + by < 0) return false;
  *right += by;
  return true;
}
/// The key on the left edge is gone, even one that the window should keep.
bool left_edge_lost(Case& of, Index b) {
  Mask& mask = of.problem.mask;
  if (!mask.window.left || mask.bits) return false;
  MaskBits bits{of.problem.seq_q, of.problem.seq_kv, {}};
  for (Index query = 0; query < bits.rows; ++query)
    for (Index key = 0; key < bits.columns; ++key)
      bits.visible.push_back(query + mask_offset(of.problem, b) - key != *mask.window.left);
  mask.bits = std::move(bits);
  return true;
}
bool no_window(Case& of, Index) {
  Mask& mask = of.problem.mask;
  if (mask.window.none()) return false;
  mask.window = {};
  mask.keep_first = 0;
  return true;
}
bool no_left_limit(Case& of, Index) {
  Mask& mask = of.problem.mask;
  if (!mask.window.left || !mask.window.right) return false;
  mask.window.left.reset();
  mask.keep_first = 0;
  return true;
}
bool no_first_tokens(Case& of, Index) {
  return std::exchange(of.problem.mask.keep_first, 0) != 0;
}
/// First tokens are seen whatever the right limit says.
bool first_tokens_everywhere(Case& of, Index b) {
  Mask& mask = of.problem.mask;
  if (!mask.window.left || !mask.window.right || mask.keep_first == 0) return false;
  const Problem limited = of.problem;
  Problem unlimited = of.problem;
  unlimited.mask.window = {};
  unlimited.mask.keep_first = 0;
  MaskBits bits{of.problem.seq_q, of.problem.seq_kv, {}};
  for (Index query = 0; query < bits.rows; ++query)
    for (Index key = 0; key < bits.columns; ++key)
      bits.visible.push_back(
          query < limited.query_length(b) && key < limited.key_length(b) &&
          visible(key < limited.mask.keep_first ? unlimited : limited, b, query, key));
  const auto additive = mask.additive;
  mask = {};
  mask.bits = std::move(bits);
  mask.additive = additive;
  return true;
}

template <int by>
bool prefix_moved(Case& of, Index) {
  auto& prefix = of.problem.mask.prefix;
  if (!prefix || *prefix + by < 0) return false;
  *prefix += by;
  return true;
}
bool no_prefix(Case& of, Index) {
  auto& prefix = of.problem.mask.prefix;
  const bool had = prefix && *prefix > 0;
  prefix.reset();
  return had;
}

bool no_mask(Case& of, Index) {
  Mask& mask = of.problem.mask;
  if (mask.none()) return false;
  if (mask.additive)
    for (const double number : mask.additive->value)
      if (std::isinf(number)) return false;
  const auto additive = mask.additive;
  mask = {};
  mask.additive = additive;
  return true;
}
bool no_causal(Case& of, Index) {
  Mask& mask = of.problem.mask;
  if (!mask.causal || !mask.window.none() || mask.chunk) return false;
  mask.causal.reset();
  mask.prefix.reset();
  return !mask.none();
}

template <int by>
bool documents_rotated(Case& of, Index) {
  auto& segments = of.problem.mask.segments;
  if (!segments || segments->k.empty()) return false;
  const auto before = segments->k;
  auto& keys = segments->k;
  if constexpr (by > 0)
    std::rotate(keys.begin(), keys.begin() + by, keys.end());
  else
    std::rotate(keys.rbegin(), keys.rbegin() - by, keys.rend());
  return keys != before;
}
bool no_documents(Case& of, Index) {
  const bool had = of.problem.mask.segments.has_value();
  of.problem.mask.segments.reset();
  return had;
}

bool blocks_reversed(Case& of, Index) {
  auto& blocks = of.problem.mask.blocks;
  if (!blocks) return false;
  for (Index row = 0; row < blocks->rows; ++row)
    std::reverse(blocks->visible.begin() + row * blocks->columns,
                 blocks->visible.begin() + (row + 1) * blocks->columns);
  return true;
}

bool mask_of_first_query_of_tile(Case& of, Index b) {
  const Problem& problem = of.problem;
  const Index tile = of.tiling.tile_q;
  if (problem.mask.none() || tile < 2 || problem.seq_q < 2) return false;
  MaskBits bits{problem.seq_q, problem.seq_kv, {}};
  for (Index query = 0; query < bits.rows; ++query)
    for (Index key = 0; key < bits.columns; ++key)
      bits.visible.push_back(query < problem.query_length(b) && key < problem.key_length(b) &&
                             visible(problem, b, query / tile * tile, key));
  if (problem.mask.additive) return false;
  of.problem.mask = {};
  of.problem.mask.bits = std::move(bits);
  return true;
}

}  // namespace

void append_mask_alternatives(Alternatives& to) {
  to.push_back(other_problem("causal +1", "a causal row sees one key beyond the diagonal",
                             {diagonal_moved<1>, diagonal_alone_moved<1>}));
  to.push_back(other_problem("causal -1", "a causal row does not see the key on the diagonal",
                             {diagonal_moved<-1>, diagonal_alone_moved<-1>}));
  to.push_back(other_problem("causal from top left", "the diagonal starts at the top left corner",
                             {causal_top_left}));
  to.push_back(other_problem("causal from bottom right",
                             "the diagonal ends at the bottom right corner",
                             {causal_bottom_right}));
  to.push_back(other_problem("causal from the corner of the longest lengths",
                             "the bottom right corner is that of the padded tensors",
                             {causal_corner_of_longest}));
  to.push_back(other_problem("window from top left",
                             "windows and chunks stand by the top left corner",
                             {diagonal_top_left}));
  to.push_back(other_problem("window from bottom right",
                             "windows and chunks stand by the bottom right corner",
                             {diagonal_bottom_right}));
  to.push_back(other_problem("window from the corner of the longest lengths",
                             "windows and chunks stand by the corner of the padded tensors",
                             {diagonal_corner_of_longest}));
  to.push_back(
      other_problem("window left +1", "a window sees one key more on its left", {left_moved<1>}));
  to.push_back(other_problem("window left -1", "a window does not see the last key on its left",
                             {left_moved<-1>, left_edge_lost}));
  to.push_back(other_problem("window right +1", "a window sees one key more on its right",
                             {right_moved<1>}));
  to.push_back(other_problem("window right -1", "a window does not see the last key on its right",
                             {right_moved<-1>}));
  to.push_back(other_problem("window ignored", "the limits of the window are not kept",
                             {no_window, no_left_limit}));
  to.push_back(other_problem("first tokens dropped",
                             "a window drops the first tokens that it should keep",
                             {no_first_tokens}));
  to.push_back(other_problem("first tokens beyond the right limit",
                             "first tokens are kept beyond the right limit of the window",
                             {first_tokens_everywhere}));
  to.push_back(other_problem("prefix +1", "the prefix has one token more", {prefix_moved<1>}));
  to.push_back(other_problem("prefix -1", "the prefix has one token less", {prefix_moved<-1>}));
  to.push_back(
      other_problem("prefix ignored", "the mask is causal in the prefix, too", {no_prefix}));
  to.push_back(other_problem("mask ignored", "every key is visible", {no_mask}));
  to.push_back(
      other_problem("causal ignored", "the causal part of the mask is not kept", {no_causal}));
  to.push_back(other_problem("documents shifted by one", "a key has the document of its neighbour",
                             {documents_rotated<1>, documents_rotated<-1>}));
  to.push_back(
      other_problem("documents ignored", "keys of other documents are visible", {no_documents}));
  to.push_back(other_problem("blocks from the last key on",
                             "the block mask is read from the last block to the first",
                             {blocks_reversed}));
  to.push_back(other_problem("mask of the first query of a tile",
                             "all queries of a tile use the mask of its first query",
                             {mask_of_first_query_of_tile}));
}

}  // namespace attest::properties
