// Draws the parts of a problem that not every kernel knows, on top of a plain shape and mask.
#pragma once

#include "properties/random_case.hpp"

namespace attest::properties {

/// Problem and tiling of `into` are a plain drawn case without values. What a limit forbids is not
/// drawn; the problem stays valid.
void draw_features(Draw& draw, const CaseLimits& limits, Case& into);

/// Where query 0 stands among the keys: at the first or the last one, or anywhere.
Causal draw_diagonal(Draw& draw, const Problem& problem);

/// Parts of the mask beyond causal and bits.
void draw_mask_features(Draw& draw, const CaseLimits& limits, Problem& problem);

/// Numbers that are added to the scores of pairs, where a table fits.
void draw_additive_mask(Draw& draw, const CaseLimits& limits, Problem& problem);

/// Layout of the tensors, and where keys lie.
void draw_storage(Draw& draw, const CaseLimits& limits, Problem& problem);

}  // namespace attest::properties
