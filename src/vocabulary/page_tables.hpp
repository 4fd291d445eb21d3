// Page tables that a rule makes. Each answers for kv.page_size and the key lengths of a problem.
#pragma once

#include <cstdint>

#include "attest/problem.hpp"

namespace attest {

/// Whether the tables below have at most 2^20 entries, rows without entries counted.
/// Precondition: page_size >= 1 and a valid shape.
bool has_small_page_table(const Problem& problem);

/// Every batch member takes the next free pages, and the cache has no more.
/// Precondition: has_small_page_table.
KvStorage pages_in_order(const Problem& problem);

/// The same with the pages shuffled, and a quarter and one more that hold nothing.
KvStorage random_pages(const Problem& problem, std::uint64_t seed);

}  // namespace attest
