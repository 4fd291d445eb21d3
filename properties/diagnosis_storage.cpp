// Mistakes about where keys lie: pages and padding.
#include <set>
#include <utility>

#include "properties/diagnosis_alternatives.hpp"

namespace attest::properties {
namespace {

/// Keys and values as they are read from the storage of `of` when it is taken for `misread`.
bool read_as(Case& of, const KvStorage& misread) {
  if (misread == of.problem.kv) return false;
  Problem other = of.problem;
  other.kv = misread;
  of.k = unpack_keys(other, pack_keys(of.problem, of.k));
  // A view of k has the numbers of k.
  of.v = unpack_keys(other, pack_keys(of.problem, of.v));
  of.problem.kv = {};
  return true;
}

bool is_paged(const Problem& problem) {
  return problem.kv.kind == KvStorage::Kind::paged;
}
bool pages_in_order(Case& of, Index) {
  if (!is_paged(of.problem)) return false;
  KvStorage kv = of.problem.kv;
  Index next = 0;
  for (auto& table : kv.page_table)
    for (Index& page : table) page = next++ % kv.pages;
  return read_as(of, kv);
}
bool pages_of_first_member(Case& of, Index) {
  if (!is_paged(of.problem)) return false;
  KvStorage kv = of.problem.kv;
  for (auto& table : kv.page_table)
    if (table.size() <= kv.page_table.front().size()) table = kv.page_table.front();
  return read_as(of, kv);
}
bool pages_of_one_member_each(Case& of, Index) {
  if (!is_paged(of.problem)) return false;
  KvStorage kv = of.problem.kv;
  std::set<Index> taken;
  for (auto& table : kv.page_table)
    for (Index& page : table)
      if (!taken.insert(page).second) page = (page + 1) % kv.pages;
  return read_as(of, kv);
}
bool last_pages_of_table(Case& of, Index) {
  if (!is_paged(of.problem)) return false;
  KvStorage kv = of.problem.kv;
  for (Index b = 0; b < of.problem.batch; ++b) {
    auto& table = kv.page_table[static_cast<std::size_t>(b)];
    const Index needed = (of.problem.key_length(b) + kv.page_size - 1) / kv.page_size;
    table.erase(table.begin(), table.end() - needed);
  }
  return read_as(of, kv);
}
bool padding_on_other_side(Case& of, Index) {
  if (of.problem.kv.kind != KvStorage::Kind::left_padded) return false;
  return read_as(of, {});
}
bool padding_on_left(Case& of, Index) {
  if (of.problem.kv.kind != KvStorage::Kind::dense || of.problem.key_lengths.empty() ||
      of.problem.layout.order == Layout::Order::thd)
    return false;
  KvStorage kv;
  kv.kind = KvStorage::Kind::left_padded;
  return read_as(of, kv);
}

}  // namespace

void append_storage_alternatives(Alternatives& to) {
  to.push_back(other_problem("pages in the order of memory",
                             "pages are not looked up in the page table", {pages_in_order}));
  to.push_back(other_problem("pages of the first batch member",
                             "batch members read the page table of the first one",
                             {pages_of_first_member}));
  to.push_back(other_problem("shared pages read elsewhere",
                             "a page that two members share is taken for the next one",
                             {pages_of_one_member_each}));
  to.push_back(other_problem("last pages of the table",
                             "of a page table that is longer than needed the last pages are read",
                             {last_pages_of_table}));
  to.push_back(other_problem("padding on the other side",
                             "padding of the keys is looked for on the wrong side",
                             {padding_on_other_side, padding_on_left}));
}

}  // namespace attest::properties
