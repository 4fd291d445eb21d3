// Tier 2 of Theorem 1: the rounding of the numerator's sums, charged with the signed partial sums.
#pragma once

#include <vector>

#include "evaluation_order.hpp"
#include "row_terms.hpp"

namespace attest {

/// Per column an upper bound of |E|, the error of the numerator's accumulation in the units of the
/// output (docs/numerics.md, section 5.1). It may replace sum p_j (1 + W_j)(e^{Na_j} - 1) |v_jc|.
/// Precondition: accuracy.ordered_sums, `order` is that of the keys of `facts` without the sink.
std::vector<double> order_aware_sums(const DeclaredAccuracy& accuracy, const RowFacts& facts,
                                     const RowTerms& terms, const EvaluationOrder& order);

/// Per column the sum of the squares of all that is rounded on the way: u times its root is the
/// deviation of the numerator under independent roundings. The same precondition.
std::vector<double> squares_of_rounded_sums(const DeclaredAccuracy& accuracy, const RowFacts& facts,
                                            const RowTerms& terms, const EvaluationOrder& order);

}  // namespace attest
