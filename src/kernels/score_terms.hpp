// What happens to a score after the scaled dot product: additions, softcap, additions.
#pragma once

#include <cmath>
#include <vector>

#include "attest/problem.hpp"
#include "kernels/stored_rows.hpp"

namespace attest::kernels {

/// Where the numbers of a row lie in a bias, or in its gradient.
inline RowPlace bias_place(const Bias& bias, const RowIndex& row) {
  return {bias.per_batch ? row.batch : 0, bias.per_head ? row.head : 0,
          bias.per_query ? row.query : 0};
}

/// Bias, ALiBi and additive mask, in this order before and after the softcap; one rounding for
/// each, and for ALiBi one more in its product.
template <class Real>
class ScoreTerms {
 public:
  /// `bias` is not looked at where the problem has none.
  ScoreTerms(const Problem& problem, const ConstTensorRef& bias)
      : problem_(problem),
        bias_(bias),
        softcap_(static_cast<Real>(problem.softcap)),
        none_(problem.softcap == 0 && !problem.bias && !problem.alibi && !problem.mask.additive) {
    if (!problem.alibi) return;
    for (Index h = 0; h < problem.heads_q; ++h) slopes_.push_back(alibi_slope(problem, h));
  }

  /// The final score of a visible key.
  Real score(const RowIndex& row, Index key, Real scaled_dot) const {
    return none_ ? scaled_dot : finished(row, key, capped(row, key, scaled_dot));
  }
  /// With the additions that come before the softcap, and the softcap.
  Real capped(const RowIndex& row, Index key, Real scaled_dot) const {
    const Real sum = with_additions(row, key, scaled_dot, true);
    return softcap_ == 0 ? sum : softcap_ * std::tanh(sum / softcap_);
  }
  /// With the additions that come after it.
  Real finished(const RowIndex& row, Index key, Real capped) const {
    return with_additions(row, key, capped, false);
  }
  /// The derivative of `capped` by its argument.
  Real slope(Real capped) const {
    if (softcap_ == 0) return 1;
    const Real ratio = capped / softcap_;
    return 1 - ratio * ratio;
  }

 private:
  Real with_additions(const RowIndex& row, Index key, Real score, bool before) const {
    const ScoreOrder& order = problem_.order;
    if (problem_.bias && order.bias_before_softcap == before) score += bias(row, key);
    if (problem_.alibi && order.alibi_before_softcap == before) score += alibi(row, key);
    if (problem_.mask.additive && order.mask_before_softcap == before)
      score += static_cast<Real>(problem_.mask.additive->at(row.query, key));
    return score;
  }
  Real bias(const RowIndex& row, Index key) const {
    return read_element<Real>(bias_, bias_place(*problem_.bias, row), key);
  }
  /// The product is exact in double, as no distance reaches 2^29: it is rounded once.
  Real alibi(const RowIndex& row, Index key) const {
    const double slope = slopes_[static_cast<std::size_t>(row.head)];
    return static_cast<Real>(alibi_term(problem_, slope, row, key));
  }

  const Problem& problem_;
  ConstTensorRef bias_;
  Real softcap_;
  bool none_;
  std::vector<double> slopes_;
};

}  // namespace attest::kernels
