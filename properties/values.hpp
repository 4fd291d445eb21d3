// Value families: what q, k and v look like. Each aims at one mechanism that breaks kernels. The
// other tensors of a problem are filled from the seed, whatever the family. Numbers are stored
// ones: descales are not divided out, and what a type cannot hold becomes its largest finite
// number.
//
// Families that shape scores put the shape into column 0 of k and make q = (1, ~0, ~0 ...), so
// that score(i, j) is close to scale * k(j, 0).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "properties/case.hpp"

namespace attest::properties {

struct ValueFamily {
  std::string_view name;
  std::string_view sentence;  ///< what it provokes
};

/// All families, simplest first.
std::span<const ValueFamily> value_families();

bool is_value_family(std::string_view name);

/// Fills the tensors of `into` (problem and tiling are set) from the family and the seed.
/// Precondition: is_value_family(name).
void fill_family(Case& into, std::string_view name, std::uint64_t seed);

/// Fills q, k and v with rows of a real tensor, cut to the problem's shape at a place chosen by
/// the seed (seed 0: at the first row and column, so that the source's own shape gives the source);
/// shapes larger than the source wrap around.
void fill_real(Case& into, const tensors::RealAttention& source, std::uint64_t seed);

}  // namespace attest::properties
