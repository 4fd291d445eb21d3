// Moves from a case to a neighbour: another length, tile, split, mask, merge order, type or value.
// They are what a fuzzer mutates with; shrinking has moves of its own (properties/shrink.hpp).
#pragma once

#include <span>
#include <string_view>

#include "properties/case.hpp"
#include "properties/draw.hpp"

namespace attest::properties {

struct StructureMove {
  std::string_view name;
  /// False: the move does not fit this case. The result may contradict itself; `apply` looks.
  bool (*change)(Case&, Draw&);
};

/// All of them: moves of the structure first, then of single values.
std::span<const StructureMove> structure_moves();
std::span<const StructureMove> moves_of_shape();
std::span<const StructureMove> moves_of_mask_and_tiling();
std::span<const StructureMove> moves_of_elements();

/// A function of case and draw alone. False, and the case as it was, where the move does not fit,
/// or where no text says what it gives.
bool apply(const StructureMove& move, Case& to, Draw& draw);

/// Gives every tensor the extents and the type that the problem says. Elements come from the old
/// tensor, again and again where it was smaller; a tensor that did not exist gets -1, 0 and 1.
void refit_tensors(Case& changed);

/// The structure of `first` with the values, the mask or the tiling of `second`; `first` itself
/// where those do not fit.
Case crossed(const Case& first, const Case& second, Draw& draw);

}  // namespace attest::properties
