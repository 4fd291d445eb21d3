// The definition, written down: three passes over a materialised row of scores. No tiles.
#include <cmath>

#include "kernels/backward.hpp"
#include "kernels/input_rows.hpp"
#include "kernels/kernels.hpp"
#include "kernels/result_rows.hpp"
#include "kernels/row_access.hpp"
#include "kernels/score_terms.hpp"

namespace attest::kernels {
namespace {

template <class Real>
class TextbookForward {
 public:
  TextbookForward(const Problem& problem, const ForwardViews& views)
      : problem_(problem),
        inputs_(problem, {views.q, views.k, views.v, views.qv}),
        terms_(problem, views.bias),
        results_(problem, views),
        sinks_(sink_logits<Real>(problem, views.sink)),
        scale_(static_cast<Real>(scale_value(problem))) {}

  void write_row(const RowIndex& row) {
    score_row(row);
    const RowSummary<Real> of_keys = mass(nullptr);
    const Real* const sink = sink_of(row);
    const RowSummary<Real> whole = sink != nullptr ? mass(sink) : of_keys;
    results_.write_output(row, average(row, whole));
    const RowSummary<Real>& counted = sink != nullptr && problem_.sink->in_lse ? whole : of_keys;
    results_.write_lse(row, counted, attest::lse(counted));
  }

 private:
  /// Null: there is none.
  const Real* sink_of(const RowIndex& row) const {
    return sinks_.empty() ? nullptr : &sinks_[static_cast<std::size_t>(row.head)];
  }

  /// First pass: the visible keys and their scores.
  void score_row(const RowIndex& row) {
    keys_.clear();
    scores_.clear();
    const std::span<const Real> q = inputs_.query(row, q_buffer_);
    const Index kv_head = problem_.kv_head(row.head);
    for (Index key = 0; key < problem_.key_length(row.batch); ++key) {
      if (!visible(problem_, row.batch, row.query, key)) continue;
      const Real dot = scaled_dot(q, inputs_.key(row.batch, kv_head, key, k_buffer_), scale_);
      const Real score = terms_.score(row, key, dot);
      if (score == RowSummary<Real>::minus_infinity) continue;
      keys_.push_back(key);
      scores_.push_back(score);
    }
  }

  /// Second pass: the largest score and the sum of weights, with the sink if one is given. The
  /// numerator stays empty.
  RowSummary<Real> mass(const Real* sink) const {
    RowSummary<Real> mass;
    if (sink != nullptr) mass.row_max = *sink;
    for (const Real score : scores_)
      if (!(score <= mass.row_max)) mass.row_max = score;
    for (const Real score : scores_) mass.row_sum += std::exp(score - mass.row_max);
    if (sink != nullptr) mass.row_sum += std::exp(*sink - mass.row_max);
    return mass;
  }

  /// Third pass.
  std::span<const Real> average(const RowIndex& row, const RowSummary<Real>& mass) {
    output_.assign(static_cast<std::size_t>(problem_.head_dim_v), Real(0));
    if (keys_.empty()) return output_;
    for (std::size_t j = 0; j < keys_.size(); ++j) {
      const std::span<const Real> value =
          inputs_.value(row.batch, problem_.kv_head(row.head), keys_[j], v_buffer_);
      const Real weight = std::exp(scores_[j] - mass.row_max);
      for (std::size_t c = 0; c < output_.size(); ++c) output_[c] += weight * value[c];
    }
    for (Real& element : output_) element /= mass.row_sum;
    return output_;
  }

  const Problem& problem_;
  InputRows<Real> inputs_;
  ScoreTerms<Real> terms_;
  ResultRows<Real> results_;
  std::vector<Real> sinks_;
  Real scale_;
  std::vector<Real> q_buffer_, k_buffer_, v_buffer_, output_;
  std::vector<Index> keys_;
  std::vector<Real> scores_;
};

class Textbook : public Kernel {
 public:
  Textbook() {
    description_.capabilities = scalar_capabilities();
    description_.capabilities.tiles = description_.capabilities.kv_splits = false;
  }
  const KernelDescription& description() const override { return description_; }
  DeclaredAccuracy accuracy(const Problem& problem) const override {
    return scalar_accuracy(problem, SummaryScope::row);
  }
  Status forward(const Problem& problem, const Tiling& tiling,
                 const ForwardViews& views) const override {
    if (Status status = check_call(description_.capabilities, problem, tiling, views); !status.ok())
      return status;
    if (Status status = reject_all_masked(problem); !status.ok()) return status;
    with_real_type(problem.compute_dtype(), [&](auto real) {
      TextbookForward<decltype(real)> pass(problem, views);
      for_each_row(problem, [&](const RowIndex& row) { pass.write_row(row); });
    });
    return {};
  }
  DeclaredGradientAccuracy gradient_accuracy(const Problem& problem) const override {
    return scalar_gradient_accuracy(problem);
  }
  Status backward(const Problem& problem, const Tiling& tiling,
                  const BackwardViews& views) const override {
    if (Status status = check_backward(description_.capabilities, problem, tiling, views);
        !status.ok())
      return status;
    textbook_backward(problem, views);
    return {};
  }

 private:
  KernelDescription description_{
      "builtin:textbook", "1", "three passes over a materialised row of scores, no tiles", {}};
};

}  // namespace

std::unique_ptr<Kernel> make_textbook() {
  return std::make_unique<Textbook>();
}

}  // namespace attest::kernels
