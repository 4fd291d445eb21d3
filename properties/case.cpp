#include "properties/case.hpp"

#include <algorithm>

#include "properties/values.hpp"

namespace attest::properties {
namespace {

/// Elements of a tensor, an extent of 0 counted as 1: loops run over the other extents all the
/// same.
Index elements(const Extents& extents) {
  Index product = 1;
  for (const Index extent : extents) product *= std::max(extent, Index{1});
  return product;
}

Tensor from_numbers(Dtype dtype, const Extents& extents, const std::vector<double>& numbers) {
  std::size_t next = 0;
  return filled(dtype, extents, [&](Index, Index, Index, Index) { return numbers[next++]; });
}

std::vector<double> to_numbers(const Tensor& tensor) {
  std::vector<double> numbers;
  for_each_index(tensor.extents(), [&](Index b, Index h, Index row, Index column) {
    numbers.push_back(tensor.get(b, h, row, column));
  });
  return numbers;
}

Status fill(Case& made, const ValueRecipe& recipe, const tensors::TensorLibrary* library) {
  const Problem& problem = made.problem;
  switch (recipe.kind) {
    case ValueRecipe::Kind::literal:
      made.q = from_numbers(problem.dtype, problem.q_extents(), recipe.q);
      made.k = from_numbers(problem.dtype, problem.k_extents(), recipe.k);
      made.v = from_numbers(problem.dtype, problem.v_extents(), recipe.v);
      becomes_literal(made);
      return {};
    case ValueRecipe::Kind::real: {
      const tensors::RealAttention* source =
          library == nullptr ? nullptr : library->find(recipe.name);
      if (source == nullptr)
        return invalid_argument("no real tensor named '" + recipe.name +
                                "' (give its folder with --tensors DIR)");
      fill_real(made, *source, recipe.seed);
      return {};
    }
    case ValueRecipe::Kind::family:
      break;
  }
  if (!is_value_family(recipe.name))
    return invalid_argument("unknown value family '" + recipe.name +
                            "' (attest list families shows them)");
  fill_family(made, recipe.name, recipe.seed);
  return {};
}

}  // namespace

void becomes_literal(Case& changed) {
  // Laws draw their own choices from the seed: it stays.
  changed.values = {ValueRecipe::Kind::literal, "", changed.values.seed, {}, {}, {}};
}

Tensor filled(Dtype dtype, const Extents& extents, const ElementRule& element) {
  Tensor tensor(dtype, extents);
  for_each_index(extents, [&](Index b, Index h, Index row, Index column) {
    tensor.set(b, h, row, column, element(b, h, row, column));
  });
  return tensor;
}

Result<Case> make_case(const ProblemText& text, const tensors::TensorLibrary* library) {
  const Problem& problem = text.problem;
  if (elements(problem.q_extents()) > kMaxCaseElements ||
      elements(problem.k_extents()) > kMaxCaseElements ||
      elements(problem.v_extents()) > kMaxCaseElements ||
      elements(problem.out_extents()) > kMaxCaseElements)
    return invalid_argument("problem too large: a tensor has more than 2^28 elements");
  Case made{problem, text.tiling, text.values, {}, {}, {}};
  if (Status status = fill(made, text.values, library); !status.ok()) return status;
  return made;
}

ProblemText to_text(const Case& from, std::string_view law) {
  ProblemText text{from.problem, from.tiling, from.values, std::string(law)};
  if (text.values.kind == ValueRecipe::Kind::literal) {
    text.values.q = to_numbers(from.q);
    text.values.k = to_numbers(from.k);
    text.values.v = to_numbers(from.v);
  }
  return text;
}

}  // namespace attest::properties
