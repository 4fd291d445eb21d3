// Judges an elementary function of the SIMD kernels block by block.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attest/status.hpp"
#include "kernels/simd_math_accuracy.hpp"
#include "reference/elementary_error.hpp"

namespace attest::cli {

/// The word of a function and what it should compute.
struct NamedFunction {
  std::string_view name;
  kernels::MathFunction function;
  reference::Elementary exact;
};

std::optional<NamedFunction> find_function(std::string_view name);

/// The floats in ascending order of their bit patterns; a block stays in the cache.
inline constexpr Index kBlockArguments = Index{1} << 15;
inline constexpr Index kBlocks = (Index{1} << 32) / kBlockArguments;

/// One tally a target, of the arguments of the block that are in the function's domain.
std::vector<reference::ElementaryTally> judge_block(const NamedFunction& function,
                                                    const std::vector<std::string>& targets,
                                                    Index block);

/// The blocks from `first` to `last` - 1 on that many threads; one entry a block.
std::vector<std::vector<reference::ElementaryTally>> judge_blocks(
    const NamedFunction& function, const std::vector<std::string>& targets, Index first, Index last,
    int threads);

/// What the kernels declare of this function on a target that this machine has.
kernels::MathError declared_of(const NamedFunction& function, const std::string& target);

/// Whether what was found is within that, with no wrong special value.
bool declared_holds(const NamedFunction& function, const std::string& target,
                    const reference::ElementaryTally& found);

}  // namespace attest::cli
