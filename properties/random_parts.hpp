// Draws single parts of a problem, for whoever builds a case of a given kind.
#pragma once

#include <vector>

#include "properties/case.hpp"
#include "properties/draw.hpp"
#include "properties/random_case.hpp"

namespace attest::properties {

/// Lengths of every batch member, some of them 0, at least one as long as `longest`.
std::vector<Index> draw_lengths(Draw& draw, Index batch, Index longest);

/// Some rows see nothing.
MaskBits draw_bits(Draw& draw, const Problem& problem);

/// Documents one after the other.
std::vector<Index> draw_documents(Draw& draw, Index length);

/// Precondition: queries and keys.
BlockMask draw_blocks(Draw& draw, const Problem& problem);
AdditiveMask draw_additive(Draw& draw, const Problem& problem);

/// Every member its own pages in random order, and a few that hold nothing; sometimes shared ones,
/// and a table that is longer than its keys need.
KvStorage draw_pages(Draw& draw, const Problem& problem);

/// KV splits and merge order of a tiling of so many keys.
void draw_cuts(Draw& draw, Index seq_kv, Tiling& tiling);

/// How the work of so many keys is cut.
Tiling draw_tiling(Draw& draw, Index seq_kv);

/// The tensors of a case whose problem and tiling are set.
void draw_values(Draw& draw, const CaseLimits& limits, Case& into);

}  // namespace attest::properties
