// Small problems made for one question each: what remains of a case is its type, batch, heads,
// rows, head_dim and tiling; scores and values are chosen so that a correct kernel rounds nothing.
#pragma once

#include <optional>

#include "attest/kernel.hpp"
#include "attest/verdict.hpp"
#include "properties/case.hpp"

namespace attest::properties {

/// A number that a replay line repeats, for choices of a law: the seed of the values.
std::uint64_t seed_of(const Case& on);

/// A power of two in [2, 128], about as many as the case has keys: weights of 1 then have an exact
/// sum, and dividing by it is exact.
Index power_of_two_keys(const Case& on);

/// The type of the arithmetic of a case, if the kernel takes tensors of it; else that of its q.
Dtype probe_dtype(const Kernel& kernel, const Case& on);

/// `keys` keys, all visible, scale 1, policy `zero`, q = k = v = 0. An lse is asked for where the
/// kernel writes one.
Case blank_probe(const Kernel& kernel, const Case& on, Index keys, Index columns);

/// Score of key j = q(., 0) k(j, 0): the other columns are 0.
void set_scores(Case& probe, const ElementRule& q, const ElementRule& k);

/// Skipped, with the reason, where the kernel declares arithmetic that may round what is exact in
/// the dtype (a narrower format, a narrower output, an approximate reciprocal).
std::optional<Verdict> rounds_exact_results(const DeclaredAccuracy& accuracy, Dtype dtype);

/// Whether a score with one product, of which one factor is a power of two, stays exact, and its
/// difference from another one as well.
bool keeps_exact_scores(const DeclaredAccuracy& accuracy, Index head_dim);

}  // namespace attest::properties
