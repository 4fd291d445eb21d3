#include <algorithm>
#include <string>

#include "problem_text_parts.hpp"

namespace attest {
namespace {

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

/// The lengths of queries or of keys.
struct Side {
  Index& longest;
  std::vector<Index>& lengths;
  std::string of;
};

/// One number, or a list whose longest length is the number.
bool parse_side(TextCursor& cursor, const Side& side, Index& batch, bool& batch_from_list) {
  const std::size_t list_at = cursor.position();
  if (!cursor.accept("{"))
    return cursor.count(side.longest,
                        side.of == "query" ? "the number of queries" : "the number of keys");
  if (!parse_counts(cursor, side.lengths, side.of == "query" ? "a query length" : "a key length") ||
      !cursor.expect("}", ("after the " + side.of + " lengths").c_str()))
    return false;
  side.longest = *std::max_element(side.lengths.begin(), side.lengths.end());
  const auto members = static_cast<Index>(side.lengths.size());
  if (batch_from_list) batch = members;
  batch_from_list = false;
  return batch == members ||
         cursor.fail_at(list_at, "the list has " + std::to_string(members) + " " + side.of +
                                     " lengths, the batch has " + std::to_string(batch) +
                                     " members");
}

bool parse_lengths(TextCursor& cursor, Problem& problem, bool batch_from_list) {
  if (!parse_side(cursor, {problem.seq_q, problem.query_lengths, "query"}, problem.batch,
                  batch_from_list) ||
      !cursor.expect("x", "between queries and keys"))
    return false;
  if (batch_from_list && cursor.peek() != '{')
    return cursor.fail("batch * needs a list of lengths, as in *x1:4x{3,0}:8");
  return parse_side(cursor, {problem.seq_kv, problem.key_lengths, "key"}, problem.batch,
                    batch_from_list);
}

bool parse_dims(TextCursor& cursor, Problem& problem) {
  const std::size_t dims_at = cursor.position();
  if (!cursor.count(problem.head_dim, "head_dim")) return false;
  problem.head_dim_v = problem.head_dim;
  if (cursor.accept("/") && !cursor.count(problem.head_dim_v, "head_dim_v")) return false;
  return (problem.head_dim >= 1 && problem.head_dim_v >= 1) ||
         cursor.fail_at(dims_at, "head_dim must be at least 1");
}

bool parse_types(TextCursor& cursor, Problem& problem) {
  std::array<std::optional<Dtype>, 3> types;
  std::size_t count = 0;
  do {
    if (count == types.size()) return cursor.fail("expected at most three dtypes, of q, k and v");
    const std::size_t dtype_at = cursor.position();
    types[count] = dtype_from_string(cursor.word("/"));
    if (!types[count])
      return cursor.fail_at(dtype_at,
                            "expected a dtype, one of f32, f64, bf16, f16, e4m3 and e5m2");
    ++count;
  } while (cursor.accept("/"));
  problem.dtype = *types[0];
  if (types[1] && types[1] != types[0]) problem.k_storage = types[1];
  if (types[2] && types[2] != types[1]) problem.v_storage = types[2];
  return true;
}

}  // namespace

bool parse_shape(TextCursor& cursor, Problem& problem, std::size_t& types_at) {
  bool batch_from_list = false;
  cursor.skip_spaces();
  if (!parse_heads(cursor, problem, batch_from_list) ||
      !separator(cursor, "between heads and lengths") ||
      !parse_lengths(cursor, problem, batch_from_list) ||
      !separator(cursor, "between lengths and head_dim") || !parse_dims(cursor, problem))
    return false;
  if (cursor.peek() != ' ' && cursor.peek() != '\t')
    return cursor.fail("expected a space and then the dtype, or q/k/v dtypes");
  cursor.skip_spaces();
  types_at = cursor.position();
  return parse_types(cursor, problem);
}

}  // namespace attest
