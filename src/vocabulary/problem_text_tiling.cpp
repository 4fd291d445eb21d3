#include <string>

#include "problem_text_parts.hpp"

namespace attest {

bool parse_tile(TextCursor& cursor, ProblemText& result) {
  const std::size_t tile_at = cursor.position();
  if (!cursor.count(result.tiling.tile_q, "a tile size, N or QxKV")) return false;
  result.tiling.tile_kv = result.tiling.tile_q;
  if (cursor.accept("x") && !cursor.count(result.tiling.tile_kv, "the number of keys of a tile"))
    return false;
  return (result.tiling.tile_q >= 1 && result.tiling.tile_kv >= 1) ||
         cursor.fail_at(tile_at, "tiles must be at least 1");
}

bool parse_split(TextCursor& cursor, ProblemText& result) {
  const std::size_t split_at = cursor.position();
  if (cursor.accept("at:")) {
    if (!parse_counts(cursor, result.tiling.splits.cuts, "a cut position")) return false;
  } else if (!cursor.count(result.tiling.splits.count, "a number of kv splits or at:CUT,CUT")) {
    return false;
  }
  const Status status = validate(result.tiling, result.problem.seq_kv);
  return status.ok() || cursor.fail_at(split_at, status.message());
}

bool parse_merge(TextCursor& cursor, ProblemText& result) {
  MergeOrder& order = result.tiling.merge;
  if (cursor.accept("left"))
    order.kind = MergeOrder::Kind::left;
  else if (cursor.accept("right"))
    order.kind = MergeOrder::Kind::right;
  else if (cursor.accept("balanced"))
    order.kind = MergeOrder::Kind::balanced;
  else if (cursor.accept("random:")) {
    order.kind = MergeOrder::Kind::random;
    return cursor.number(order.seed, "the seed of the random tree");
  } else if (cursor.accept("tree:")) {
    order.kind = MergeOrder::Kind::explicit_tree;
    do {
      if (cursor.accept("+"))
        order.tree.steps.push_back(MergeTree::merge);
      else if (!cursor.count(order.tree.steps.emplace_back(), "a leaf number or '+'"))
        return false;
    } while (cursor.accept("."));
  } else {
    return cursor.fail("expected left, right, balanced, random:SEED or tree:STEP.STEP");
  }
  return true;
}

bool check_tree(TextCursor& cursor, const ProblemText& result, std::size_t merge_at) {
  if (result.tiling.merge.kind != MergeOrder::Kind::explicit_tree) return true;
  const Index seq_kv = result.problem.seq_kv;
  const MergeTree& tree = result.tiling.merge.tree;
  const auto splits = static_cast<Index>(split_ranges(result.tiling, seq_kv).size());
  if (validate(tree, splits).ok()) return true;
  // More tiles than the tree has steps cannot fit, and might not fit into memory either.
  if (seq_kv / result.tiling.tile_kv > static_cast<Index>(tree.steps.size()))
    return cursor.fail_at(merge_at, "merge tree has fewer leaves than there are splits or tiles");
  const auto tiles = static_cast<Index>(all_tiles(result.tiling, seq_kv).size());
  const Status status = validate(tree, tiles);
  return status.ok() ||
         cursor.fail_at(merge_at, status.message() + " (" + std::to_string(tiles) + " tiles in " +
                                      std::to_string(splits) + " splits)");
}

}  // namespace attest
