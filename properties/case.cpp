#include "properties/case.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

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

constexpr std::array<CaseTensor, 8> kTensors{{
    {"q", &Case::q, &ValueRecipe::q, [](const Problem& p) { return p.q_extents(); },
     [](const Problem& p) { return p.dtype; }},
    {"k", &Case::k, &ValueRecipe::k, [](const Problem& p) { return p.k_extents(); },
     [](const Problem& p) { return p.k_dtype(); }},
    {"v", &Case::v, &ValueRecipe::v, [](const Problem& p) { return p.v_extents(); },
     [](const Problem& p) { return p.v_dtype(); }},
    {"bias", &Case::bias, &ValueRecipe::bias, [](const Problem& p) { return p.bias_extents(); },
     [](const Problem& p) { return p.bias_dtype(); }},
    {"sink", &Case::sink, &ValueRecipe::sink, [](const Problem& p) { return p.sink_extents(); },
     [](const Problem& p) { return p.compute_dtype(); }},
    {"qv", &Case::qv, &ValueRecipe::qv, [](const Problem& p) { return p.qv_extents(); },
     [](const Problem& p) { return p.dtype; }},
    {"dout", &Case::dout, &ValueRecipe::dout,
     [](const Problem& p) { return p.backward ? p.out_extents() : Extents{}; },
     [](const Problem& p) { return p.out_dtype(); }},
    {"dlse", &Case::dlse, &ValueRecipe::dlse, [](const Problem& p) { return p.dlse_extents(); },
     [](const Problem& p) { return p.compute_dtype(); }},
}};

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
      for (const CaseTensor& of : kTensors)
        if (!is_view(problem, of.tensor))
          made.*of.tensor =
              from_numbers(of.dtype(problem), of.extents(problem), recipe.*of.numbers);
      share_values(made);
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

/// A slot of a cache has one content: the first batch member that has it says what it is.
void share_pages(Case& of) {
  const Problem& problem = of.problem;
  if (problem.kv.kind != KvStorage::Kind::paged || problem.batch < 2) return;
  std::map<std::pair<Index, Index>, std::pair<Index, Index>> first;
  for (Index b = 0; b < problem.batch; ++b)
    for (Index key = 0; key < problem.key_length(b); ++key) {
      const StoredRow at = stored_key(problem, b, key);
      const auto [owner, is_new] = first.try_emplace({at.b, at.row}, b, key);
      if (is_new) continue;
      const auto [owner_b, owner_key] = owner->second;
      for (Tensor* const tensor : {&of.k, &of.v})
        for (Index h = 0; h < tensor->extents()[1]; ++h)
          for (Index c = 0; c < tensor->extents()[3]; ++c)
            tensor->set(b, h, key, c, tensor->get(owner_b, h, owner_key, c));
    }
}

}  // namespace

Status check_size(const Problem& problem) {
  const bool too_large = elements(problem.out_extents()) > kMaxCaseElements ||
                         std::any_of(kTensors.begin(), kTensors.end(), [&](const CaseTensor& of) {
                           return elements(of.extents(problem)) > kMaxCaseElements;
                         });
  if (too_large) return invalid_argument("problem too large: a tensor has more than 2^28 elements");
  return {};
}

std::span<const CaseTensor> case_tensors() {
  return kTensors;
}

void share_values(Case& of) {
  share_pages(of);
  if (!of.problem.v_is_k_view) return;
  of.v = filled(
      of.problem.v_dtype(), of.problem.v_extents(),
      [&](Index b, Index h, Index key, Index column) { return of.k.get(b, h, key, column); });
}

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
  if (Status status = check_size(problem); !status.ok()) return status;
  Case made{problem, text.tiling, text.values, {}, {}, {}};
  if (Status status = fill(made, text.values, library); !status.ok()) return status;
  return made;
}

ProblemText to_text(const Case& from, std::string_view law) {
  ProblemText text{from.problem, from.tiling, from.values, std::string(law)};
  if (text.values.kind == ValueRecipe::Kind::literal) {
    for (const CaseTensor& of : kTensors)
      if (!is_view(from.problem, of.tensor)) text.values.*of.numbers = to_numbers(from.*of.tensor);
  }
  return text;
}

}  // namespace attest::properties
