// Exact gradients of attention as an enclosure per element.
//
// Computes: the formulas of attest/gradient_bound.hpp in real arithmetic on the stored inputs.
// Method: interval arithmetic, every operation rounded outward; textbook order, no tiles and no
// lse read back, so nothing is shared with a kernel.
// Special: a row that sees nothing and has no sink gives exact zeros and adds nothing to dk and
// dv; so does a masked key.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "attest/gradient_bound.hpp"
#include "reference/row.hpp"

namespace attest::reference {

/// All rows of a batch member that see one kv head, heads one after the other, each with its query
/// length of queries; dk and dv have the member's key length of keys. `dlse` may be null.
/// Nothing where the problem has no backward pass here: with fp8 inputs or a second query.
std::optional<GradientInputs> read_gradient_inputs(const Inputs& inputs, const ConstTensorRef& dout,
                                                   const ConstTensorRef& dlse, Index b,
                                                   Index kv_head);

/// The exact sum of exact numbers: of the dbias or dsink of many rows, heads and batch members.
Enclosure enclose_sum(std::span<const Enclosure> terms);

/// The exact gradients at one precision; nothing when an input that counts, or a result, is not
/// finite. Preconditions: the lists have the lengths that attest/gradient_bound.hpp states, and
/// `bits` is in kPrecisionLadder.
std::optional<GradientFacts> enclose_gradients(const GradientInputs& inputs, int bits);

/// The same without a look at what is finite.
GradientFacts evaluate_gradients(const GradientInputs& inputs, int bits);

/// What a bound says about exact gradients.
using GradientRule = std::function<GradientBound(const GradientFacts&)>;

struct CertifiedGradients {
  GradientFacts facts;
  GradientBound bound;
  int bits = 0;         ///< precision that was enough
  bool narrow = false;  ///< every radius is within kWidthShare of its bound
};

/// Raises the precision until the enclosures are narrow against the bound, at most to the end of
/// the ladder. Nothing where no precision gives enclosures.
std::optional<CertifiedGradients> certify_gradients(const GradientInputs& inputs,
                                                    const GradientRule& rule);

}  // namespace attest::reference
