// Moves of masks, tiles, splits and merge orders.
#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "properties/derive.hpp"
#include "properties/moves.hpp"
#include "properties/moves_structure.hpp"
#include "properties/random_features.hpp"

namespace attest::properties {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A tree that was written for this many leaves fits no other number of them.
bool set_tiling(Case& on, Tiling tiling) {
  if (tiling.merge.kind == MergeOrder::Kind::explicit_tree) tiling.merge = {};
  if (tiling == on.tiling || !validate(tiling, on.problem.seq_kv).ok()) return false;
  on.tiling = std::move(tiling);
  return true;
}

bool change_tile(Case& of, Draw& draw) {
  if (draw.chance(70)) return change_kv_tile(of, draw);
  const Index tile = other_tile(of.tiling.tile_q, of.problem.seq_q, draw);
  return std::exchange(of.tiling.tile_q, tile) != tile;
}

/// The same tree with two leaves exchanged.
bool exchange_leaves(Case& of, Draw& draw) {
  MergeOrder& merge = of.tiling.merge;
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

bool permute_merge_order(Case& of, Draw& draw) {
  return draw.chance(50) ? change_merge_order(of, draw) : exchange_leaves(of, draw);
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
  if (draw.chance(50)) {
    const Index query = draw.between(0, problem.seq_q - 1);
    of = with_hidden_query(std::move(of), query);
    return true;
  }
  MaskBits bits = problem.mask.bits.value_or(all_visible(problem));
  const Index begin = draw.between(0, problem.seq_kv - 1);
  const Index end = draw.between(begin + 1, problem.seq_kv);
  for (Index query = 0; query < bits.rows; ++query)
    for (Index key = begin; key < end; ++key)
      bits.visible[static_cast<std::size_t>(query * bits.columns + key)] = false;
  of.problem.mask.bits = std::move(bits);
  return true;
}

bool change_mask(Case& of, Draw& draw) {
  Problem& problem = of.problem;
  Mask& mask = problem.mask;
  const auto with_diagonal = [&] {
    if (!mask.causal && !mask.alignment) mask.alignment = draw_diagonal(draw, problem);
  };
  switch (draw.below(7)) {
    case 0:
      mask = {};
      return true;
    case 1:
      mask.causal = draw_diagonal(draw, problem);
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
    StructureMove{"move a kv split", change_kv_splits},
    StructureMove{"permute the merge order", permute_merge_order},
    StructureMove{"toggle a mask bit", toggle_mask_bit},
    StructureMove{"hide a row or a range of keys", hide_range},
    StructureMove{"change the mask", change_mask},
};

}  // namespace

Index other_tile(Index tile, Index length, Draw& draw) {
  if (draw.chance(50)) return std::max(Index{1}, tile + (draw.chance(50) ? 1 : -1));
  return draw.between(1, length + 1);
}

bool change_kv_tile(Case& on, Draw& draw) {
  Tiling tiling = on.tiling;
  tiling.tile_kv = other_tile(tiling.tile_kv, on.problem.seq_kv, draw);
  return set_tiling(on, std::move(tiling));
}

bool change_kv_splits(Case& on, Draw& draw) {
  Tiling tiling = on.tiling;
  std::vector<Index>& cuts = tiling.splits.cuts;
  const Index keys = on.problem.seq_kv;
  switch (draw.below(4)) {
    case 0:
      tiling.splits = {draw.between(1, keys + 1), {}};
      return set_tiling(on, std::move(tiling));
    case 1:
      cuts.push_back(draw.between(0, keys));
      break;
    case 2:
      if (cuts.empty()) return false;
      cuts.erase(cuts.begin() + draw.between(0, static_cast<Index>(cuts.size()) - 1));
      break;
    default:
      if (cuts.empty()) return false;
      Index& cut = cuts[draw.below(cuts.size())];
      cut = std::clamp(cut + (draw.chance(50) ? 1 : -1), Index{0}, keys);
  }
  // What is cut by name is not cut by number, too: the last cut that goes leaves one split.
  tiling.splits.count = 1;
  std::sort(cuts.begin(), cuts.end());
  return set_tiling(on, std::move(tiling));
}

bool change_merge_order(Case& on, Draw& draw) {
  constexpr std::array kinds{MergeOrder::Kind::left, MergeOrder::Kind::right,
                             MergeOrder::Kind::balanced, MergeOrder::Kind::random};
  Tiling tiling = on.tiling;
  tiling.merge = {draw.one_of<MergeOrder::Kind>(kinds), 0, {}};
  if (tiling.merge.kind == MergeOrder::Kind::random) tiling.merge.seed = draw.below(1000);
  return set_tiling(on, std::move(tiling));
}

std::span<const StructureMove> moves_of_mask_and_tiling() {
  return kMoves;
}

}  // namespace attest::properties
