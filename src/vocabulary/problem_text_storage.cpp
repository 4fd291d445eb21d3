#include <set>
#include <string>
#include <utility>

#include "page_tables.hpp"
#include "problem_checks.hpp"
#include "problem_text_parts.hpp"

namespace attest {
namespace {

constexpr std::array kOrders{
    Choice{"bshd", Layout::Order::bshd}, Choice{"bhsd", Layout::Order::bhsd},
    Choice{"sbhd", Layout::Order::sbhd}, Choice{"thd", Layout::Order::thd}};

/// A page that the member does not have yet.
bool parse_page(TextCursor& cursor, Index pages, std::set<Index>& seen, Index& page) {
  const std::size_t page_at = cursor.position();
  if (!cursor.count(page, "a page")) return false;
  if (page >= pages)
    return cursor.fail_at(page_at, "page " + std::to_string(page) + " is beyond the " +
                                       std::to_string(pages) + " pages of the cache");
  return seen.insert(page).second ||
         cursor.fail_at(page_at, "a batch member has page " + std::to_string(page) + " twice");
}

bool parse_member_pages(TextCursor& cursor, Problem& problem, Index b) {
  const std::size_t pages_at = cursor.position();
  std::vector<Index> table;
  std::set<Index> seen;
  if (cursor.peek() != '/' && cursor.peek() != ' ' && cursor.peek() != '\t' && !cursor.at_end()) {
    do {
      if (!parse_page(cursor, problem.kv.pages, seen, table.emplace_back())) return false;
    } while (cursor.accept(","));
  }
  const Index needed = ceil_divide(problem.key_length(b), problem.kv.page_size);
  if (static_cast<Index>(table.size()) < needed)
    return cursor.fail_at(pages_at, "batch member " + std::to_string(b) + " has " +
                                        std::to_string(table.size()) + " pages, its keys need " +
                                        std::to_string(needed));
  problem.kv.page_table.push_back(std::move(table));
  return true;
}

bool parse_explicit_pages(TextCursor& cursor, Problem& problem) {
  if (!cursor.count(problem.kv.pages, "the number of pages of the cache, or random:SEED") ||
      !cursor.expect(":", "between the number of pages and the pages"))
    return false;
  for (Index b = 0; b < problem.batch; ++b) {
    if (b > 0 && !cursor.accept("/"))
      return cursor.fail("the page table has " + std::to_string(b) + " rows, the batch " +
                         std::to_string(problem.batch) + " members");
    if (!parse_member_pages(cursor, problem, b)) return false;
  }
  return true;
}

bool parse_paged(TextCursor& cursor, Problem& problem) {
  KvStorage& kv = problem.kv;
  kv.kind = KvStorage::Kind::paged;
  const std::size_t size_at = cursor.position();
  if (!cursor.count(kv.page_size, "the number of keys of a page")) return false;
  if (kv.page_size < 1) return cursor.fail_at(size_at, "a page must have at least 1 slot");
  const bool says_more = cursor.accept(":");
  const bool is_random = says_more && cursor.accept("random:");
  if (says_more && !is_random) return parse_explicit_pages(cursor, problem);
  std::uint64_t seed = 0;
  if (is_random && !cursor.number(seed, "the seed of the page table")) return false;
  if (!has_small_page_table(problem))
    return cursor.fail_at(size_at, "the page table has more than 2^20 entries");
  kv = is_random ? random_pages(problem, seed) : pages_in_order(problem);
  return true;
}

}  // namespace

bool parse_v(TextCursor& cursor, ProblemText& result) {
  constexpr std::array kWords{Choice{"own", false}, Choice{"view(k)", true}};
  return parse_choice(cursor, kWords, result.problem.v_is_k_view);
}

bool parse_descales(TextCursor& cursor, ProblemText& result) {
  if (cursor.accept("none")) return true;
  Descales& by = result.problem.descales.emplace();
  by = {{}, {}, {}};
  const char* const what = "a descale";
  return parse_numbers(cursor, by.q, Dtype::f32, "a descale of q, as in descale=Q;K;V, or none") &&
         cursor.expect(";", "between the descales of q and k") &&
         parse_numbers(cursor, by.k, Dtype::f32, what) &&
         cursor.expect(";", "between the descales of k and v") &&
         parse_numbers(cursor, by.v, Dtype::f32, what);
}

bool parse_layout(TextCursor& cursor, ProblemText& result) {
  Layout& layout = result.problem.layout;
  if (!parse_choice(cursor, kOrders, layout.order)) return false;
  bool padded = false;
  bool strided = false;
  while (cursor.accept(":")) {
    const std::size_t part_at = cursor.position();
    if (!padded && cursor.accept("pad=")) {
      padded = true;
      if (!cursor.count(layout.row_padding, "the padding of rows")) return false;
    } else if (!strided && cursor.accept("col=")) {
      strided = true;
      if (!cursor.count(layout.column_stride, "the stride of columns")) return false;
      if (layout.column_stride < 1)
        return cursor.fail_at(part_at, "the stride of columns must be at least 1");
    } else {
      return cursor.fail("expected pad=N or col=N, each once");
    }
  }
  return true;
}

bool parse_kv(TextCursor& cursor, ProblemText& result) {
  if (cursor.accept("dense")) return true;
  if (cursor.accept("paged:")) return parse_paged(cursor, result.problem);
  if (!cursor.accept("leftpad")) return cursor.fail("expected dense, leftpad or paged:P");
  result.problem.kv.kind = KvStorage::Kind::left_padded;
  return true;
}

}  // namespace attest
