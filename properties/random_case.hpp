// Random cases: shapes around tile edges, masks, ragged batches, tilings, merge orders, values.
#pragma once

#include <string>
#include <vector>

#include "attest/kernel.hpp"
#include "properties/case.hpp"
#include "properties/draw.hpp"

namespace attest::properties {

/// What the generator may choose from.
struct CaseLimits {
  std::vector<Dtype> dtypes{Dtype::f32, Dtype::f64};
  bool grouped_heads = true;
  bool key_lengths = true;
  bool mask_bits = true;
  bool lse = true;
  bool reject = true;
  bool small = false;  ///< few heads, queries, keys and columns: for very many cases a second
  std::vector<Feature> features = {};               ///< none: plain cases only
  const tensors::TensorLibrary* library = nullptr;  ///< null: no real values

  bool has(Feature feature) const;
};

/// Every type and every feature.
CaseLimits all_limits();

/// Two in five cases have no feature, whatever the limits allow.
Case draw_case(Draw& draw, const CaseLimits& limits);

/// Classes that a case belongs to, for the distribution line: "mask causal", "empty row",
/// "empty tile", "empty split", "seq_q = 1", "values ascending", features by their names ...
std::vector<std::string> classes(const Case& of);

}  // namespace attest::properties
