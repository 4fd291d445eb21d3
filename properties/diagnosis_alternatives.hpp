// The mistakes that diagnosis knows, by family.
#pragma once

#include <array>
#include <limits>
#include <vector>

#include "properties/diagnosis_run.hpp"

namespace attest::properties {

/// Large finite numbers that kernels write where minus infinity is meant.
inline constexpr std::array kFiniteMinusInfinities{
    -1e4,  -5e4,    -1e5,
    -1e6,  -1e9,    -1e10,
    -1e30, -3.4e38, static_cast<double>(std::numeric_limits<float>::lowest())};

using Alternatives = std::vector<Alternative>;

void append_mask_alternatives(Alternatives& to);
void append_score_alternatives(Alternatives& to);
void append_alibi_alternatives(Alternatives& to);
void append_lse_alternatives(Alternatives& to);
void append_head_alternatives(Alternatives& to);
void append_storage_alternatives(Alternatives& to);
void append_excluded_alternatives(Alternatives& to);
void append_row_alternatives(Alternatives& to);
void append_tile_alternatives(Alternatives& to);
void append_weight_alternatives(Alternatives& to);
void append_output_alternatives(Alternatives& to);

/// All of them, in a stable order.
const Alternatives& all_alternatives();

}  // namespace attest::properties
