// Outputs that a wrong kernel could give: what a tolerance accepts of them, it cannot tell apart.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "properties/case.hpp"
#include "reference/oracle.hpp"

namespace attest::properties {

struct StandIn {
  std::string_view name;      ///< as in "would accept NAME"
  std::string_view sentence;  ///< the mistake behind it
};

/// In a stable order.
std::span<const StandIn> stand_ins();

/// The output row of one of stand_ins(); nothing where it does not apply (a mask that is one key
/// too wide needs a hidden key behind the visible ones, and below the key length). Computed in
/// double. Preconditions: the row has a visible key; which < stand_ins().size().
std::optional<std::vector<double>> stand_in_output(std::size_t which, const Case& of,
                                                   const RowIndex& row, const RowFacts& facts);

/// Of all of them, in their order.
std::vector<std::optional<std::vector<double>>> stand_in_outputs(const Case& of,
                                                                 const RowIndex& row,
                                                                 const RowFacts& facts);

/// The output of the same row if every score were multiplied by `factor`, that of a sink too; 0:
/// all weights are equal.
std::vector<double> output_with_scores_times(const RowFacts& facts, double factor);

/// The scores of the visible keys term by term, in double.
struct ScoreParts {
  std::vector<double> product;  ///< scale times the dot product
  std::vector<double> before;   ///< the sum of what is added before softcap
};
ScoreParts score_parts(const Case& of, const RowIndex& row, const RowFacts& facts);

/// The output of the same row if every product were multiplied by `factor`: a wrong scale. What is
/// added to the product, softcap and sink are right.
std::vector<double> output_with_scale_times(const ScoreParts& parts, const RowFacts& facts,
                                            double factor);

/// Whether an output differs from the truth by more than the rounding of its own evaluation.
bool differs(const RowFacts& facts, std::size_t column, double output);

}  // namespace attest::properties
