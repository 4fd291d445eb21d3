// Moves that both searches make: the fuzzer (moves_structure.hpp) and the climb (moves_values.hpp).
//
// Each keeps a valid case valid: what shares memory stays equal, finite numbers stay finite, and a
// tiling fits its keys. False: the move does not apply, and the case is as it was.
#pragma once

#include <optional>
#include <vector>

#include "properties/case.hpp"
#include "properties/draw.hpp"

namespace attest::properties {

// Of a number.
bool step_one_ulp(Case& on, Draw& draw);
bool flip_sign(Case& on, Draw& draw);

// Of two keys of one batch member and head.
/// They exchange k, v or both.
bool swap_keys(Case& on, Draw& draw);
/// One becomes equal to the other.
bool duplicate_key(Case& on, Draw& draw);
/// One takes the score of the other, which lies in another tile.
bool copy_score_across_tiles(Case& on, Draw& draw);

// Of the way in which work is cut. A tree that was written for the old leaves is dropped.
bool change_kv_tile(Case& on, Draw& draw);
bool change_kv_splits(Case& on, Draw& draw);
/// One of the orders that fit any number of leaves.
bool change_merge_order(Case& on, Draw& draw);

/// One more, one fewer, or any size up to one that holds all of `length`.
Index other_tile(Index tile, Index length, Draw& draw);

/// One number of one tensor.
struct Element {
  Tensor* tensor = nullptr;
  Index at = 0;
  bool may_be_special = false;  ///< infinity and NaN are numbers of q, k and v

  double get() const;
  /// Stores the nearest number of the type. False: it is the one that was there, or is special and
  /// may not be.
  bool put(double value) const;
  /// Stores the nearest number of the type that is finite. False: nothing changed.
  bool put_finite(double value) const;
};

/// Tensors with numbers of their own.
std::vector<Tensor Case::*> changeable(const Case& of);
Index elements(const Tensor& tensor);

/// Any tensor, however small, is drawn as often as any other.
std::optional<Element> draw_element(Case& on, Draw& draw);

/// To be called after numbers were changed; returns `changed`.
bool numbers_changed(Case& on, bool changed);

}  // namespace attest::properties
