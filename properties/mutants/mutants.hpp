// Kernels that are wrong on purpose. Each is a correct kernel with one step replaced, is named by
// its mistake, and names the law that must kill it.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "attest/kernel.hpp"

namespace attest::mutants {

struct Mutant {
  std::unique_ptr<Kernel> kernel;  ///< description().summary says the mistake
  std::string_view killed_by;      ///< law that must kill it within the ci tier
};

/// In a stable order; every name begins with "mutant:".
std::span<const Mutant> all();

/// Null when there is none of this name.
const Mutant* find(std::string_view name);

// Families, each in its own file.
void append_merge_mutants(std::vector<Mutant>& mutants);
void append_tile_mutants(std::vector<Mutant>& mutants);
void append_mask_mutants(std::vector<Mutant>& mutants);
void append_output_mutants(std::vector<Mutant>& mutants);
void append_call_mutants(std::vector<Mutant>& mutants);
void append_assumption_mutants(std::vector<Mutant>& mutants);
void append_declared_mutants(std::vector<Mutant>& mutants);
void append_weight_mutants(std::vector<Mutant>& mutants);
void append_problem_mutants(std::vector<Mutant>& mutants);
void append_variant_mutants(std::vector<Mutant>& mutants);
void append_gradient_mutants(std::vector<Mutant>& mutants);
void append_gradient_call_mutants(std::vector<Mutant>& mutants);
void append_shape_mutants(std::vector<Mutant>& mutants);
void append_absent_mutants(std::vector<Mutant>& mutants);
void append_order_mutants(std::vector<Mutant>& mutants);
void append_empty_row_mutants(std::vector<Mutant>& mutants);
void append_exclusion_mutants(std::vector<Mutant>& mutants);
void append_diagonal_mutants(std::vector<Mutant>& mutants);
void append_split_mutants(std::vector<Mutant>& mutants);
void append_term_mutants(std::vector<Mutant>& mutants);
void append_gradient_edge_mutants(std::vector<Mutant>& mutants);

}  // namespace attest::mutants
