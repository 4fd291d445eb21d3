// Cases made out of cases: the moves that laws and the shrinker share. A derived case has literal
// values, is valid, and keeps its tiling as far as that still fits.
#pragma once

#include <cstdint>
#include <vector>

#include "properties/case.hpp"

namespace attest::properties {

/// Cuts that no longer fit are moved to the end, a tree that no longer fits becomes `left`.
Case with_fitting_tiling(Case from);

/// One batch member on its own, with every part that it has; queries and keys beyond its lengths
/// are gone.
Case single_member(const Case& from, Index b);

/// Every batch member a second time behind the first ones, with other values.
/// Precondition: densely stored, forward only.
Case with_strangers(const Case& on);

/// The keys at the given positions, in that order (repeats allowed), with their columns of masks
/// and bias. What counts positions (causal, window, ALiBi ...) counts the new ones. Precondition:
/// no key_lengths.
Case select_keys(const Case& from, const std::vector<Index>& keys);

/// The queries at the given positions, alike. Precondition: no query_lengths.
Case select_queries(const Case& from, const std::vector<Index>& queries);

/// One query head with its key/value head on its own.
Case single_head(const Case& from, Index h);

/// One output row on its own: 1x1:1xn, spelled out.
Case single_row(const Case& from, const RowIndex& row);

/// One output row and its visible keys only, without any mask, spelled out.
Case visible_part_of_row(const Case& from, const RowIndex& row);

/// The same case with query `query` (of every batch member and head) seeing no key.
Case with_hidden_query(Case from, Index query);

/// The same case with other values of one tensor. A v that was a view of k becomes one of its own.
Case with_values(Case from, Tensor Case::*tensor, const ElementRule& element);

/// Every member its own pages of `page_size` slots, shuffled, one page more than needed.
KvStorage shuffled_pages(const Problem& problem, Index page_size, std::uint64_t seed);

/// The keys first .. n-1.
std::vector<Index> all_keys(Index n);

}  // namespace attest::properties
