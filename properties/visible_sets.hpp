// Reads off which keys a kernel sees.
#pragma once

#include <functional>
#include <vector>

#include "attest/kernel.hpp"
#include "attest/verdict.hpp"
#include "properties/case.hpp"

namespace attest::properties {

/// The keys that a row must see, ascending.
using KeysOf = std::function<std::vector<Index>(const Problem&, const RowIndex&)>;

/// What the reference sees.
std::vector<Index> reference_keys(const Problem& problem, const RowIndex& row);

/// All scores equal, v(key, column) = [key = column], so that an output is above 0 exactly where
/// the key takes part. Mask, lengths, storage, types and softcap stay those of `problem`; what
/// would make scores differ does not.
Verdict compare_visible_sets(const Kernel& kernel, const Problem& problem, const Tiling& tiling,
                             const KeysOf& keys_of = reference_keys);

/// A problem as a text, and the pairs that it lets through: one row a query of every batch member,
/// separated by '/', one character a key, 1 for visible. Written by hand.
struct HandTable {
  const char* problem;
  const char* rows;
};

/// Holds the oracle to the table first, and then the kernel.
Verdict check_hand_table(const Kernel& kernel, const HandTable& table);

}  // namespace attest::properties
