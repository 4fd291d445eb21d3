// Mutation and crossover of inputs as cases (properties/moves_structure.hpp), not as bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "fuzz/case_input.hpp"

namespace attest::fuzz {

/// Changes bytes in place without knowing what they mean; returns the size, at most `max_size`.
using RawMutation =
    std::function<std::size_t(std::uint8_t* data, std::size_t size, std::size_t max_size)>;

/// Writes a mutated input over the `size` bytes at `data`, which has room for `max_size`; returns
/// its size. A function of the form, the bytes, the seed and what `raw` does: one input in eight is
/// left to it, and what would be longer than `max_size` as well.
std::size_t mutate(const CaseForm& form, std::uint8_t* data, std::size_t size, std::size_t max_size,
                   std::uint64_t seed, const RawMutation& raw);

/// Writes a mixture of two inputs to `out`; 0 where none fits into it.
std::size_t cross_over(const CaseForm& form, std::span<const std::uint8_t> first,
                       std::span<const std::uint8_t> second, std::span<std::uint8_t> out,
                       std::uint64_t seed);

}  // namespace attest::fuzz
