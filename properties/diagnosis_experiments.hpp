// Further cases on which a mistake must show as it says, and nowhere else.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "properties/case.hpp"

namespace attest::properties {

/// Cases that take more multiplications of the oracle are no evidence.
inline constexpr Index kMostWork = Index{1} << 22;
/// Multiplications of the oracle; more than that are counted as one more.
Index work_of(const Problem& problem);
inline bool affordable(const Problem& problem) {
  return work_of(problem) <= kMostWork;
}

/// Cases of the same kind as those of `like`: the same types, terms, kinds of mask and of storage,
/// but other lengths, heads, columns, tiles, splits, mask bits, limits and values, and in some of
/// them a key that holds NaN or very large numbers. In turn for each of `like`. Deterministic.
std::vector<Case> experiments(std::span<const Case* const> like, std::size_t count);

/// The same shape without mask, lengths, storage of its own and terms.
Case plain_case(const Case& like);

}  // namespace attest::properties
