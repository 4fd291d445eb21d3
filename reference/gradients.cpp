#include "reference/gradients.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "reference/finite.hpp"

namespace attest::reference {
namespace {

/// Of rows that see something, and of the keys that they see.
bool inputs_are_finite(const GradientInputs& inputs) {
  const auto d = static_cast<std::size_t>(inputs.head_dim);
  const auto dv = static_cast<std::size_t>(inputs.head_dim_v);
  if (!std::isfinite(inputs.scale) || !std::isfinite(inputs.softcap)) return false;
  for (const GradientRow& row : inputs.rows) {
    if (row.keys.empty() && !row.sink) continue;
    if (!all_finite(row.q) || !all_finite(row.output_gradient) ||
        !std::all_of(row.addends.begin(), row.addends.end(),
                     [](const ScoreAddend& addend) { return all_finite(addend.value); }) ||
        !std::isfinite(row.lse_gradient) || !std::isfinite(row.sink.value_or(0)))
      return false;
    for (const Index j : row.keys)
      if (!all_finite({&inputs.k[static_cast<std::size_t>(j) * d], d}) ||
          !all_finite({&inputs.v[static_cast<std::size_t>(j) * dv], dv}))
        return false;
  }
  return true;
}

bool results_are_finite(const GradientFacts& facts) {
  for (const auto* list : facts.exact.lists())
    if (!std::all_of(list->begin(), list->end(), is_finite)) return false;
  for (const GradientRowFacts& row : facts.rows)
    for (const GradientPair& pair : row.pairs)
      if (!std::isfinite(pair.score) || !std::isfinite(pair.dot_magnitude) ||
          !std::isfinite(pair.value_dot_magnitude))
        return false;
  return true;
}

bool all_narrow(const CertifiedGradients& certified) {
  if (!certified.bound.proven()) return true;  // no precision helps
  for (std::size_t list = 0; list < kGradientNames.size(); ++list) {
    const std::vector<Enclosure>& exact = *certified.facts.exact.lists()[list];
    const std::vector<double>& limit = *certified.bound.limit.lists()[list];
    for (std::size_t at = 0; at < exact.size(); ++at)
      if (!is_narrow(exact[at], limit[at])) return false;
  }
  return true;
}

}  // namespace

std::optional<GradientFacts> enclose_gradients(const GradientInputs& inputs, int bits) {
  if (!inputs_are_finite(inputs)) return std::nullopt;
  GradientFacts facts = evaluate_gradients(inputs, bits);
  if (!results_are_finite(facts)) return std::nullopt;
  return facts;
}

std::optional<CertifiedGradients> certify_gradients(const GradientInputs& inputs,
                                                    const GradientRule& rule) {
  if (!inputs_are_finite(inputs)) return std::nullopt;
  CertifiedGradients certified;
  for (const int bits : kPrecisionLadder) {
    // Scores that cancel may leave an exp without an end at a low precision.
    std::optional<GradientFacts> facts = enclose_gradients(inputs, bits);
    if (!facts) continue;
    certified.bits = bits;
    certified.facts = std::move(*facts);
    certified.bound = rule(certified.facts);
    certified.narrow = all_narrow(certified);
    if (certified.narrow) break;
  }
  if (certified.bits == 0) return std::nullopt;
  return certified;
}

}  // namespace attest::reference
