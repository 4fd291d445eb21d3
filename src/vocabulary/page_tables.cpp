#include "page_tables.hpp"

#include <numeric>
#include <utility>

#include "attest/random.hpp"
#include "problem_checks.hpp"

namespace attest {
namespace {

constexpr Index kMostEntries = Index{1} << 20;

Index pages_of(const Problem& problem, Index b) {
  return ceil_divide(problem.key_length(b), problem.kv.page_size);
}

KvStorage filled(const Problem& problem, const std::vector<Index>& pages) {
  KvStorage kv{KvStorage::Kind::paged, problem.kv.page_size, static_cast<Index>(pages.size()), {}};
  auto next = pages.begin();
  for (Index b = 0; b < problem.batch; ++b) {
    const auto end = next + pages_of(problem, b);
    kv.page_table.emplace_back(next, end);
    next = end;
  }
  return kv;
}

std::vector<Index> numbered_pages(Index count) {
  std::vector<Index> pages(static_cast<std::size_t>(count));
  std::iota(pages.begin(), pages.end(), Index{0});
  return pages;
}

Index needed_pages(const Problem& problem) {
  Index needed = 0;
  for (Index b = 0; b < problem.batch; ++b) needed += pages_of(problem, b);
  return needed;
}

}  // namespace

bool has_small_page_table(const Problem& problem) {
  Index room = kMostEntries;
  if (problem.batch > room) return false;
  for (Index b = 0; b < problem.batch; ++b) {
    room -= 1;
    if (pages_of(problem, b) > room) return false;
    room -= pages_of(problem, b);
  }
  return room >= 0;
}

KvStorage pages_in_order(const Problem& problem) {
  return filled(problem, numbered_pages(needed_pages(problem)));
}

KvStorage random_pages(const Problem& problem, std::uint64_t seed) {
  const Index needed = needed_pages(problem);
  std::vector<Index> pages = numbered_pages(needed + needed / 4 + 1);
  SplitMix64 random(seed);
  for (std::size_t left = pages.size(); left > 1; --left)
    std::swap(pages[left - 1], pages[random.below(left)]);
  return filled(problem, pages);
}

}  // namespace attest
