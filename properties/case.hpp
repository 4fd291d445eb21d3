// A case: a problem with its tensors, tiling, KV splits and merge order.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "attest/problem_text.hpp"
#include "attest/tensor.hpp"
#include "tensors/library.hpp"

namespace attest::properties {

struct Case {
  Problem problem;
  Tiling tiling;
  /// How q, k and v were made. Kind `literal` stands for the tensors themselves, whose numbers are
  /// written out only when a text is asked for.
  ValueRecipe values;
  // Logical tensors, dense in bshd order, whatever the problem says of its storage. Those that the
  // problem does not have are empty.
  Tensor q;
  Tensor k;
  Tensor v;  ///< where the problem has v as a view of k: the leading columns of k
  Tensor bias = {};
  Tensor sink = {};
  Tensor qv = {};
  Tensor dout = {};
  Tensor dlse = {};
};

/// One tensor of a case: its name in a text, and what the problem says of it.
struct CaseTensor {
  std::string_view name;
  Tensor Case::*tensor;
  std::vector<double> ValueRecipe::*numbers;
  Extents (*extents)(const Problem&);
  Dtype (*dtype)(const Problem&);
};

/// All of them, in the order of the text.
std::span<const CaseTensor> case_tensors();

/// Whether a tensor of a case has no numbers of its own: v as a view of k.
constexpr bool is_view(const Problem& problem, Tensor Case::*tensor) {
  return problem.v_is_k_view && tensor == &Case::v;
}

/// Larger tensors are refused: a check would need more memory than it is worth.
inline constexpr Index kMaxCaseElements = Index{1} << 28;
Status check_size(const Problem& problem);

/// Makes the tensors of a text. Errors: an unknown value family or real tensor, too large.
/// `library` may be null: then `real:` values are an error.
Result<Case> make_case(const ProblemText& text, const tensors::TensorLibrary* library);

/// The text that makes the same case again; literal values when the tensors were changed.
ProblemText to_text(const Case& from, std::string_view law = {});

/// Says that the tensors no longer come from a recipe.
void becomes_literal(Case& changed);

/// Makes equal what shares memory: v with the leading columns of k where the problem says so, and
/// keys of batch members that share pages.
void share_values(Case& of);

/// A tensor filled by element(b, h, row, column), rounded to dtype.
using ElementRule = std::function<double(Index, Index, Index, Index)>;
Tensor filled(Dtype dtype, const Extents& extents, const ElementRule& element);

}  // namespace attest::properties
