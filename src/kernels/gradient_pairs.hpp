// What a backward pass knows of one row and of one (query, key) pair.
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "attest/kernel.hpp"
#include "kernels/input_rows.hpp"
#include "kernels/result_rows.hpp"
#include "kernels/row_access.hpp"
#include "kernels/score_terms.hpp"

namespace attest::kernels {

/// A row that sees something; good until the next one is read.
template <class Real>
struct QueryRow {
  RowIndex index;
  std::span<const Real> q;
  std::span<const Real> output_gradient;
  Real lse = 0;
  Real delta = 0;  ///< D = dout . out - dlse
};

/// A visible pair; good until the next one is formed.
template <class Real>
struct PairGradient {
  Real weight = 0;         ///< p
  Real bias_gradient = 0;  ///< ds, or dx where the bias is added before the softcap
  Real dot_gradient = 0;   ///< dx, without the scale
  std::span<const Real> k;
};

template <class Real>
class GradientPairs {
 public:
  GradientPairs(const Problem& problem, const BackwardViews& views)
      : problem_(problem),
        views_(views),
        places_(problem),
        inputs_(problem, {views.q, views.k, views.v}),
        terms_(problem, views.bias),
        sinks_(sink_logits<Real>(problem, views.sink)),
        scale_(static_cast<Real>(scale_value(problem))),
        bias_is_capped_(problem.bias && problem.order.bias_before_softcap) {}

  Real scale() const { return scale_; }
  /// Where the row lies in q, dq, out and dout.
  RowPlace place(const RowIndex& row) const { return places_.query(row); }
  /// Whether a row sees a key or has a sink. No other may be read.
  bool sees_something(const RowIndex& row) const {
    return !sinks_.empty() || classify(problem_, row.batch, row.query, row.query + 1, 0,
                                       problem_.seq_kv) != TileClass::empty;
  }
  Real delta(const RowIndex& row) {
    const RowPlace at = places_.query(row);
    const Real product =
        dot(read_row(views_.dout, at, dout_buffer_), read_row(views_.out, at, out_buffer_));
    if (!problem_.backward->dlse) return product;
    return product - read_element<Real>(views_.dlse, at, 0);
  }
  QueryRow<Real> row(const RowIndex& index, Real delta) {
    const RowPlace at = places_.query(index);
    return {index, inputs_.query(index, q_buffer_), read_row(views_.dout, at, dout_buffer_),
            read_element<Real>(views_.lse, at, 0), delta};
  }
  /// Precondition: the row sees the key.
  PairGradient<Real> pair(const QueryRow<Real>& row, Index key) {
    const Index b = row.index.batch;
    const Index kv_head = problem_.kv_head(row.index.head);
    const std::span<const Real> k = inputs_.key(b, kv_head, key, k_buffer_);
    const Real capped = terms_.capped(row.index, key, scaled_dot(row.q, k, scale_));
    const Real weight = std::exp(terms_.finished(row.index, key, capped) - row.lse);
    const Real value_dot = dot(row.output_gradient, inputs_.value(b, kv_head, key, v_buffer_));
    const Real score_gradient = weight * (value_dot - row.delta);
    const Real dot_gradient = score_gradient * terms_.slope(capped);
    return {weight, bias_is_capped_ ? dot_gradient : score_gradient, dot_gradient, k};
  }
  /// Gradient of the sink of a row. Precondition: there is a sink.
  Real sink_gradient(const RowIndex& row, Real delta) const {
    const Real logit = sinks_[static_cast<std::size_t>(row.head)];
    return -(std::exp(logit - read_element<Real>(views_.lse, places_.query(row), 0)) * delta);
  }

 private:
  const Problem& problem_;
  const BackwardViews& views_;
  StoredPlaces places_;
  InputRows<Real> inputs_;
  ScoreTerms<Real> terms_;
  std::vector<Real> sinks_;
  Real scale_;
  bool bias_is_capped_;
  std::vector<Real> q_buffer_, k_buffer_, v_buffer_, out_buffer_, dout_buffer_;
};

}  // namespace attest::kernels
