// Where rows of out and lse go, and the sink beside the keys.
#pragma once

#include <numbers>
#include <span>
#include <vector>

#include "attest/kernel.hpp"
#include "kernels/stored_places.hpp"

namespace attest::kernels {

/// The logit of the sink per query head; empty: no sink.
template <class Real>
std::vector<Real> sink_logits(const Problem& problem, const ConstTensorRef& sink) {
  if (!problem.sink) return {};
  std::vector<Real> logits(static_cast<std::size_t>(problem.heads_q));
  if (problem.sink->zero) return logits;
  for (Index h = 0; h < problem.heads_q; ++h)
    logits[static_cast<std::size_t>(h)] = read_element<Real>(sink, {0, h, 0}, 0);
  return logits;
}

/// A sink as a summary: one key without a value.
template <class Real>
RowSummary<Real> sink_summary(Real logit, Index head_dim_v) {
  RowSummary<Real> summary = RowSummary<Real>::identity(head_dim_v);
  summary.row_max = logit;
  summary.row_sum = 1;
  return summary;
}

template <class Real>
class ResultRows {
 public:
  ResultRows(const Problem& problem, const ForwardViews& views)
      : problem_(problem), places_(problem), out_(views.out), lse_(views.lse) {}

  void write_output(const RowIndex& row, std::span<const Real> output) const {
    write_row(out_, places_.query(row), output);
  }
  /// `summary` is that of the row in the lse, and `natural` its natural log-sum-exp.
  void write_lse(const RowIndex& row, const RowSummary<Real>& summary, Real natural) const {
    if (problem_.lse == LseForm::none) return;
    const auto [b, h, query] = places_.query(row);
    const TensorView<Real> lse = lse_.as<Real>();
    switch (problem_.lse) {
      case LseForm::base_two:
        lse(b, h, query, 0) = natural * std::numbers::log2e_v<Real>;
        return;
      case LseForm::max_sum:
        lse(b, h, query, 0) = summary.row_max;
        lse(b, h, query, 1) = summary.row_sum;
        return;
      case LseForm::natural:
      case LseForm::none:
        break;
    }
    lse(b, h, query, 0) = natural;
  }

 private:
  const Problem& problem_;
  StoredPlaces places_;
  TensorRef out_, lse_;
};

}  // namespace attest::kernels
