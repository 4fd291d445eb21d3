// Small problems made for one question each: what remains of a case is its type, batch, heads,
// rows, head_dim and tiling; scores and values are chosen so that a correct kernel rounds nothing.
#pragma once

#include <optional>
#include <string_view>

#include "attest/kernel.hpp"
#include "attest/verdict.hpp"
#include "properties/case.hpp"
#include "properties/tally.hpp"

namespace attest::properties {

/// An output and what it is in exact arithmetic.
struct Known {
  Place place;
  double got = 0;
  double exact = 0;
};

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
/// the dtype (a narrower format, values that it rounds, an approximate reciprocal). An output of
/// another format is no such reason: holds_exactly knows what it is.
std::optional<Verdict> rounds_exact_results(const DeclaredAccuracy& accuracy, Dtype dtype);

/// `exact`, a result of the arithmetic that is known exactly, as an output: rounded to nearest,
/// ties to even, where another format is declared. Nothing where it exceeds that format: a kernel
/// may saturate or overflow.
std::optional<double> as_output(const DeclaredAccuracy& accuracy, double exact);

/// Demands that `got` is as_output(exact). +0 and -0 are equal, for 0 + (-0) is +0; below the
/// normal range a kernel that flushes may have lost some of it, or everything.
void holds_exactly(Tally& tally, const DeclaredAccuracy& accuracy, const Known& output,
                   std::string_view reason);

/// Whether a score with one product, of which one factor is a power of two, stays exact, and its
/// difference from another one as well.
bool keeps_exact_scores(const DeclaredAccuracy& accuracy, Index head_dim);

}  // namespace attest::properties
