#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "problem_checks.hpp"
#include "problem_text_parts.hpp"

namespace attest {
namespace {

bool parse_diagonal(TextCursor& cursor, Causal& diagonal, const char* forms) {
  if (cursor.accept("tl"))
    diagonal.alignment = Causal::Alignment::top_left;
  else if (cursor.accept("br"))
    diagonal.alignment = Causal::Alignment::bottom_right;
  else if (cursor.accept("off=")) {
    diagonal.alignment = Causal::Alignment::explicit_offset;
    return cursor.number(diagonal.offset, "the offset of the diagonal");
  } else {
    return cursor.fail(forms);
  }
  return true;
}

constexpr const char* kCorner = "causal needs its corner: causal:tl, causal:br or causal:off=N";

bool parse_causal(TextCursor& cursor, const Problem&, Mask& mask) {
  return parse_diagonal(cursor, mask.causal.emplace(), kCorner);
}

bool parse_prefix(TextCursor& cursor, const Problem&, Mask& mask) {
  return cursor.count(mask.prefix.emplace(), "the number of keys of the prefix");
}

bool parse_chunk(TextCursor& cursor, const Problem&, Mask& mask) {
  const std::size_t chunk_at = cursor.position();
  return cursor.count(mask.chunk.emplace(), "the number of keys of a chunk") &&
         (*mask.chunk >= 1 || cursor.fail_at(chunk_at, "a chunk must have at least 1 key"));
}

/// One document number a position; an empty list where there are no positions.
bool parse_documents(TextCursor& cursor, std::vector<Index>& list, Index want,
                     const std::string& positions) {
  const std::size_t list_at = cursor.position();
  if (want > 0) {
    do {
      if (!cursor.number(list.emplace_back(), "the number of a document")) return false;
    } while (cursor.accept(","));
  }
  return static_cast<Index>(list.size()) == want ||
         cursor.fail_at(list_at, "the list has " + std::to_string(list.size()) +
                                     " document numbers, the problem " + std::to_string(want) +
                                     " " + positions);
}

bool parse_segments(TextCursor& cursor, const Problem& problem, Mask& mask) {
  Segments& segments = mask.segments.emplace();
  if (!parse_documents(cursor, segments.q, problem.seq_q, "queries")) return false;
  if (cursor.accept("/")) return parse_documents(cursor, segments.k, problem.seq_kv, "keys");
  segments.k = segments.q;
  return problem.seq_q == problem.seq_kv ||
         cursor.fail("as many keys as queries share one list; here it takes two, as in doc:0,0/0");
}

/// A row of 0 and 1, one a key or a block of keys.
bool parse_bit_row(TextCursor& cursor, std::vector<bool>& bits, Index want, const char* of) {
  const std::size_t row_at = cursor.position();
  Index columns = 0;
  for (; cursor.peek() == '0' || cursor.peek() == '1'; ++columns)
    bits.push_back(cursor.accept("1") || !cursor.accept("0"));
  const bool stops =
      cursor.at_end() || std::string_view("/+ \t").find(cursor.peek()) != std::string_view::npos;
  if (!stops) return cursor.fail("expected 0 or 1");
  return columns == want ||
         cursor.fail_at(row_at, "a row of mask bits has " + std::to_string(columns) +
                                    " characters, the problem " + std::to_string(want) + " " + of);
}

/// What has one row a query, or one for all.
bool check_rows(TextCursor& cursor, Index rows, const Problem& problem, const std::string& name) {
  return rows == 1 || rows == problem.seq_q ||
         cursor.fail(name + " have " + std::to_string(rows) + " rows, the problem " +
                     std::to_string(problem.seq_q) + " queries");
}

bool parse_bits(TextCursor& cursor, const Problem& problem, Mask& mask) {
  MaskBits& bits = mask.bits.emplace();
  bits.columns = problem.seq_kv;
  do {
    if (!parse_bit_row(cursor, bits.visible, bits.columns, "keys")) return false;
    ++bits.rows;
  } while (cursor.accept("/"));
  return check_rows(cursor, bits.rows, problem, "mask bits");
}

bool parse_blocks(TextCursor& cursor, const Problem& problem, Mask& mask) {
  BlockMask& blocks = mask.blocks.emplace();
  const std::size_t size_at = cursor.position();
  if (!cursor.count(blocks.block_q, "the queries of a block, as in block:RxC:ROWS") ||
      !cursor.expect("x", "between the queries and keys of a block") ||
      !cursor.count(blocks.block_kv, "the keys of a block") ||
      !cursor.expect(":", "between the size and the rows of blocks"))
    return false;
  if (blocks.block_q < 1 || blocks.block_kv < 1)
    return cursor.fail_at(size_at, "a block must have at least 1 query and 1 key");
  const Index rows = ceil_divide(problem.seq_q, blocks.block_q);
  blocks.columns = ceil_divide(problem.seq_kv, blocks.block_kv);
  for (; blocks.rows < rows; ++blocks.rows) {
    if (blocks.rows > 0 && !cursor.accept("/"))
      return cursor.fail("the block mask has " + std::to_string(blocks.rows) +
                         " rows, the problem " + std::to_string(rows) + " blocks of queries");
    if (!parse_bit_row(cursor, blocks.visible, blocks.columns, "blocks of keys")) return false;
  }
  return true;
}

bool parse_additive_number(TextCursor& cursor, const Problem& problem, double& value) {
  const std::size_t number_at = cursor.position();
  if (!cursor.number_of(value, problem.compute_dtype(), "a number of the additive mask"))
    return false;
  return std::isfinite(value) || value < 0 ||
         cursor.fail_at(number_at, "a number of the additive mask is finite or -inf");
}

bool parse_additive(TextCursor& cursor, const Problem& problem, Mask& mask) {
  AdditiveMask& additive = mask.additive.emplace();
  additive.columns = problem.seq_kv;
  do {
    const std::size_t row_at = cursor.position();
    Index columns = 0;
    while (columns == 0 ? problem.seq_kv > 0 : cursor.accept(",")) {
      if (!parse_additive_number(cursor, problem, additive.value.emplace_back())) return false;
      ++columns;
    }
    if (columns != problem.seq_kv)
      return cursor.fail_at(row_at, "a row of the additive mask has " + std::to_string(columns) +
                                        " numbers, the problem " + std::to_string(problem.seq_kv) +
                                        " keys");
    ++additive.rows;
  } while (cursor.accept("/"));
  return check_rows(cursor, additive.rows, problem, "numbers of the additive mask");
}

struct Part {
  std::string_view name;
  bool (*parse)(TextCursor&, const Problem&, Mask&);
};
constexpr std::array kParts{Part{"causal", parse_causal}, Part{"prefix", parse_prefix},
                            Part{"chunk", parse_chunk},   Part{"doc", parse_segments},
                            Part{"bits", parse_bits},     Part{"block", parse_blocks},
                            Part{"add", parse_additive}};

bool parse_part(TextCursor& cursor, ProblemText& result, std::array<bool, kParts.size()>& seen) {
  const std::size_t part_at = cursor.position();
  if (cursor.accept("none")) return cursor.fail_at(part_at, "none stands alone");
  for (std::size_t i = 0; i < kParts.size(); ++i) {
    if (!cursor.accept(kParts[i].name)) continue;
    const std::string name(kParts[i].name);
    if (std::exchange(seen[i], true))
      return cursor.fail_at(part_at, "'" + name + "' is given twice");
    if (!cursor.accept(":"))
      return cursor.fail(name == "causal" ? kCorner : "expected ':' after '" + name + "'");
    return kParts[i].parse(cursor, result.problem, result.problem.mask);
  }
  return cursor.fail(
      "unknown mask; known: none, causal:tl, causal:br, causal:off=N, prefix:N, chunk:C, "
      "doc:LIST, bits:ROWS, block:RxC:ROWS, add:NUMBERS");
}

bool parse_limit(TextCursor& cursor, std::optional<Index>& limit, const char* what) {
  const std::size_t limit_at = cursor.position();
  if (cursor.accept("*")) return true;
  const std::string keys(what);
  return cursor.number(limit.emplace(), (keys + ", a number or *").c_str()) &&
         (*limit >= 0 || cursor.fail_at(limit_at, keys + " must not be negative; no limit is *"));
}

}  // namespace

bool parse_mask(TextCursor& cursor, ProblemText& result) {
  if (cursor.accept("none")) return cursor.peek() != '+' || cursor.fail("none stands alone");
  std::array<bool, kParts.size()> seen{};
  do {
    if (!parse_part(cursor, result, seen)) return false;
  } while (cursor.accept("+"));
  return true;
}

bool parse_align(TextCursor& cursor, ProblemText& result) {
  if (cursor.accept("none")) return true;
  return parse_diagonal(cursor, result.problem.mask.alignment.emplace(),
                        "expected none, tl, br or off=N");
}

bool parse_window(TextCursor& cursor, ProblemText& result) {
  Window& window = result.problem.mask.window;
  return parse_limit(cursor, window.left, "the keys to the left") &&
         cursor.expect(":", "between LEFT and RIGHT of a window") &&
         parse_limit(cursor, window.right, "the keys to the right");
}

bool parse_keep(TextCursor& cursor, ProblemText& result) {
  return cursor.expect("first:", "and a number of keys") &&
         cursor.count(result.problem.mask.keep_first, "the number of first keys to keep");
}

}  // namespace attest
