// Moves of masks, tiles, splits and merge orders.
#include <algorithm>
#include <array>
#include <limits>

#include "properties/moves_structure.hpp"

namespace attest::properties {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool change_tile(Case& of, Draw& draw) {
  Index& tile = draw.chance(70) ? of.tiling.tile_kv : of.tiling.tile_q;
  switch (draw.below(3)) {
    case 0:
      tile += 1;
      return true;
    case 1:
      tile = std::max(Index{1}, tile - 1);
      return true;
    default:
      tile = draw.between(1, std::max(of.problem.seq_kv, of.problem.seq_q) + 1);
      return true;
  }
}

bool move_split(Case& of, Draw& draw) {
  KvSplits& splits = of.tiling.splits;
  const Index seq_kv = of.problem.seq_kv;
  switch (draw.below(4)) {
    case 0:
      splits = {draw.between(1, seq_kv + 2), {}};
      return true;
    case 1:
      splits.cuts.push_back(draw.between(0, seq_kv));
      break;
    case 2:
      if (splits.cuts.empty()) return false;
      splits.cuts.erase(splits.cuts.begin() +
                        static_cast<std::ptrdiff_t>(draw.below(splits.cuts.size())));
      break;
    default:
      if (splits.cuts.empty()) return false;
      splits.cuts[draw.below(splits.cuts.size())] = draw.between(0, seq_kv);
  }
  splits.count = 1;
  std::sort(splits.cuts.begin(), splits.cuts.end());
  return true;
}

/// Another order, or the same tree with two leaves exchanged.
bool permute_merge_order(Case& of, Draw& draw) {
  MergeOrder& merge = of.tiling.merge;
  constexpr std::array kKinds{MergeOrder::Kind::left, MergeOrder::Kind::right,
                              MergeOrder::Kind::balanced, MergeOrder::Kind::random};
  if (draw.chance(50)) {
    merge = {draw.one_of<MergeOrder::Kind>(kKinds), 0, {}};
    if (merge.kind == MergeOrder::Kind::random) merge.seed = draw.below(1000);
    return true;
  }
  const auto leaves =
      static_cast<Index>(draw.chance(50) ? all_tiles(of.tiling, of.problem.seq_kv).size()
                                         : split_ranges(of.tiling, of.problem.seq_kv).size());
  Result<MergeTree> tree = make_merge_tree(merge, leaves);
  if (!tree.ok() || leaves < 2) return false;
  std::vector<Index>& steps = tree.value().steps;
  std::vector<std::size_t> at;
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (steps[i] != MergeTree::merge) at.push_back(i);
  std::swap(steps[at[draw.below(at.size())]], steps[at[draw.below(at.size())]]);
  merge = {MergeOrder::Kind::explicit_tree, 0, std::move(tree).value()};
  return true;
}

bool has_pairs(const Problem& problem) {
  return problem.seq_q > 0 && problem.seq_kv > 0;
}

MaskBits all_visible(const Problem& problem) {
  return {problem.seq_q, problem.seq_kv,
          std::vector<bool>(static_cast<std::size_t>(problem.seq_q * problem.seq_kv), true)};
}

void flip(std::vector<bool>& bits, Draw& draw) {
  bits[draw.below(bits.size())].flip();
}

bool toggle_mask_bit(Case& of, Draw& draw) {
  if (!has_pairs(of.problem)) return false;
  Mask& mask = of.problem.mask;
  if (mask.blocks && draw.chance(70)) {
    flip(mask.blocks->visible, draw);
    return true;
  }
  if (mask.additive && draw.chance(70)) {
    double& value = mask.additive->value[draw.below(mask.additive->value.size())];
    value = value == -kInfinity ? static_cast<double>(draw.between(-4, 4)) : -kInfinity;
    return true;
  }
  if (!mask.bits) mask.bits = all_visible(of.problem);
  flip(mask.bits->visible, draw);
  return true;
}

/// Hides all keys of a query, or a range of keys from all queries.
bool hide_range(Case& of, Draw& draw) {
  const Problem& problem = of.problem;
  if (!has_pairs(problem)) return false;
  MaskBits bits = all_visible(problem);
  const bool is_row = draw.chance(50);
  const Index hidden_row = draw.between(0, problem.seq_q - 1);
  const Index begin = draw.between(0, problem.seq_kv - 1);
  const Index end = draw.between(begin + 1, problem.seq_kv);
  for (Index query = 0; query < bits.rows; ++query)
    for (Index key = 0; key < bits.columns; ++key) {
      const bool hidden = is_row ? query == hidden_row : key >= begin && key < end;
      const bool was = !problem.mask.bits || problem.mask.bits->at(query, key);
      bits.visible[static_cast<std::size_t>(query * bits.columns + key)] = was && !hidden;
    }
  of.problem.mask.bits = std::move(bits);
  return true;
}

Causal drawn_diagonal(const Problem& problem, Draw& draw) {
  constexpr std::array kAlignments{Causal::Alignment::top_left, Causal::Alignment::bottom_right,
                                   Causal::Alignment::explicit_offset};
  Causal causal{draw.one_of<Causal::Alignment>(kAlignments), 0};
  if (causal.alignment == Causal::Alignment::explicit_offset)
    causal.offset = draw.between(-problem.seq_q, problem.seq_kv);
  return causal;
}

bool change_mask(Case& of, Draw& draw) {
  Problem& problem = of.problem;
  Mask& mask = problem.mask;
  const auto with_diagonal = [&] {
    if (!mask.causal && !mask.alignment) mask.alignment = drawn_diagonal(problem, draw);
  };
  switch (draw.below(7)) {
    case 0:
      mask = {};
      return true;
    case 1:
      mask.causal = drawn_diagonal(problem, draw);
      mask.alignment.reset();
      return true;
    case 2:
      with_diagonal();
      mask.window.left = draw.between(0, problem.seq_kv);
      if (draw.chance(50)) mask.window.right = draw.between(0, problem.seq_kv);
      return true;
    case 3:
      with_diagonal();
      mask.chunk = draw.between(1, problem.seq_kv + 1);
      return true;
    case 4:
      if (!mask.window.left) return false;
      mask.keep_first = draw.between(0, problem.seq_kv);
      return true;
    case 5:
      if (!mask.causal) return false;
      mask.prefix = draw.between(0, problem.seq_kv);
      return true;
    default:
      mask.bits.reset();
      mask.blocks.reset();
      mask.additive.reset();
      mask.segments.reset();
      return true;
  }
}

constexpr std::array kMoves{
    StructureMove{"change a tile", change_tile},
    StructureMove{"move a kv split", move_split},
    StructureMove{"permute the merge order", permute_merge_order},
    StructureMove{"toggle a mask bit", toggle_mask_bit},
    StructureMove{"hide a row or a range of keys", hide_range},
    StructureMove{"change the mask", change_mask},
};

}  // namespace

std::span<const StructureMove> moves_of_mask_and_tiling() {
  return kMoves;
}

}  // namespace attest::properties
