// mask.*, continued: where windows and diagonals begin and end, and softcap beside a mask.
#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "properties/combine.hpp"
#include "properties/laws.hpp"
#include "properties/visible_sets.hpp"

namespace attest::properties {
namespace {

/// A problem of one batch member with the types and heads of the case, both lengths at most 12 and
/// different.
Problem small_problem(const Problem& like, bool more_queries) {
  Problem problem;
  problem.heads_q = like.heads_q;
  problem.heads_kv = like.heads_kv;
  problem.dtype = like.dtype;
  problem.k_storage = like.k_storage;
  problem.v_storage = like.v_storage;
  problem.out_storage = like.out_storage;
  const Index shorter = std::clamp(std::min(like.seq_q, like.seq_kv), Index{1}, Index{8});
  const Index longer =
      std::max(shorter + 1, std::min(std::max(like.seq_q, like.seq_kv), Index{12}));
  problem.seq_q = more_queries ? longer : shorter;
  problem.seq_kv = more_queries ? shorter : longer;
  return problem;
}

/// Offset of a diagonal for one batch member.
Index offset_of(const Problem& problem, Index b, const Causal& diagonal) {
  switch (diagonal.alignment) {
    case Causal::Alignment::top_left:
      return 0;
    case Causal::Alignment::bottom_right:
      return problem.key_length(b) - problem.query_length(b);
    case Causal::Alignment::explicit_offset:
      break;
  }
  return diagonal.offset;
}

/// The window counted out key by key, apart from both predicates.
std::vector<Index> keys_in_window(const Problem& problem, const RowIndex& row) {
  const Mask& mask = problem.mask;
  const Index p =
      row.query + offset_of(problem, row.batch, mask.causal ? *mask.causal : *mask.alignment);
  const Window& window = mask.window;
  std::vector<Index> keys;
  for (Index key = 0; key < problem.key_length(row.batch); ++key) {
    const Index before = p - key;
    if (mask.causal && before < 0) continue;
    if (window.left && before > *window.left && key >= mask.keep_first) continue;
    if (window.right && -before > *window.right) continue;
    keys.push_back(key);
  }
  return keys;
}

/// Windows under a causal mask, with first tokens, and of members of different lengths.
std::array<Problem, 3> windows_beside_others(const Problem& plain) {
  Problem causal = plain;
  causal.mask.causal = Causal{Causal::Alignment::bottom_right, 0};
  causal.mask.window = {1, std::nullopt};
  Problem keeping = plain;
  keeping.mask.alignment = Causal{};
  keeping.mask.window = {0, 1};
  keeping.mask.keep_first = 2;
  Problem ragged = plain;
  ragged.batch = 2;
  ragged.key_lengths = {plain.seq_kv, (plain.seq_kv + 1) / 2};
  ragged.mask.alignment = Causal{Causal::Alignment::bottom_right, 0};
  ragged.mask.window = {1, 0};
  return {causal, keeping, ragged};
}

constexpr std::array kDiagonals{
    HandTable{"1x1:3x5:1 f32 align=tl win=0:0", "10000/01000/00100"},
    HandTable{"1x1:3x5:1 f32 align=br win=0:0", "00100/00010/00001"},
    HandTable{"1x1:3x3:1 f32 align=tl win=1:0", "100/110/011"},
    HandTable{"1x1:3x3:1 f32 align=br win=1:0", "100/110/011"},
    HandTable{"1x1:5x3:1 f32 align=br win=1:1", "000/100/110/111/011"},
    HandTable{"1x1:5x3:1 f32 align=tl win=1:1", "110/111/011/001/000"},
    HandTable{"1x1:3x5:1 f32 mask=causal:br win=1:*", "01100/00110/00011"},
    HandTable{"1x1:3x5:1 f32 mask=causal:tl win=1:*", "10000/11000/01100"},
    HandTable{"1x1:3x5:1 f32 mask=causal:br win=0:* keep=first:2", "11100/11010/11001"},
    HandTable{"1x1:2x5:1 f32 mask=causal:tl+prefix:3", "11100/11100"},
    HandTable{"1x1:5x2:1 f32 mask=causal:br+prefix:1", "10/10/10/10/11"},
    HandTable{"1x1:4x4:1 f32 mask=chunk:2 align=tl", "1100/1100/0011/0011"},
    HandTable{"1x1:2x5:1 f32 mask=causal:br+chunk:2", "00110/00001"},
    HandTable{"1x1:4x3:1 f32 mask=chunk:2 align=br", "000/110/110/001"},
    HandTable{"2x1:{2,1}x{4,2}:1 f32 align=br win=0:0", "0010/0001/0100"},
    HandTable{"1x1:3x3:1 f32 mask=doc:0,0,1/0,1,1", "100/100/011"},
    HandTable{"1x1:3x4:1 f32 mask=block:2x3:10/01", "1110/1110/0001"},
    // Parts beside each other.
    HandTable{"1x1:3x6:1 f32 align=tl win=0:1 keep=first:3", "110000/111000/111100"},
    HandTable{"1x1:3x5:1 f32 mask=causal:tl+prefix:4 win=1:1", "11000/11100/01110"},
    HandTable{"1x1:3x4:1 f32 mask=causal:tl+prefix:4+chunk:2", "1100/1100/0011"},
    HandTable{"1x1:3x3:1 f32 mask=causal:tl+prefix:3+doc:0,0,1", "110/110/001"},
    HandTable{"2x1:{2,1}x{4,2}:1 f32 mask=chunk:2 align=br", "0011/0011/1100"},
    HandTable{"1x1:4x5:1 f32 mask=causal:br win=0:0 keep=first:2", "11000/11100/11010/11001"},
    HandTable{"1x1:4x4:1 f32 mask=causal:tl+block:2x3:11/01", "1000/1100/0000/0001"},
    HandTable{"1x1:2x4:1 f32 mask=causal:br+doc:0,1/0,0,1,1", "1100/0011"},
    HandTable{"1x1:4x2:1 f32 mask=chunk:2 align=off=-3", "00/00/00/11"},
};

}  // namespace

Verdict mask_window_edges(const Kernel& kernel, const Case& on) {
  constexpr std::array<Window, 6> windows{
      {{0, 0}, {1, 0}, {0, 2}, {2, 1}, {std::nullopt, 0}, {0, std::nullopt}}};
  constexpr std::array<Causal, 4> diagonals{{{Causal::Alignment::top_left, 0},
                                             {Causal::Alignment::bottom_right, 0},
                                             {Causal::Alignment::explicit_offset, -2},
                                             {Causal::Alignment::explicit_offset, 3}}};
  Combined combined;
  const auto add = [&](const Problem& problem) {
    Tiling tiling;
    tiling.tile_q = on.tiling.tile_q;
    tiling.tile_kv = on.tiling.tile_kv;
    combined.add(compare_visible_sets(kernel, problem, tiling, keys_in_window));
    return !combined.violated();
  };
  for (const bool more_queries : {false, true})
    for (const Causal& diagonal : diagonals)
      for (const Window& window : windows) {
        Problem problem = small_problem(on.problem, more_queries);
        problem.mask.alignment = diagonal;
        problem.mask.window = window;
        if (!add(problem)) return combined.verdict();
      }
  for (const bool more_queries : {false, true})
    for (const Problem& problem : windows_beside_others(small_problem(on.problem, more_queries)))
      if (!add(problem)) return combined.verdict();
  return combined.verdict();
}

Verdict mask_alignment(const Kernel& kernel, const Case&) {
  Combined combined;
  for (const HandTable& table : kDiagonals) {
    combined.add(check_hand_table(kernel, table));
    if (combined.violated()) break;
  }
  return combined.verdict();
}

Verdict mask_softcap_excluded(const Kernel& kernel, const Case& on) {
  Problem problem = on.problem;
  problem.softcap = 1;
  if (problem.mask.none() && problem.seq_kv > 0 && problem.seq_q > 0) {
    MaskBits bits{1, problem.seq_kv,
                  std::vector<bool>(static_cast<std::size_t>(problem.seq_kv), true)};
    bits.visible.back() = false;
    problem.mask.bits = std::move(bits);
  }
  return compare_visible_sets(kernel, problem, on.tiling);
}

}  // namespace attest::properties
