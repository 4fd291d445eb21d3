// Further cases on which a mistake must show as it says, and nowhere else.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "properties/case.hpp"

namespace attest::properties {

/// What a mistake must explain, in the given runs and once more in experiments: the sum over wrong
/// rows of log2(distance from the truth / bound of the mistake). Some 300 forms of mistakes are
/// tried; that one of them fits by chance happens in 300 of 2^20 diagnoses, one in 3000.
inline constexpr double kEnoughBits = 20;

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
enum class ExperimentValues {
  all,
  plain,  ///< normal and whole numbers only: for models in double, which do not overflow
};
std::vector<Case> experiments(std::span<const Case* const> like, std::size_t count,
                              ExperimentValues values = ExperimentValues::all);

/// The same shape without mask, lengths, storage of its own and terms.
Case plain_case(const Case& like);

}  // namespace attest::properties
