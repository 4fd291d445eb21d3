// What a backward pass knows of one row and of one (query, key) pair.
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "attest/kernel.hpp"
#include "kernels/backward_steps.hpp"
#include "kernels/input_rows.hpp"
#include "kernels/result_rows.hpp"
#include "kernels/row_access.hpp"
#include "kernels/score_terms.hpp"

namespace attest::kernels {

template <class Real>
class GradientPairs {
 public:
  GradientPairs(const BackwardSteps<Real>& steps, const Problem& problem,
                const BackwardViews& views)
      : steps_(steps),
        problem_(problem),
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
    return steps_.delta(product, lse_gradient(at));
  }
  QueryRow<Real> row(const RowIndex& index, Real delta) {
    const RowPlace at = places_.query(index);
    return {index, inputs_.query(index, q_buffer_), read_row(views_.dout, at, dout_buffer_),
            read_element<Real>(views_.lse, place(steps_.lse_row(problem_, index)), 0), delta};
  }
  /// Precondition: the row sees the key.
  PairGradient<Real> pair(const QueryRow<Real>& row, Index key) {
    const Index b = row.index.batch;
    const Index kv_head = problem_.kv_head(row.index.head);
    const std::span<const Real> k = inputs_.key(b, kv_head, key, k_buffer_);
    ScoreStages<Real> score;
    score.scaled_dot = scaled_dot(row.q, k, scale_);
    score.capped = terms_.capped(row.index, key, score.scaled_dot);
    score.finished = terms_.finished(row.index, key, score.capped);
    const Real weight = steps_.weight(score.finished, row.lse);
    const Real value_dot = dot(row.output_gradient, inputs_.value(b, kv_head, key, v_buffer_));
    const Real score_gradient = weight * (value_dot - row.delta);
    const Real dot_gradient = score_gradient * steps_.slope(terms_, score);
    PairGradient<Real> pair{weight, bias_is_capped_ ? dot_gradient : score_gradient, dot_gradient,
                            k};
    steps_.finish(problem_, row, key, pair);
    return pair;
  }
  /// Gradient of the sink of a row. Precondition: there is a sink.
  Real sink_gradient(const RowIndex& row, Real delta) const {
    const Real logit = sinks_[static_cast<std::size_t>(row.head)];
    const RowPlace at = place(row);
    const Real weight = std::exp(logit - read_element<Real>(views_.lse, at, 0));
    return steps_.sink_gradient(weight, delta, lse_gradient(at));
  }

 private:
  Real lse_gradient(const RowPlace& at) const {
    return problem_.backward->dlse ? read_element<Real>(views_.dlse, at, 0) : Real(0);
  }

  const BackwardSteps<Real>& steps_;
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
