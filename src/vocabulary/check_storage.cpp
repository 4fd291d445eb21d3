#include <algorithm>
#include <array>
#include <string>

#include "problem_checks.hpp"

namespace attest {
namespace {

Status check_stored(const Layout& layout, const Extents& stored) {
  const std::string message = "a stored tensor of this problem has more than 2^56 elements";
  if (too_large({stored[3], layout.column_stride, 1, 1}) ||
      too_large({layout.row_padding, 1, 1, 1}))
    return invalid_argument(message);
  const Index pitch = stored[3] * layout.column_stride + layout.row_padding;
  if (too_large({stored[0], stored[1], stored[2], pitch})) return invalid_argument(message);
  return {};
}

Status check_layout(const Problem& problem) {
  const Layout& layout = problem.layout;
  if (layout.row_padding < 0) return invalid_argument("padding of rows must not be negative");
  if (layout.column_stride < 1) return invalid_argument("the stride of columns must be at least 1");
  const Index columns = std::max({problem.head_dim, problem.head_dim_v, problem.lse_extents()[3]});
  return check_stored(layout, stored_q_extents(problem, columns));
}

Status check_member_pages(const Problem& problem, Index b) {
  const KvStorage& kv = problem.kv;
  const std::string member = "batch member " + std::to_string(b);
  const std::vector<Index>& table = kv.page_table[static_cast<std::size_t>(b)];
  const Index needed = ceil_divide(problem.key_length(b), kv.page_size);
  if (static_cast<Index>(table.size()) < needed)
    return invalid_argument(member + " has " + std::to_string(table.size()) +
                            " pages, its keys need " + std::to_string(needed));
  for (const Index page : table)
    if (page < 0 || page >= kv.pages)
      return invalid_argument(member + " has page " + std::to_string(page) + ", the cache " +
                              std::to_string(kv.pages) + " pages");
  std::vector<Index> sorted = table;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end())
    return invalid_argument(member + " has page " + std::to_string(*twice) + " twice");
  return {};
}

Status check_pages(const Problem& problem) {
  const KvStorage& kv = problem.kv;
  if (kv.page_size < 1) return invalid_argument("a page must have at least 1 slot");
  if (kv.pages < 0) return invalid_argument("the number of pages must not be negative");
  if (static_cast<Index>(kv.page_table.size()) != problem.batch)
    return invalid_argument("the page table has " + std::to_string(kv.page_table.size()) +
                            " rows, the batch " + std::to_string(problem.batch) + " members");
  for (Index b = 0; b < problem.batch; ++b)
    if (Status status = check_member_pages(problem, b); !status.ok()) return status;
  return {};
}

Status check_kv(const Problem& problem) {
  const KvStorage& kv = problem.kv;
  if (kv.kind == KvStorage::Kind::paged) {
    if (Status status = check_pages(problem); !status.ok()) return status;
  } else if (kv.page_size != 0 || kv.pages != 0 || !kv.page_table.empty()) {
    return invalid_argument("pages need k and v that are paged");
  }
  if (kv.kind == KvStorage::Kind::left_padded && problem.layout.order == Layout::Order::thd)
    return invalid_argument("packed rows (thd) have no padding: kv=leftpad needs another layout");
  const Index columns = std::max(problem.head_dim, problem.head_dim_v);
  return check_stored(problem.layout, stored_kv_extents(problem, columns));
}

constexpr std::array kChecks{ProblemCheck{"layout", check_layout}, ProblemCheck{"kv", check_kv}};

}  // namespace

std::span<const ProblemCheck> storage_checks() {
  return kChecks;
}

}  // namespace attest
