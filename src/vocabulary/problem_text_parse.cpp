#include "attest/problem_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "text_cursor.hpp"

namespace attest {
namespace {

bool parse_list(TextCursor& cursor, std::vector<Index>& list, std::string_view separator,
                const char* what) {
  do {
    if (!cursor.count(list.emplace_back(), what)) return false;
  } while (cursor.accept(separator));
  return true;
}

bool separator(TextCursor& cursor, const char* what) {
  cursor.skip_spaces();
  if (!cursor.expect(":", what)) return false;
  cursor.skip_spaces();
  return true;
}

bool parse_heads(TextCursor& cursor, Problem& problem, bool& batch_from_list) {
  batch_from_list = cursor.accept("*");
  if (!batch_from_list && !cursor.count(problem.batch, "the batch size, as in BxHq:LqxLk:d"))
    return false;
  if (!cursor.expect("x", "between batch and heads")) return false;
  const std::size_t heads_at = cursor.position();
  if (!cursor.count(problem.heads_q, "the number of query heads")) return false;
  problem.heads_kv = problem.heads_q;
  if (cursor.accept("/") && !cursor.count(problem.heads_kv, "the number of key/value heads"))
    return false;
  if (problem.heads_q < 1 || problem.heads_kv < 1 || problem.heads_q % problem.heads_kv != 0)
    return cursor.fail_at(heads_at,
                          "query heads must be a multiple of key/value heads, both at "
                          "least 1");
  return true;
}

bool parse_lengths(TextCursor& cursor, Problem& problem, bool batch_from_list) {
  if (cursor.peek() == '{')
    return cursor.fail("a list of query lengths is not supported, only one of key lengths");
  if (!cursor.count(problem.seq_q, "the number of queries") ||
      !cursor.expect("x", "between queries and keys"))
    return false;
  const std::size_t keys_at = cursor.position();
  if (!cursor.accept("{")) {
    if (batch_from_list)
      return cursor.fail("batch * needs a list of key lengths, as in *x1:4x{3,0}:8");
    return cursor.count(problem.seq_kv, "the number of keys");
  }
  if (!parse_list(cursor, problem.key_lengths, ",", "a key length") ||
      !cursor.expect("}", "after the key lengths"))
    return false;
  problem.seq_kv = 0;
  for (const Index length : problem.key_lengths) problem.seq_kv = std::max(problem.seq_kv, length);
  const Index members = static_cast<Index>(problem.key_lengths.size());
  if (batch_from_list) problem.batch = members;
  if (problem.batch != members)
    return cursor.fail_at(keys_at, "the list has " + std::to_string(members) +
                                       " key lengths, the batch has " +
                                       std::to_string(problem.batch) + " members");
  return true;
}

bool parse_shape(TextCursor& cursor, Problem& problem) {
  bool batch_from_list = false;
  cursor.skip_spaces();
  if (!parse_heads(cursor, problem, batch_from_list) ||
      !separator(cursor, "between heads and lengths") ||
      !parse_lengths(cursor, problem, batch_from_list) ||
      !separator(cursor, "between lengths and head_dim"))
    return false;
  const std::size_t dims_at = cursor.position();
  if (!cursor.count(problem.head_dim, "head_dim")) return false;
  problem.head_dim_v = problem.head_dim;
  if (cursor.accept("/") && !cursor.count(problem.head_dim_v, "head_dim_v")) return false;
  if (problem.head_dim < 1 || problem.head_dim_v < 1)
    return cursor.fail_at(dims_at, "head_dim must be at least 1");
  if (cursor.peek() != ' ' && cursor.peek() != '\t')
    return cursor.fail("expected a space and then the dtype, f32 or f64");
  cursor.skip_spaces();
  const std::size_t dtype_at = cursor.position();
  const std::optional<Dtype> dtype = dtype_from_string(cursor.word());
  if (!dtype) return cursor.fail_at(dtype_at, "expected the dtype, f32 or f64");
  problem.dtype = *dtype;
  const Status status = validate(problem);
  return status.ok() || cursor.fail_at(0, status.message());
}

bool parse_causal(TextCursor& cursor, Mask& mask) {
  Causal causal;
  if (cursor.accept("tl"))
    causal.alignment = Causal::Alignment::top_left;
  else if (cursor.accept("br"))
    causal.alignment = Causal::Alignment::bottom_right;
  else if (cursor.accept("off=")) {
    causal.alignment = Causal::Alignment::explicit_offset;
    if (!cursor.number(causal.offset, "the offset of the causal diagonal")) return false;
  } else {
    return cursor.fail("causal needs its corner: causal:tl, causal:br or causal:off=N");
  }
  mask.causal = causal;
  return true;
}

bool parse_bits(TextCursor& cursor, const Problem& problem, Mask& mask) {
  MaskBits bits{0, problem.seq_kv, {}};
  do {
    const std::size_t row_at = cursor.position();
    Index columns = 0;
    for (; cursor.peek() == '0' || cursor.peek() == '1'; ++columns)
      bits.visible.push_back(cursor.accept("1") || !cursor.accept("0"));
    if (columns != problem.seq_kv)
      return cursor.fail_at(row_at, "a row of mask bits has " + std::to_string(columns) +
                                        " characters, the problem " +
                                        std::to_string(problem.seq_kv) + " keys");
    ++bits.rows;
  } while (cursor.accept("/"));
  if (bits.rows != 1 && bits.rows != problem.seq_q)
    return cursor.fail("mask bits have " + std::to_string(bits.rows) + " rows, the problem " +
                       std::to_string(problem.seq_q) + " queries");
  mask.bits = std::move(bits);
  return true;
}

bool parse_mask(TextCursor& cursor, ProblemText& result) {
  Mask& mask = result.problem.mask;
  if (cursor.accept("none")) return true;
  do {
    const std::size_t part_at = cursor.position();
    if (cursor.accept("causal")) {
      if (mask.causal) return cursor.fail_at(part_at, "causal is given twice");
      // The colon may be missing where nothing follows; then the corner is asked for.
      if (!cursor.accept(":"))
        return cursor.fail("causal needs its corner: causal:tl, causal:br or causal:off=N");
      if (!parse_causal(cursor, mask)) return false;
    } else if (cursor.accept("bits:")) {
      if (mask.bits) return cursor.fail_at(part_at, "bits are given twice");
      if (!parse_bits(cursor, result.problem, mask)) return false;
    } else {
      return cursor.fail(
          "unknown mask; known: none, causal:tl, causal:br, causal:off=N, bits:ROWS");
    }
  } while (cursor.accept("+"));
  return true;
}

bool parse_scale(TextCursor& cursor, ProblemText& result) {
  Scale& scale = result.problem.scale;
  if (cursor.accept("rsqrt")) return true;
  const std::size_t scale_at = cursor.position();
  scale.reciprocal_sqrt = false;
  bool finite = true;
  if (!cursor.real(scale.value, finite, result.problem.dtype, "a number or rsqrt")) return false;
  return std::isfinite(scale.value) ||
         cursor.fail_at(scale_at, "scale must be finite in the problem's dtype");
}

bool parse_empty(TextCursor& cursor, ProblemText& result) {
  if (cursor.accept("zero"))
    result.problem.all_masked = AllMaskedPolicy::zero;
  else if (cursor.accept("reject"))
    result.problem.all_masked = AllMaskedPolicy::reject;
  else
    return cursor.fail("expected zero or reject");
  return true;
}

bool parse_lse(TextCursor& cursor, ProblemText& result) {
  if (cursor.accept("none"))
    result.problem.lse = LseForm::none;
  else if (cursor.accept("ln"))
    result.problem.lse = LseForm::natural;
  else
    return cursor.fail("expected none or ln");
  return true;
}

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
    if (!parse_list(cursor, result.tiling.splits.cuts, ",", "a cut position")) return false;
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

bool parse_literal_tensor(TextCursor& cursor, const Extents& extents, Dtype dtype, const char* name,
                          std::vector<double>& values) {
  const std::size_t tensor_at = cursor.position();
  const auto want = static_cast<std::size_t>(extents[0] * extents[1] * extents[2] * extents[3]);
  if (want > 0) {
    do {
      const std::size_t number_at = cursor.position();
      double value = 0;
      bool finite = true;
      if (!cursor.real(value, finite, dtype, "a number")) return false;
      if (finite && !std::isfinite(value))
        return cursor.fail_at(number_at, "number does not fit f32");
      values.push_back(value);
    } while (cursor.accept(","));
  }
  if (values.size() != want)
    return cursor.fail_at(tensor_at, std::string(name) + " has " + std::to_string(values.size()) +
                                         " numbers, the problem needs " + std::to_string(want));
  return true;
}

bool parse_values(TextCursor& cursor, ProblemText& result) {
  ValueRecipe& values = result.values;
  const Problem& problem = result.problem;
  if (cursor.accept("lit:")) {
    values = {ValueRecipe::Kind::literal, "", 0, {}, {}, {}};
    return parse_literal_tensor(cursor, problem.q_extents(), problem.dtype, "q", values.q) &&
           cursor.expect(";", "between q and k") &&
           parse_literal_tensor(cursor, problem.k_extents(), problem.dtype, "k", values.k) &&
           cursor.expect(";", "between k and v") &&
           parse_literal_tensor(cursor, problem.v_extents(), problem.dtype, "v", values.v) &&
           (!cursor.accept(";") || cursor.number(values.seed, "a seed"));
  }
  if (cursor.accept("real:")) values.kind = ValueRecipe::Kind::real;
  const std::size_t name_at = cursor.position();
  values.name = cursor.word(":");
  if (values.kind == ValueRecipe::Kind::family && (values.name == "lit" || values.name == "real"))
    return cursor.fail_at(name_at, "expected FAMILY:SEED, real:NAME:SEED or lit:Q;K;V");
  if (values.name.empty()) return cursor.fail("expected FAMILY:SEED, real:NAME:SEED or lit:Q;K;V");
  values.seed = 0;
  return !cursor.accept(":") || cursor.number(values.seed, "a seed");
}

bool parse_law(TextCursor& cursor, ProblemText& result) {
  result.law = cursor.word();
  return !result.law.empty() || cursor.fail("expected the name of a law");
}

struct Key {
  std::string_view name;
  bool (*parse)(TextCursor&, ProblemText&);
};
constexpr std::array kKeys{
    Key{"mask", parse_mask},   Key{"scale", parse_scale}, Key{"empty", parse_empty},
    Key{"lse", parse_lse},     Key{"tile", parse_tile},   Key{"split", parse_split},
    Key{"merge", parse_merge}, Key{"vals", parse_values}, Key{"law", parse_law}};

bool parse_keys(TextCursor& cursor, ProblemText& result) {
  std::array<bool, kKeys.size()> seen{};
  for (cursor.skip_spaces(); !cursor.at_end(); cursor.skip_spaces()) {
    const std::size_t key_at = cursor.position();
    const std::string_view name = cursor.word("=");
    std::size_t index = 0;
    while (index < kKeys.size() && kKeys[index].name != name) ++index;
    if (index == kKeys.size()) {
      std::string known;
      for (const Key& key : kKeys) known += " " + std::string(key.name);
      return cursor.fail_at(key_at, "unknown key '" + std::string(name) + "'; known:" + known);
    }
    if (seen[index])
      return cursor.fail_at(key_at, "key '" + std::string(name) + "' is given twice");
    seen[index] = true;
    if (!cursor.expect("=", "after the key") || !kKeys[index].parse(cursor, result)) return false;
    if (!cursor.at_end() && cursor.peek() != ' ' && cursor.peek() != '\t')
      return cursor.fail("unexpected text after the value of '" + std::string(name) + "'");
  }
  return true;
}

/// The explicit tree, the only part whose fit depends on several keys and on the kernel's scope:
/// it must fit the splits or the tiles.
bool check_tree(TextCursor& cursor, const ProblemText& result) {
  if (result.tiling.merge.kind != MergeOrder::Kind::explicit_tree) return true;
  const Index seq_kv = result.problem.seq_kv;
  const MergeTree& tree = result.tiling.merge.tree;
  const auto splits = static_cast<Index>(split_ranges(result.tiling, seq_kv).size());
  if (validate(tree, splits).ok()) return true;
  // More tiles than the tree has steps cannot fit, and might not fit into memory either.
  if (seq_kv / result.tiling.tile_kv > static_cast<Index>(tree.steps.size()))
    return cursor.fail("merge tree has fewer leaves than there are splits or tiles");
  const auto tiles = static_cast<Index>(all_tiles(result.tiling, seq_kv).size());
  const Status status = validate(tree, tiles);
  return status.ok() || cursor.fail(status.message() + " (" + std::to_string(tiles) + " tiles in " +
                                    std::to_string(splits) + " splits)");
}

}  // namespace

std::string with_caret(std::string_view text, const TextError& error) {
  return std::string(text) + "\n" + std::string(error.position, ' ') + "^ " + error.message;
}

bool parse_problem_text(std::string_view text, ProblemText& result, TextError& error) {
  result = ProblemText{};
  TextCursor cursor(text);
  if (parse_shape(cursor, result.problem) && parse_keys(cursor, result) &&
      check_tree(cursor, result)) {
    const Status status = validate(result.problem);
    if (status.ok()) return true;
    cursor.fail_at(0, status.message());
  }
  error = cursor.error();
  return false;
}

}  // namespace attest
