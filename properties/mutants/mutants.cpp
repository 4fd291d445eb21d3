#include "mutants/mutants.hpp"

namespace attest::mutants {

std::span<const Mutant> all() {
  static const std::vector<Mutant> mutants = [] {
    std::vector<Mutant> made;
    append_merge_mutants(made);
    append_tile_mutants(made);
    append_mask_mutants(made);
    append_output_mutants(made);
    append_call_mutants(made);
    append_assumption_mutants(made);
    append_declared_mutants(made);
    append_weight_mutants(made);
    append_problem_mutants(made);
    append_variant_mutants(made);
    append_gradient_mutants(made);
    append_gradient_call_mutants(made);
    append_shape_mutants(made);
    append_absent_mutants(made);
    append_order_mutants(made);
    append_empty_row_mutants(made);
    append_exclusion_mutants(made);
    append_diagonal_mutants(made);
    append_split_mutants(made);
    append_term_mutants(made);
    append_gradient_edge_mutants(made);
    return made;
  }();
  return mutants;
}

const Mutant* find(std::string_view name) {
  for (const Mutant& mutant : all())
    if (mutant.kernel->description().name == name) return &mutant;
  return nullptr;
}

}  // namespace attest::mutants
