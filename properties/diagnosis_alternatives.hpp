// The mistakes that diagnosis knows, by family.
#pragma once

#include <vector>

#include "properties/diagnosis_run.hpp"

namespace attest::properties {

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
