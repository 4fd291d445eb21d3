#include "properties/moves_structure.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "properties/derive.hpp"

namespace attest::properties {
namespace {

/// Whether the text of the case is accepted: whatever stands in a problem line is valid.
bool has_text(const Case& of) {
  if (!validate(of.problem).ok() || !validate(of.tiling, of.problem.seq_kv).ok()) return false;
  ProblemText read;
  TextError error;
  // The lengths of a ragged batch say how long its longest member is.
  return parse_problem_text(minimal_text(to_text(of)), read, error) && read.problem == of.problem &&
         read.tiling == of.tiling;
}

Tensor refitted(const Tensor& from, Dtype dtype, const Extents& extents) {
  const bool is_new = std::ranges::find(from.extents(), Index{0}) != from.extents().end();
  return filled(dtype, extents, [&](Index b, Index h, Index row, Index column) {
    if (is_new) return static_cast<double>((b + 2 * h + row + column) % 3 - 1);
    const Extents& old = from.extents();
    return from.get(b % old[0], h % old[1], row % old[2], column % old[3]);
  });
}

Case with_tiling_of(Case first, const Case& second) {
  first.tiling = second.tiling;
  return with_fitting_tiling(std::move(first));
}

Case with_mask_of(Case first, const Case& second) {
  first.problem.mask = second.problem.mask;
  return first;
}

Case with_values_of(Case first, const Case& second) {
  for (const CaseTensor& of : case_tensors()) {
    const Tensor& source = second.*of.tensor;
    if (is_view(first.problem, of.tensor) || of.extents(first.problem) == Extents{} ||
        std::ranges::find(source.extents(), Index{0}) != source.extents().end())
      continue;
    first.*of.tensor = refitted(source, of.dtype(first.problem), of.extents(first.problem));
  }
  share_values(first);
  becomes_literal(first);
  return first;
}

}  // namespace

void refit_tensors(Case& changed) {
  for (const CaseTensor& of : case_tensors()) {
    if (is_view(changed.problem, of.tensor)) continue;
    Tensor& tensor = changed.*of.tensor;
    const Extents extents = of.extents(changed.problem);
    if (extents == Extents{})
      tensor = {};
    else if (tensor.extents() != extents || tensor.dtype() != of.dtype(changed.problem))
      tensor = refitted(tensor, of.dtype(changed.problem), extents);
  }
  share_values(changed);
  becomes_literal(changed);
}

std::span<const StructureMove> structure_moves() {
  static const std::vector<StructureMove> all = [] {
    std::vector<StructureMove> moves;
    for (const auto part : {moves_of_shape(), moves_of_mask_and_tiling(), moves_of_elements()})
      moves.insert(moves.end(), part.begin(), part.end());
    return moves;
  }();
  return all;
}

bool apply(const StructureMove& move, Case& to, Draw& draw) {
  Case changed = to;
  if (!move.change(changed, draw)) return false;
  // What shares memory can be said only of a problem without contradictions.
  if (!validate(changed.problem).ok()) return false;
  refit_tensors(changed);
  changed = with_fitting_tiling(std::move(changed));
  if (!has_text(changed)) return false;
  to = std::move(changed);
  return true;
}

Case crossed(const Case& first, const Case& second, Draw& draw) {
  const auto mix = draw.one_of<Case (*)(Case, const Case&)>(
      std::vector<Case (*)(Case, const Case&)>{with_values_of, with_mask_of, with_tiling_of});
  Case mixed = mix(first, second);
  return has_text(mixed) ? mixed : first;
}

}  // namespace attest::properties
