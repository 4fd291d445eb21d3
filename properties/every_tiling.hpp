// Every way of cutting a few keys and of merging the parts: for exhaustive checks.
#pragma once

#include <vector>

#include "attest/accuracy.hpp"
#include "attest/kernel.hpp"
#include "attest/tiling.hpp"

namespace attest::properties {

/// All binary trees over all permutations of the leaves, n! Catalan(n - 1) of them, in a stable
/// order; merge(a, b) and merge(b, a) are two trees. Precondition: leaves >= 1.
std::vector<MergeTree> every_merge_tree(Index leaves);

/// Every tile size from 1 to `seq_kv`, every set of up to `seq_kv` kv splits (also empty ones), and
/// every merge tree over what these make of the keys under `scope`. Two tilings that cut the keys
/// into the same splits of the same tiles are one. Tilings with more than `seq_kv` summaries to
/// merge are left out: they differ from one with fewer in a further empty summary.
/// What the capabilities exclude is not varied. Precondition: seq_kv >= 1.
std::vector<Tiling> every_tiling(const Capabilities& capabilities, SummaryScope scope,
                                 Index seq_kv);

/// What the merge tree of a call joins: splits, where the kernel has a tiling of its own.
inline SummaryScope scope_of_tree(const DeclaredAccuracy& accuracy) {
  return accuracy.own_tiling ? SummaryScope::split : accuracy.scope;
}

/// The same computation without its empty splits: an empty summary is the identity of the merge, so
/// a kernel rounds the same numbers in the same order. The default tiling of no keys if all are
/// empty. Precondition: the tiling is valid and its merge is left, or an explicit tree that fits.
Tiling without_empty_splits(const Tiling& tiling, SummaryScope scope, Index seq_kv);

}  // namespace attest::properties
